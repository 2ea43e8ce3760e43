"""The logs of the conformance suites, for whoever needs many logs with all kinds of defects."""

from __future__ import annotations

from suites import cases
from suites import corpus as suites

from dsh_protocol.conformance.adapter._logs import log_bytes
from dsh_protocol.findings import ProtocolError
from dsh_protocol.rows import Log, open_log


def corpus() -> list[tuple[str, bytes, Log]]:
    """Every log of the conformance suites that can be opened and has a place in a store."""
    found = []
    for case in cases():
        given = suites().resolve(case.input)
        if case.op not in ("check", "frames") or "files" in given:
            continue
        data = log_bytes(given)
        try:
            log = open_log(data)
        except ProtocolError:
            continue
        if 0 < len(log.header.id) < 200 and log.header.cwd != "":
            found.append((case.id, data, log))
    return found
