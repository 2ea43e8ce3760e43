"""The recorded responses of the official runtime, each with what its log kept of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recorded import SHARED, SHIPPED

from dsh_protocol import open_log
from dsh_protocol.streams import expand

WIRES = {"v3": "deepseek-chat", "v4": "deepseek-messages"}
Json = dict[str, Any]


@dataclass(frozen=True)
class RecordedResponse:
    """One response; `chunks` and `settlement` are from the log, `raw_output` that of a compaction."""

    name: str
    wire: str
    model: str
    status: int
    body: bytes
    chunks: list[Json] | None = None
    settlement: Json | None = None
    raw_output: list[Any] | None = None


def recorded_responses() -> list[RecordedResponse]:
    """Every recorded response, from the shared folder where it is present, else the shipped ones."""
    root = SHARED if SHARED.is_dir() else SHIPPED
    return [r for version in WIRES for r in _of_version(root / version, version)]


def _of_version(root: Path, version: str) -> Iterator[RecordedResponse]:
    for wire in sorted(root.glob("*/wire.jsonl")):
        rows = [json.loads(line) for line in wire.read_bytes().split(b"\n") if line]
        for path in sorted(wire.parent.glob("sessions/*/*/session*.jsonl*")):
            own = [row for row in rows if row["session"] == path.parent.name]
            yield from _of_log(f"{version}/{wire.parent.name}", version, path, own)


def _of_log(name: str, version: str, path: Path, rows: list[Json]) -> Iterator[RecordedResponse]:
    events: list[Json] = [event.value for event in open_log(path).events]
    seeds = [e["seq"] for e in events if e["type"] == "session/end-seed" and e["data"]]
    events = events[seeds[-1] if seeds else 0 :]
    kinds = ("assistant/message", "assistant/attempt")
    settlements = [event for event in events if event["type"] in kinds]
    summaries = [event for event in events if event["type"] == "compaction/summary"]
    loop = [row for row in rows if row["purpose"] == "loop"]
    for index, (row, event) in enumerate(zip(loop, settlements, strict=True)):
        chunks = [chunk for _, chunk in expand(event["data"]["stream"])]
        yield _response(f"{name}/{index}", version, row, chunks=chunks, settlement=event)
    asked = [row for row in rows if row["purpose"] == "compaction"]
    for index, row in enumerate(asked):
        made = summaries[index]["data"]["rawOutput"] if index < len(summaries) else None
        yield _response(f"{name}/compaction-{index}", version, row, raw_output=made)


def _response(name: str, version: str, row: Json, **kept: Any) -> RecordedResponse:
    response = row["response"]
    model = json.loads(row["body"])["model"]
    body = response["body"].encode("utf-8")
    return RecordedResponse(name, WIRES[version], model, response["status"], body, **kept)
