"""Turns and steps: which are open, and what stands inside them (rules `turn/*`, `step/*`).

After an event that does not fit, the open turn and step are those that this event names: a log that lost one boundary
is read on as it was meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.state._values import member

from ._scene import Aspect, Check, Enter, Scene, positive, same_number

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

TURN_START = "turn/start"
TURN_END = "turn/end"
STEP_START = "step/start"
STEP_END = "step/end"
TOOL_RESULT = "tool/result"
_APPEND = "append"
_MEMBERS = frozenset(
    {
        "assistant/attempt",
        "assistant/message",
        "developer/message",
        STEP_END,
        "system/message",
        "tool/call",
        TOOL_RESULT,
    }
)
"""The types whose events name the open turn and step."""
_BOUNDARIES = frozenset({TURN_START, TURN_END, STEP_START, STEP_END})
_INSIDE = {
    "request/context": "turn/outside",
    "request/header": "turn/outside",
    "tool/ptc-dispatch": "dispatch/outside-turn",
    "tool/ptc-dispatch-start": "dispatch/outside-turn",
    TOOL_RESULT: "turn/outside",
}
"""The types whose events stand inside a turn without naming it (of tool results those that rewrite another), and the rules that
say so."""


class Turns(Aspect):
    """The open turn and step, and the numbers of the last ones."""

    checked = _MEMBERS | _INSIDE.keys() | _BOUNDARIES
    entered = _MEMBERS | _BOUNDARIES
    idle = _MEMBERS - _BOUNDARIES

    __slots__ = ("doubt", "last_step", "last_turn", "step", "turn")

    def __init__(self) -> None:
        self.turn: int | None = None
        self.step: int | None = None
        self.last_turn = 0
        self.last_step = 0
        """The number of the last step of the last turn, 0 when it has had none."""
        self.doubt: int | None = None
        """The event because of which turn and step are not known for sure."""

    def check_of(self, event_type: str) -> Check:
        """What checks a boundary, or the place of an event."""
        if event_type == TOOL_RESULT:
            return self._check_result
        if event_type in _MEMBERS:
            return self._check_member
        if event_type in _INSIDE:
            return self._check_inside
        boundaries = {
            TURN_START: self._check_turn_start,
            TURN_END: self._check_turn_end,
            STEP_START: self._check_step_start,
        }
        return boundaries[event_type]

    def enter_of(self, event_type: str) -> Enter:
        """What opens or closes what an event opens or closes, or believes what it names."""
        if event_type == TOOL_RESULT:
            return self._enter_result
        enters = {
            TURN_START: self._enter_turn_start,
            TURN_END: self._enter_turn_end,
            STEP_START: self._enter_step,
            STEP_END: self._enter_step,
        }
        return enters.get(event_type, self._enter_member)

    def lose(self, blame: int, /) -> None:
        """Rows are missing that may have been boundaries, or an event thinks that others are open."""
        if self.doubt is None:
            self.doubt = blame

    def _enter_result(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        if event.surface_op == _APPEND:
            self._enter_member(event, data, blame)

    def _enter_member(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        if blame is None:
            # It names what is open.
            self.doubt = None
            return
        turn, step = positive(data.get("turn")), positive(data.get("step"))
        if None in (self.turn, self.step) or (turn, step) != (self.turn, self.step):
            self.lose(blame)
        self._believe(event.type, turn, step)

    def _enter_turn_start(self, _e: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        self._doubt(blame)
        turn = positive(data.get("turn"))
        self.last_turn = self.turn = self.last_turn + 1 if turn is None else turn
        self.step, self.last_step = None, 0

    def _enter_turn_end(self, _e: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        self._doubt(blame)
        turn = positive(data.get("turn"))
        if self.turn is None and turn is not None:
            self.last_turn = turn
        self.turn = self.step = None

    def _enter_step(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        self._doubt(blame)
        self._believe(event.type, positive(data.get("turn")), positive(data.get("step")))

    def _doubt(self, blame: int | None) -> None:
        if blame is None:
            self.doubt = None
        else:
            self.lose(blame)

    def _believe(self, kind: str, turn: int | None, step: int | None) -> None:
        if turn is not None:
            self.turn = self.last_turn = turn
        if kind == STEP_END:
            if self.step is None and step is not None:
                self.last_step = step
            self.step = None
        elif step is not None:
            self.step = self.last_step = step

    def _check_result(self, scene: Scene) -> None:
        if scene.event.surface_op == _APPEND:
            self._check_member(scene)
        else:
            self._check_inside(scene)

    def _check_member(self, scene: Scene) -> None:
        data = scene.data
        turn, step = data.get("turn"), data.get("step")
        if turn == self.turn and step == self.step and type(turn) is int and type(step) is int:
            return
        if self.step is None:
            place: tuple[str | int, ...] = ()
        else:
            name = "step" if same_number(turn, self.turn) else "turn"
            place = member(data, name, "data")
            if scene.reported(*place):
                return
        scene.report.add(
            "step/match",
            *place,
            because=scene.why(self.doubt),
            type=scene.type,
            turn=turn,
            step=step,
            open_turn=self.turn,
            open_step=self.step,
        )

    def _check_inside(self, scene: Scene) -> None:
        if self.turn is None:
            why = scene.why(self.doubt)
            scene.report.add(_INSIDE[scene.type], because=why, type=scene.type)

    def _check_turn_start(self, scene: Scene) -> None:
        found = scene.data.get("turn")
        if self.turn is None and same_number(found, self.last_turn + 1):
            return
        why = scene.why(self.doubt)
        if self.turn is not None:
            scene.report.add("turn/already-open", because=why, open=self.turn)
        else:
            place = member(scene.data, "turn", "data")
            expected = self.last_turn + 1
            scene.report.add("turn/number", *place, because=why, found=found, known=expected)

    def _check_turn_end(self, scene: Scene) -> None:
        why, found = scene.why(self.doubt), scene.data.get("turn")
        if self.turn is None or not same_number(found, self.turn):
            place = () if self.turn is None else member(scene.data, "turn", "data")
            scene.report.add("turn/end-match", *place, because=why, found=found, open=self.turn)
        elif self.step is not None:
            scene.report.add("turn/end-open-step", because=why, step=self.step)

    def _check_step_start(self, scene: Scene) -> None:
        data = scene.data
        found, step = data.get("turn"), data.get("step")
        fits = same_number(found, self.turn)
        if fits and self.step is None and same_number(step, self.last_step + 1):
            return
        why = scene.why(self.doubt)
        if not fits:
            place = () if self.turn is None else member(data, "turn", "data")
            scene.report.add("step/outside-turn", *place, because=why, found=found, open=self.turn)
        elif self.step is not None:
            scene.report.add("step/already-open", because=why, open=self.step)
        else:
            place, expected = member(data, "step", "data"), self.last_step + 1
            scene.report.add("step/number", *place, because=why, found=step, known=expected)
