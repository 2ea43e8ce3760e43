"""Fork a session: the events that a child inherits, and the header that it gets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from dsh_protocol.dialect import dialect
from dsh_protocol.findings import RefusedError
from dsh_protocol.rows import EVENT_CLASSES, Event
from dsh_protocol.rules import is_active, refuse
from dsh_protocol.state.seeds import END_SEED

from ._turns import TURN_END, TURN_START
from .closers import turn_closers

ForkCode: TypeAlias = Literal["INVALID_BOUNDARY", "OPEN_TURN"]
_CODES: dict[str, ForkCode] = {
    "fork/boundary": "INVALID_BOUNDARY",
    "fork/open-turn": "OPEN_TURN",
}


class ForkError(RefusedError):
    """A session cannot be forked there.

    `code` is the code of the released runtime: `INVALID_BOUNDARY` (rule `fork/boundary`), or in format 3 `OPEN_TURN`
    (rule `fork/open-turn`). Of its other codes, `SESSION_ALREADY_EXISTS`, `SESSION_NOT_FOUND` and `SESSION_NOT_LIVE`
    are about a runtime's list of live sessions, which does not exist here.
    """

    def __init__(self, rule_id: str, seq: int | None, **params: Any) -> None:
        finding = refuse(rule_id, seq=seq, **params)
        super().__init__(finding.message, [finding])
        self.code = _CODES[rule_id]


def fork_seed(events: Sequence[Event], boundary: int | None = None) -> list[Event]:
    """The events that a child begins with when it is forked off behind event `boundary` (null: the last one).

    Format 4: the events up to the boundary, the inherited marker, and closers of the turn that was open there;
    marker and closers have the time of the boundary event. Format 3: the events up to the boundary alone; the
    marker is the first thing that the child appends itself. No events give no seed.

    Raises:
        ForkError: `INVALID_BOUNDARY` or `OPEN_TURN`.
        RefusedError: `schema/payload`, when the open turn or step has no number.
    """
    if boundary is None and not events:
        return []
    boundary = events[-1].seq if boundary is None else boundary
    inside = type(boundary) is int and 0 <= boundary < len(events)
    if not inside and is_active("fork/boundary"):
        raise ForkError("fork/boundary", None, found=boundary, events=len(events))
    prefix = list(events[: boundary + 1])
    last = prefix[-1]
    if not dialect(last.format_version).forks_open_turns:
        _require_closed(prefix)
        return prefix
    row: dict[str, Any] = {
        "type": END_SEED,
        "seq": boundary + 1,
        "time": last.time,
        "data": {"inherited": True},
    }
    prefix.append(EVENT_CLASSES[last.format_version].from_value(row))
    return prefix + turn_closers(prefix, "forked")


def _require_closed(prefix: Sequence[Event]) -> None:
    rule_id = "fork/open-turn"
    for event in reversed(prefix):
        if event.type == TURN_END:
            return
        if event.type == TURN_START and is_active(rule_id):
            raise ForkError(rule_id, event.seq, boundary=prefix[-1].seq)
