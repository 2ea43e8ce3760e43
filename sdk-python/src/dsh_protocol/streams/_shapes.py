"""What a chunk and a compact record have to look like."""

from __future__ import annotations

from typing import Any, NoReturn, TypeAlias

from dsh_protocol.findings import ProtocolError
from dsh_protocol.jsonvalue import MAX_SAFE_INTEGER, check_lossless, is_count, pointer
from dsh_protocol.rules import refuse

Json: TypeAlias = dict[str, Any]
Chunk: TypeAlias = Json
TimedChunk: TypeAlias = tuple[int, Chunk]
"""A stream chunk (`StreamChunk` of spec/session/common) and its arrival in ms since 1970."""

TEXT_RUNS = {"text-delta": "text-chunks", "reasoning-delta": "reasoning-chunks"}
"""The run that each text delta becomes a part of."""
DELTA_OF_RUN = {run: delta for delta, run in TEXT_RUNS.items()}
TOOL_DELTA = "tool-call-delta"
TOOL_RUN = "tool-call-chunks"
RAW = "chunk"
_SINGLE = frozenset({"block-start", "block-end", "usage", "finish"})
_STRINGS, _INTEGERS = {str}, {int}


class StreamError(ProtocolError):
    """A stream is not well-formed; `code` is a rule `stream/*`, `path` a pointer into the stream."""


def check_record(record: Any, place: int = 0) -> None:
    """Make sure that a compact record, number `place` of its stream, is well-formed.

    Raises:
        StreamError: `stream/record`, `stream/run-lengths` or `stream/times`.
    """
    kind = record.get("type") if isinstance(record, dict) else None
    if kind == RAW:
        if not _is_plain_raw(record):
            _check_raw(record, place)
    elif isinstance(kind, str) and (kind in DELTA_OF_RUN or kind == TOOL_RUN):
        if not _is_plain_run(record):
            _check_run(record, place)
    else:
        fail("stream/record", place, detail="no record has this type")


def _is_plain_raw(record: Json) -> bool:
    """A quick look that says yes to single chunks as they are written, and no if in doubt."""
    time = record.get("time")
    return (
        len(record) == 3
        and type(time) is int
        and 0 <= time <= MAX_SAFE_INTEGER
        and type(record.get("chunk")) is dict
    )


def _is_plain_run(record: Json) -> bool:
    """A quick look that says yes to runs as they are written, and no if in doubt."""
    gaps, time = record.get("dt"), record.get("time0")
    if record["type"] == TOOL_RUN:
        texts = record.get("args")
        members = 7 if "name" in record else 6
        if not all(type(name) is str and name for name in _names(record)):
            return False
    else:
        texts = record.get("texts")
        members = 5
    return (
        len(record) == members
        and type(texts) is list
        and type(gaps) is list
        and len(gaps) == len(texts) - 1
        and type(time) is int
        and is_count(record.get("index"))
        and set(map(type, texts)) == _STRINGS
        and set(map(type, gaps)) <= _INTEGERS
        and abs(time) + sum(map(abs, gaps)) <= MAX_SAFE_INTEGER
    )


def _names(run: Json) -> tuple[Any, ...]:
    """The id of a tool run, and its name when it has one."""
    return (run.get("id"), run["name"]) if "name" in run else (run.get("id"),)


def check_time(time: Any, place: int, *more: str | int) -> None:
    """Make sure that a time, or a gap between two, is a safe integer.

    Raises:
        StreamError: `stream/times`.
    """
    if type(time) is not int or not is_safe(time):
        fail("stream/times", place, *more)


def check_chunk(chunk: Any, place: int) -> None:
    """Make sure that a chunk, number `place` of its stream, can be stored.

    Raises:
        StreamError: `stream/chunk`.
    """
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if not isinstance(kind, str):
        fail("stream/chunk", place, detail="it is no object with a type")
    if check_lossless(chunk):
        fail("stream/chunk", place, detail="it has a value that JSON cannot hold")
    if kind in _SINGLE:
        return
    if kind not in TEXT_RUNS and kind != TOOL_DELTA:
        fail("stream/chunk", place, detail="no chunk has this type")
    if not is_count(chunk.get("index")):
        fail("stream/chunk", place, *held(chunk, "index"), detail="index is no count")
    texts = ("text",) if kind in TEXT_RUNS else ("id", "argumentsDelta")
    for name in (*texts, "name") if "name" in chunk and kind == TOOL_DELTA else texts:
        if not isinstance(chunk.get(name), str):
            fail("stream/chunk", place, *held(chunk, name), detail=f"{name} is no string")


def _check_raw(record: Json, place: int) -> None:
    if record.keys() != {"type", "time", "chunk"}:
        fail("stream/record", place, detail="it must have type, time and chunk")
    check_time(record["time"], place, "time")
    if not isinstance(record["chunk"], dict):
        fail("stream/record", place, "chunk", detail="chunk is no object")


def _check_run(record: Json, place: int) -> None:
    tool = record["type"] == TOOL_RUN
    texts_name = "args" if tool else "texts"
    names = {"type", "time0", "index", "dt", texts_name, *(("id",) if tool else ())}
    if record.keys() != names and not (tool and record.keys() == names | {"name"}):
        fail("stream/record", place, detail=f"it must have {', '.join(sorted(names))}")
    texts, gaps = record[texts_name], record["dt"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        fail("stream/record", place, texts_name, detail=f"{texts_name} is no list of strings")
    if not is_count(record["index"]):
        fail("stream/record", place, "index", detail="index is no count")
    for name in ("id", "name") if tool else ():
        if name in record and not (isinstance(record[name], str) and record[name]):
            fail("stream/record", place, name, detail=f"{name} is no string with content")
    if not isinstance(gaps, list):
        fail("stream/record", place, "dt", detail="dt is no list")
    if len(gaps) != len(texts) - 1:
        fail("stream/run-lengths", place, members=len(texts), gaps=len(gaps))
    time = record["time0"]
    check_time(time, place, "time0")
    for index, gap in enumerate(gaps):
        check_time(gap, place, "dt", index)
        time += gap
        check_time(time, place, "dt", index)


def is_safe(number: int) -> bool:
    """Whether JavaScript counts with this integer exactly."""
    return -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER


def held(chunk: Chunk, name: str) -> tuple[str, ...]:
    """The place of a member; nothing when the chunk lacks it."""
    return (name,) if name in chunk else ()


def fail(rule_id: str, *place: str | int, **params: Any) -> NoReturn:
    """Refuse a stream for what stands at `place`."""
    found = refuse(rule_id, path=pointer(*place), **params)
    raise StreamError(found.rule, found.message, fix=found.fix, path=found.path)
