"""What of a log has to be the same when another loop writes it: everything but ids, times and what plugins added."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from dsh_protocol.rows import Event

Json: TypeAlias = dict[str, Any]

KEPT = (
    "turn/",
    "step/",
    "system/",
    "developer/",
    "user/",
    "assistant/",
    "tool/",
    "request/",
    "llm/retry",
)
"""What a loop writes; everything else is the business of plugins."""
KEPT_TYPES = frozenset({"agent/inbox/spliced", "session/end-seed"})
_TIMES = frozenset({"time", "time0"})
_IDS = frozenset({"id", "messageId", "retryId"})


def is_kept(event: Event) -> bool:
    """Whether a loop has to write this event."""
    return event.type.startswith(KEPT) or event.type in KEPT_TYPES


def normalized(events: Iterable[Event]) -> list[Json]:
    """The events of the loop, renumbered, with ids named by their order of appearance and without times."""
    kept = [event for event in events if is_kept(event)]
    numbers = {event.seq: number for number, event in enumerate(kept)}
    ids: dict[str, str] = {}
    return [_event(event, numbers, ids) for event in kept]


def _event(event: Event, numbers: dict[Any, int], ids: dict[str, str]) -> Json:
    data = _value(event.data, ids)
    if "headerSeq" in data:
        data["headerSeq"] = numbers.get(data["headerSeq"])
    row: Json = {"type": event.type, "data": data}
    if event.source_event_seqs is not None:
        row["sourceEventSeqs"] = [numbers.get(seq) for seq in event.source_event_seqs]
    if isinstance(event.surface_op, dict):
        ends = {name: numbers.get(event.surface_op[name]) for name in ("startSeq", "endSeq")}
        row["surfaceOp"] = {**event.surface_op, **ends}
    elif event.surface_op is not None:
        row["surfaceOp"] = event.surface_op
    return row


def _value(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_value(entry, ids) for entry in value]
    if not isinstance(value, dict):
        return value
    shown: Json = {}
    for name, member in value.items():
        if name in _TIMES:
            continue
        if name == "dt":
            shown[name] = len(member)
        elif name in _IDS and isinstance(member, str) and value.get("type") != "tool-call":
            shown[name] = ids.setdefault(member, f"id {len(ids)}")
        else:
            shown[name] = _value(member, ids)
    return shown
