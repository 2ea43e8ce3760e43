"""The turn that is open at the end of some events: its number, its step and the tool calls that have no result yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from dsh_protocol.dialect import Dialect
from dsh_protocol.jsonvalue import is_count

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

TURN_START = "turn/start"
TURN_END = "turn/end"
STEP_START = "step/start"
STEP_END = "step/end"
ASSISTANT = "assistant/message"
TOOL_CALL = "tool/call"
TOOL_RESULT = "tool/result"
_BOUNDARIES = frozenset({TURN_START, TURN_END})


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A tool call of the model without a result. `seq` is the number of its tool/call event, null when there is none."""

    id: str
    turn: int
    step: int
    seq: int | None = None


class TurnTracker:
    """Follows the turns of one log, event by event.

    `turn` and `step` are null when none is open. `flaw` is an event of the open turn, and the member of its
    data, that should say a number and does not: what stands open then cannot be named.
    """

    __slots__ = ("_by_call_alone", "_calls", "flaw", "is_open", "step", "turn")

    def __init__(self, dialect: Dialect) -> None:
        self._by_call_alone = dialect.answers_by_call_alone
        self._calls: dict[str, PendingCall] = {}
        self.is_open = False
        self.turn: int | None = None
        self.step: int | None = None
        self.flaw: tuple[Event, str] | None = None

    @property
    def pending(self) -> list[PendingCall]:
        """The calls without a result, in the order of the model."""
        return list(self._calls.values())

    def observe(self, event: Event) -> None:
        """Take the next event in."""
        kind = event.type
        if kind in _BOUNDARIES:
            self.flaw = self.step = None
            self._calls.clear()
            self.is_open = kind == TURN_START
            self.turn = self._number(event, "turn") if kind == TURN_START else None
        elif kind == STEP_START:
            self.step = self._number(event, "step")
        elif kind == STEP_END:
            self.step = None
            self._calls.clear()
        elif kind == ASSISTANT:
            self._register(event)
        elif kind == TOOL_CALL:
            self._start(event)
        elif kind == TOOL_RESULT:
            self._answer(event)

    def _register(self, event: Event) -> None:
        calls = list(_called(event.data))
        if not calls:
            return
        turn = self.turn if self._by_call_alone else self._number(event, "turn")
        step = self._number(event, "step")
        for call in calls:
            self._calls[call] = PendingCall(call, turn or 0, step or 0)

    def _start(self, event: Event) -> None:
        call = _member(event.data, "callId")
        if isinstance(call, str) and call in self._calls:
            found = self._calls[call]
            self._calls[call] = PendingCall(call, found.turn, found.step, event.seq)

    def _answer(self, event: Event) -> None:
        data = event.data
        call = _member(_member(_member(data, "message"), "source"), "callId")
        found = self._calls.get(call) if isinstance(call, str) else None
        if found is None:
            return
        place = (_member(data, "turn"), _member(data, "step"))
        appended = event.surface_op == "append" and place == (found.turn, found.step)
        if appended or self._by_call_alone:
            del self._calls[found.id]

    def _number(self, event: Event, name: str) -> int | None:
        number = _member(event.data, name)
        if is_count(number):
            return number
        self.flaw = (event, name)
        return None


def open_turn(events: Sequence[Event], dialect: Dialect) -> TurnTracker:
    """What is open at the end of these events. Only those since the last turn boundary are looked at."""
    tracker = TurnTracker(dialect)
    last = len(events) - 1
    while last > 0 and events[last].type not in _BOUNDARIES:
        last -= 1
    for event in islice(events, max(last, 0), None):
        tracker.observe(event)
    return tracker


def _called(data: Any) -> Iterator[str]:
    """The ids of the tool calls in the message of the model."""
    content = _member(_member(data, "message"), "content")
    for block in content if isinstance(content, list) else ():
        call = _member(block, "id") if _member(block, "type") == "tool-call" else None
        if isinstance(call, str):
            yield call


def _member(holder: Any, name: str) -> Any:
    """A member of an object; null when it is not there."""
    return holder.get(name) if isinstance(holder, dict) else None
