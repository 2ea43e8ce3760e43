"""What each op of the conformance suites is in Python: `run(case, version)` gives an answer in the form of `expect`."""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dsh_protocol import jsonvalue, state, streams
from dsh_protocol.check import Report, check_log, check_path
from dsh_protocol.dialect import dialect
from dsh_protocol.findings import Finding, JsonError, ProtocolError, StorageError
from dsh_protocol.rows import (
    EVENT_CLASSES,
    Event,
    Log,
    decode_seqs,
    decompress,
    encode_project,
    encode_seqs,
    encode_session,
    log_path,
    make_event,
    open_log,
    scan_frames,
)
from dsh_protocol.session import ForkError, Session, SessionOptions, fork_seed, repair
from dsh_protocol.store import Store

Json = dict[str, Any]
Op = Callable[[Json, int], Json]

_UNCOUNTED = "schema/payload"
"""Schema warnings are no part of an answer: an implementation may have no schemas."""


def run(case: Json, version: int) -> Json:
    """The answer of this package to a case, in one of the formats of the case."""
    return OPS[case["op"]](case["input"], version)


def _place(finding: Finding) -> Json:
    return {"rule": finding.rule, "seq": finding.seq, "path": finding.path}


def _one_or_all(places: list[Json]) -> Any:
    return places[0] if len(places) == 1 else sorted(places, key=json.dumps)


def _answer(value: Any, findings: Iterable[Finding]) -> Json:
    """The answer for a value that came with findings; one that follows from another does not count."""
    counted = [f for f in findings if f.because is None and f.rule != _UNCOUNTED]
    errors = [_place(f) for f in counted if f.severity == "error"]
    warnings = [_place(f) for f in counted if f.severity == "warning"]
    answer: Json = {"refused": _one_or_all(errors)} if errors else {"ok": value}
    if warnings:
        answer["warned"] = _one_or_all(warnings)
    return answer


def _refusal(error: ProtocolError, inside: str = "") -> Json:
    """The answer for an error; `inside` is the pointer of the value that its path begins at."""
    return {"refused": {"rule": error.code, "seq": error.seq, "path": inside + error.path}}


# ---- JSON and ranges -------------------------------------------------------------------------------


def _roundtrip(given: Json, version: int) -> Json:
    try:
        value = jsonvalue.loads(given["text"])
    except JsonError as error:
        return _refusal(error)
    losses = jsonvalue.check_lossless(value)
    if losses:
        places = [{"rule": rule_id, "seq": None, "path": path} for path, rule_id in losses]
        return {"refused": _one_or_all(places)}
    return {"ok": {"text": jsonvalue.dumps(value)}}


def _encode_seqs(given: Json, version: int) -> Json:
    return {"ok": {"seqs": encode_seqs(given["seqs"])}}


def _decode_seqs(given: Json, version: int) -> Json:
    try:
        return {"ok": {"seqs": decode_seqs(given["seqs"], given["seq"])}}
    except StorageError as error:
        return {"refused": {"rule": error.code, "seq": given["seq"], "path": "/seqs"}}


# ---- Logs ------------------------------------------------------------------------------------------


def _bytes(given: Json) -> bytes:
    if "base64" in given:
        return base64.b64decode(given["base64"])
    if "lines" in given:
        lines = [*(f"{line}\n" for line in given["lines"]), given.get("tail", "")]
        return "".join(lines).encode()
    rows = [given["header"], *given["events"]]
    return b"".join(jsonvalue.dump_bytes(row) + b"\n" for row in rows)


def _check(given: Json, version: int) -> Json:
    if "files" in given:
        return _check_files(given)
    try:
        log = open_log(_bytes(given))
    except StorageError as error:
        return _verdict(Report.of_error("", error))
    return _verdict(check_log(log), log)


def _check_files(given: Json) -> Json:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in given["files"].items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_bytes(content))
        try:
            (report,) = check_path(Path(folder, given["path"]))
        except StorageError as error:
            report = Report.of_error("", error)
        return _verdict(report)


def _verdict(report: Report, log: Log | None = None) -> Json:
    events = report.stats.get("events") if log is None else len(log.events)
    answer = _answer({"events": events}, report.findings)
    if "refused" in answer:
        answer["readable"] = report.verdicts["readable"]
    return answer


def _path(given: Json, version: int) -> Json:
    try:
        project = encode_project(given.get("cwd"))
    except StorageError as error:
        return _refusal(error, "/cwd")
    try:
        session = encode_session(given["id"])
    except StorageError as error:
        return _refusal(error, "/id")
    return {"ok": {"project": project, "session": session}}


def _continue(given: Json, version: int) -> Json:
    data = _bytes(given)
    log = open_log(data)
    compressed = log.stats["compression"] == "zstd"
    with tempfile.TemporaryDirectory() as folder:
        path = log_path(Path(folder), log.header, compressed=compressed)
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        with Store(folder, "zstd" if compressed else "none").open_writer(log.header.id) as writer:
            writer.append([make_event("session/end-seed", writer.count, 1, {})])
        stored = path.read_bytes()
    if not compressed:
        return {"ok": {"lines": stored.decode().removesuffix("\n").split("\n")}}
    frames = [b"".join(decompress(stored, frame)) for frame in scan_frames(stored).frames]
    return {"ok": {"frames": [frame.decode() for frame in frames]}}


def _frames(given: Json, version: int) -> Json:
    name = f"session.v{version}.jsonl.zstd"
    try:
        log = open_log(_bytes(given), name=name)
    except StorageError as error:
        return _refusal(error)
    lines = [log.header.raw, *(event.raw for event in log.events)]
    return _answer({"lines": [line.decode() for line in lines]}, log.findings)


def _state(given: Json) -> tuple[state.LogState, list[Finding]]:
    version = given["header"]["version"]
    folded = state.LogState(dialect(version))
    events = [EVENT_CLASSES[version].from_value(row) for row in given["events"]]
    return folded, [found for event in events for found in folded.advance(event)]


def _of_state(value: Callable[[state.LogState], Any]) -> Op:
    def op(given: Json, version: int) -> Json:
        folded, findings = _state(given)
        answer = _answer(None, findings)
        return answer if "refused" in answer else {"ok": value(folded)}

    return op


def _surface(folded: state.LogState) -> Json:
    surface = folded.surface
    return {
        "nodes": list(surface.nodes),
        "replaceGeneration": surface.replace_generation,
        "contentGeneration": surface.content_generation,
    }


# ---- Writing ---------------------------------------------------------------------------------------


def _append(given: Json, version: int) -> Json:
    log = open_log(_bytes(given))
    session = Session.open(log, options=SessionOptions(level="append", clock=lambda: 1))
    event = given["append"]
    arguments = {
        "surface_op": event.get("surfaceOp"),
        "source_event_seqs": event.get("sourceEventSeqs"),
    }
    findings = session.check_append(event["type"], event["data"], **arguments)
    answer = _answer(None, findings)
    if "refused" in answer:
        return answer
    appended = session.append(event["type"], event["data"], **arguments)
    nodes = list(session.surface.nodes)
    generation = session.surface.replace_generation
    return {"ok": {"seq": appended.seq, "nodes": nodes, "replaceGeneration": generation}}


def _fork(given: Json, version: int) -> Json:
    events, boundary = _events(given, version), given.get("boundary")
    try:
        seed = fork_seed(events, boundary)
    except ForkError as error:
        return _answer(None, error.findings)
    inherited = len(events) if boundary is None else boundary + 1
    return {"ok": {"inherited": inherited, "added": [event.value for event in seed[inherited:]]}}


def _repair(given: Json, version: int) -> Json:
    return {"ok": {"events": [event.value for event in repair(_events(given, version))]}}


def _events(given: Json, version: int) -> list[Event]:
    return [EVENT_CLASSES[version].from_value(row) for row in given["events"]]


# ---- Request headers -------------------------------------------------------------------------------


def _canonical(given: Json, version: int) -> Json:
    header = state.canonical_header(given["header"])
    return {"ok": {"header": header, "text": jsonvalue.dumps(header)}}


def _equals(given: Json, version: int) -> Json:
    left, right = (state.canonical_header(given[name]) for name in ("a", "b"))
    return {"ok": {"equal": state.header_equals(left, right)}}


# ---- Streams ---------------------------------------------------------------------------------------


def _accumulate(given: Json, version: int) -> Json:
    chunks = [(timed["time"], timed["chunk"]) for timed in given["chunks"]]
    try:
        return {"ok": {"stream": streams.accumulate(chunks)}}
    except streams.StreamError as error:
        return _stream_refusal(
            error, "/chunks", "time" if error.code == "stream/times" else "chunk"
        )


def _expand(given: Json, version: int) -> Json:
    try:
        chunks = streams.expand(given["stream"])
    except streams.StreamError as error:
        return _refusal(error, "/stream")
    return {"ok": {"chunks": [{"time": time, "chunk": chunk} for time, chunk in chunks]}}


def _assemble(given: Json, version: int) -> Json:
    assembler = streams.Assembler()
    try:
        for place, record in enumerate(given["stream"]):
            streams.check_record(record, place)
            assembler.push_record(record)
        made = assembler.assembled()
    except streams.StreamError as error:
        inside = "chunk" if error.code == "stream/chunk" else None
        return _stream_refusal(error, "/stream", inside)
    value = {
        "content": made.content,
        "finish": made.finish,
        "interrupted": assembler.assembled(interrupted=True).content,
    }
    if made.usage is not None:
        value["usage"] = made.usage
    if made.replay_state is not None:
        value["replayState"] = made.replay_state
    return {"ok": value}


def _stream_refusal(error: streams.StreamError, holder: str, member: str | None) -> Json:
    """The answer for an error whose place counts chunks, where the input holds each as a member of an object."""
    _, index, *more = error.path.split("/")
    path = "/".join([holder, index, *([] if member is None else [member]), *more])
    return {"refused": {"rule": error.code, "seq": error.seq, "path": path}}


OPS: dict[str, Op] = {
    "json.roundtrip": _roundtrip,
    "seqs.encode": _encode_seqs,
    "seqs.decode": _decode_seqs,
    "path": _path,
    "continue": _continue,
    "frames": _frames,
    "check": _check,
    "fold": _of_state(_surface),
    "messages": _of_state(lambda folded: list(folded.surface.messages())),
    "append": _append,
    "fork": _fork,
    "repair": _repair,
    "header.canonical": _canonical,
    "header.equals": _equals,
    "header.fold": _of_state(lambda folded: {"header": folded.headers.current()}),
    "tools.history": _of_state(lambda folded: folded.tool_history.at()),
    "stream.accumulate": _accumulate,
    "stream.expand": _expand,
    "stream.assemble": _assemble,
}
