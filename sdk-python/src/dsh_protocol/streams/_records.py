"""Timed chunks to compact records and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate as accumulated
from typing import Any

from ._shapes import (
    DELTA_OF_RUN,
    RAW,
    TEXT_RUNS,
    TOOL_DELTA,
    TOOL_RUN,
    Chunk,
    Json,
    TimedChunk,
    check_chunk,
    check_record,
    check_time,
    is_safe,
)


def accumulate(chunks: Iterable[TimedChunk]) -> list[Json]:
    """The compact records of a stream.

    Raises:
        StreamError: `stream/chunk` (a chunk is not well-formed) or `stream/times` (a time is not a safe integer).
    """
    records: list[Json] = []
    last_time = 0
    for index, (time, chunk) in enumerate(chunks):
        check_time(time, index)
        check_chunk(chunk, index)
        run = _run(chunk, time)
        if run is None:
            records.append({"type": RAW, "time": time, "chunk": chunk})
        elif records and _continues(records[-1], run) and is_safe(time - last_time):
            _extend(records[-1], run, time - last_time)
        else:
            records.append(run)
        last_time = time
    return records


def expand(records: Iterable[Any]) -> list[TimedChunk]:
    """The timed chunks that compact records stand for.

    Raises:
        StreamError: `stream/record`, `stream/run-lengths` or `stream/times`.
    """
    chunks: list[TimedChunk] = []
    for index, record in enumerate(records):
        check_record(record, index)
        chunks += _members(record)
    return chunks


def _run(chunk: Chunk, time: int) -> Json | None:
    """A run of this chunk alone, null when the chunk stays single."""
    kind = chunk["type"]
    if kind in TEXT_RUNS:
        head = {"type": TEXT_RUNS[kind], "time0": time, "index": chunk["index"], "dt": []}
        return {**head, "texts": [chunk["text"]]}
    if kind != TOOL_DELTA or not chunk["id"] or chunk.get("name") == "":
        return None
    head = {"type": TOOL_RUN, "time0": time, "index": chunk["index"], "dt": [], "id": chunk["id"]}
    if "name" in chunk:
        head["name"] = chunk["name"]
    return {**head, "args": [chunk["argumentsDelta"]]}


def _continues(record: Json, run: Json) -> bool:
    """Whether a run of one chunk can join the record in front of it."""
    names = ("type", "index", "id", "name")
    return all(record.get(name) == run.get(name) for name in names)


def _extend(record: Json, run: Json, gap: int) -> None:
    record["dt"].append(gap)
    name = "args" if record["type"] == TOOL_RUN else "texts"
    record[name] += run[name]


def _members(record: Json) -> Iterator[TimedChunk]:
    if record["type"] == RAW:
        yield record["time"], record["chunk"]
        return
    times = accumulated([record["time0"], *record["dt"]])
    texts = record["args" if record["type"] == TOOL_RUN else "texts"]
    yield from zip(times, (_delta(record, text) for text in texts), strict=True)


def _delta(record: Json, text: str) -> Chunk:
    if record["type"] != TOOL_RUN:
        kind = DELTA_OF_RUN[record["type"]]
        return {"type": kind, "index": record["index"], "text": text}
    head = {"type": TOOL_DELTA, "index": record["index"], "id": record["id"]}
    if "name" in record:
        head["name"] = record["name"]
    return {**head, "argumentsDelta": text}
