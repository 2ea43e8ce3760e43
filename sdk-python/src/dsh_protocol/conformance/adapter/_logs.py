"""Ops about logs: their bytes, what is wrong with them, and the state that their events amount to."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dsh_protocol import jsonvalue, state
from dsh_protocol.check import Report, check_log, check_path
from dsh_protocol.dialect import dialect
from dsh_protocol.findings import Finding, StorageError
from dsh_protocol.rows import EVENT_CLASSES, Log, open_log

from ._answers import Json, Op, of_findings, refusal


def log_bytes(given: Json) -> bytes:
    """The bytes of a log, from any form that a case may give it in (except files)."""
    if "base64" in given:
        return base64.b64decode(given["base64"])
    if "lines" in given:
        lines = [*(f"{line}\n" for line in given["lines"]), given.get("tail", "")]
        return "".join(lines).encode()
    rows = [given["header"], *given["events"]]
    return b"".join(jsonvalue.dump_bytes(row) + b"\n" for row in rows)


def check(given: Json, _version: int) -> Json:
    """Everything that is wrong with a stored log."""
    if "files" in given:
        return _check_files(given)
    try:
        log = open_log(log_bytes(given))
    except StorageError as error:
        return _verdict(Report.of_error("", error))
    return _verdict(check_log(log), log)


def _check_files(given: Json) -> Json:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in given["files"].items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(log_bytes(content))
        try:
            (report,) = check_path(Path(folder, given["path"]))
        except StorageError as error:
            report = Report.of_error("", error)
        return _verdict(report)


def _verdict(report: Report, log: Log | None = None) -> Json:
    events = report.stats.get("events") if log is None else len(log.events)
    answer = of_findings({"events": events}, report.findings)
    verdicts = report.verdicts
    if "refused" in answer:
        answer["readable"] = verdicts["readable"]
    answer["valid"] = verdicts["valid"]
    answer["resumable"] = verdicts["resumable"]
    answer["wireValid"] = verdicts["wireValid"]
    return answer


def frames(given: Json, version: int) -> Json:
    """The lines in the frames of a compressed log."""
    name = f"session.v{version}.jsonl.zstd"
    try:
        log = open_log(log_bytes(given), name=name)
    except StorageError as error:
        return refusal(error)
    lines = [log.header.raw, *(event.raw for event in log.events)]
    return of_findings({"lines": [line.decode() for line in lines]}, log.findings)


def _folded(given: Json) -> tuple[state.LogState, list[Finding]]:
    version = given["header"]["version"]
    folded = state.LogState(dialect(version))
    events = [EVENT_CLASSES[version].from_value(row) for row in given["events"]]
    return folded, [found for event in events for found in folded.advance(event)]


def _of_state(value: Callable[[state.LogState], Any]) -> Op:
    def op(given: Json, _version: int) -> Json:
        folded, findings = _folded(given)
        answer = of_findings(None, findings)
        return answer if "refused" in answer else {"ok": value(folded)}

    return op


def _surface(folded: state.LogState) -> Json:
    surface = folded.surface
    return {
        "nodes": list(surface.nodes),
        "replaceGeneration": surface.replace_generation,
        "contentGeneration": surface.content_generation,
    }


fold = _of_state(_surface)
messages = _of_state(lambda folded: list(folded.surface.messages()))
header_fold = _of_state(lambda folded: {"header": folded.headers.current()})
tools_history = _of_state(lambda folded: folded.tool_history.at())


def header_canonical(given: Json, _version: int) -> Json:
    """The canonical form of a request header, and its bytes."""
    header = state.canonical_header(given["header"])
    return {"ok": {"header": header, "text": jsonvalue.dumps(header)}}


def header_equals(given: Json, _version: int) -> Json:
    """Whether two request headers ask for the same."""
    left, right = (state.canonical_header(given[name]) for name in ("a", "b"))
    return {"ok": {"equal": state.header_equals(left, right)}}
