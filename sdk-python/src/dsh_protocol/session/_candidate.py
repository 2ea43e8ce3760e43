"""The event that an append is about: a copy of what the caller gave, as a reader of the stored row would see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from sys import maxsize
from typing import Any

from dsh_protocol import jsonvalue
from dsh_protocol.findings import Finding, JsonError
from dsh_protocol.jsonvalue import MAX_SAFE_INTEGER
from dsh_protocol.rows import EVENT_CLASSES, Event, ReadLimits
from dsh_protocol.rules import is_active, refuse

Json = dict[str, Any]

_LIMITS = ReadLimits()


def row_of(
    type: str,
    seq: int,
    time: int,
    data: Any,
    *,
    surface_op: Any = None,
    source_event_seqs: Iterable[int] | None = None,
    ignorable: bool = False,
) -> Json:
    """The row of a new event, its members in the order in which the released runtime writes them."""
    row: Json = {"type": type, "seq": seq, "time": time, "data": data}
    if ignorable:
        row["ignorable"] = True
    if source_event_seqs is not None:
        row["sourceEventSeqs"] = _listed(source_event_seqs)
    if surface_op is not None:
        row["surfaceOp"] = surface_op
    return row


def _listed(seqs: Any) -> Any:
    """Any collection of numbers as a list; what is none stays as it is, for the rules to refuse."""
    is_collection = isinstance(seqs, Iterable) and not isinstance(seqs, str | bytes | Mapping)
    return list(seqs) if is_collection else seqs


def _is_plain(row: Json) -> bool:
    """Whether a row has nothing but values that JSON keeps as they are: most rows, found out without their places.

    The row contains itself nowhere, or its text could not have been made.
    """
    level: list[Any] = [row]
    for _ in range(_LIMITS.max_depth + 1):
        if not level:
            return True
        below: list[Any] = []
        for node in level:
            kind = type(node)
            if kind is dict:
                if not all(type(name) is str for name in node):
                    return False
                below += node.values()
            elif kind is list:
                below += node
            elif kind is int:
                if not -MAX_SAFE_INTEGER <= node <= MAX_SAFE_INTEGER:
                    return False
            elif kind is float:
                if not node or not isfinite(node):
                    return False
            elif kind is not str and kind is not bool and node is not None:
                return False
        level = below
    return False


def _text_of(row: Json) -> bytes:
    try:
        return jsonvalue.dump_bytes(row)
    except JsonError as error:
        if error.code == "json/value":
            # Raises the same with the place, which the writer does not know.
            jsonvalue.check_lossless(row)
        raise


def candidate(version: int, row: Json) -> tuple[Event, list[Finding]]:
    """The event in a row, and where it cannot be stored without loss or beyond a reader's limits.

    Raises:
        JsonError: `json/value`: something in it is no JSON value at all, such as a tuple or a date; `path` says
            where. `json/depth`: it contains itself.
    """
    text = _text_of(row)
    seq = row["seq"]
    losses = [] if _is_plain(row) else jsonvalue.check_lossless(row)
    findings = [
        refuse(rule_id, seq=seq, path=path, limit=_LIMITS.max_depth)
        for path, rule_id in losses
        if is_active(rule_id)
    ]
    # A round trip through the text is the copy, and gives the numbers and the member order that a reader gets.
    value: Any = jsonvalue.loads(text, max_depth=maxsize)
    event = EVENT_CLASSES[version].from_value(value)
    # The bytes are final: nobody who changes the data that an event hands out changes the log.
    event.raw = event.row_bytes()
    limit = _LIMITS.max_row_bytes
    if len(event.raw) > limit and is_active("storage/row-limit"):
        findings.append(refuse("storage/row-limit", seq=seq, limit=limit))
    return event, findings
