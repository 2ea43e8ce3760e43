"""Ops about writing: appends to a live session, what ends a turn, and what a writer leaves on disk."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dsh_protocol.findings import RefusedError
from dsh_protocol.rows import (
    EVENT_CLASSES,
    Event,
    decompress,
    log_path,
    make_event,
    open_log,
    scan_frames,
)
from dsh_protocol.session import ForkError, Session, SessionOptions, fork_seed
from dsh_protocol.session import repair as closers
from dsh_protocol.store import Store

from ._answers import Json, of_findings
from ._logs import log_bytes


def append(given: Json, _version: int) -> Json:
    """An append to a live session, by the rules of the released runtime."""
    log = open_log(log_bytes(given))
    session = Session.open(log, options=SessionOptions(level="append", clock=lambda: 1))
    event = given["append"]
    arguments = {
        "surface_op": event.get("surfaceOp"),
        "source_event_seqs": event.get("sourceEventSeqs"),
    }
    findings = session.check_append(event["type"], event["data"], **arguments)
    answer = of_findings(None, findings)
    if "refused" in answer:
        return answer
    appended = session.append(event["type"], event["data"], **arguments)
    nodes = list(session.surface.nodes)
    generation = session.surface.replace_generation
    return {"ok": {"seq": appended.seq, "nodes": nodes, "replaceGeneration": generation}}


def fork(given: Json, version: int) -> Json:
    """The seed of a fork."""
    events, boundary = _events(given, version), given.get("boundary")
    try:
        seed = fork_seed(events, boundary)
    except ForkError as error:
        return {"refused": {"code": error.code, "path": error.path}}
    inherited = len(events) if boundary is None else boundary + 1
    return {"ok": {"inherited": inherited, "added": [event.value for event in seed[inherited:]]}}


def repair(given: Json, version: int) -> Json:
    """What ends the interrupted turn of a log."""
    return {"ok": {"events": [event.value for event in closers(_events(given, version))]}}


def _events(given: Json, version: int) -> list[Event]:
    return [EVENT_CLASSES[version].from_value(row) for row in given["events"]]


def continue_(given: Json, _version: int) -> Json:
    """What stands in a stored log after its next writer has appended one event."""
    data = log_bytes(given)
    log = open_log(data)
    compressed = log.stats["compression"] == "zstd"
    with tempfile.TemporaryDirectory() as folder:
        path = log_path(Path(folder), log.header, compressed=compressed)
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        try:
            _append_end_seed(Store(folder, "zstd" if compressed else "none"), log.header.id)
        except RefusedError as error:
            return of_findings(None, error.findings)
        stored = path.read_bytes()
    if not compressed:
        return {"ok": {"lines": stored.decode().removesuffix("\n").split("\n")}}
    frames = [b"".join(decompress(stored, frame)) for frame in scan_frames(stored).frames]
    return {"ok": {"frames": [frame.decode() for frame in frames]}}


def _append_end_seed(store: Store, session_id: str) -> None:
    with store.open_writer(session_id) as writer:
        writer.append([make_event("session/end-seed", writer.count, 1, {})])
