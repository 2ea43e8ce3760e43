"""Ops about assistant streams."""

from __future__ import annotations

from dsh_protocol import streams

from ._answers import Json, refusal


def accumulate(given: Json, _version: int) -> Json:
    """Chunks to compact records."""
    chunks = [(timed["time"], timed["chunk"]) for timed in given["chunks"]]
    try:
        return {"ok": {"stream": streams.accumulate(chunks)}}
    except streams.StreamError as error:
        member = "time" if error.code == "stream/times" else "chunk"
        return _stream_refusal(error, "/chunks", member)


def expand(given: Json, _version: int) -> Json:
    """Compact records to chunks."""
    try:
        chunks = streams.expand(given["stream"])
    except streams.StreamError as error:
        return refusal(error, "/stream")
    return {"ok": {"chunks": [{"time": time, "chunk": chunk} for time, chunk in chunks]}}


def assemble(given: Json, _version: int) -> Json:
    """Compact records to the blocks of a message."""
    assembler = streams.Assembler()
    try:
        for index, record in enumerate(given["stream"]):
            streams.check_record(record, index)
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
