"""Turns and steps: which are open, and what stands inside them (rules `turn/*`, `step/*`).

After an event that does not fit, the open turn and step are those that this event names: a log that lost one boundary
is read on as it was meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.state._values import member

from ._scene import Aspect, Scene, positive, same_number

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

    __slots__ = ("doubt", "last_step", "last_turn", "step", "turn")

    def __init__(self) -> None:
        self.turn: int | None = None
        self.step: int | None = None
        self.last_turn = 0
        self.last_step = 0
        """The number of the last step of the last turn, 0 when it has had none."""
        self.doubt: int | None = None
        """The event because of which turn and step are not known for sure."""

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a boundary, or with the place of an event."""
        kind = scene.type
        if kind in _MEMBERS:
            if kind == TOOL_RESULT and scene.event.surface_op != _APPEND:
                self._check_inside(scene)
            else:
                self._check_member(scene)
        elif kind in _INSIDE:
            self._check_inside(scene)
        elif kind == TURN_START:
            self._check_turn_start(scene)
        elif kind == TURN_END:
            self._check_turn_end(scene)
        else:
            self._check_step_start(scene)

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Open or close what the event opens or closes, or believe what it names."""
        kind = event.type
        if kind == TOOL_RESULT and event.surface_op != _APPEND:
            return
        if blame is None and kind not in _BOUNDARIES:
            # It names what is open.
            self.doubt = None
            return
        turn, step = positive(data.get("turn")), positive(data.get("step"))
        if blame is None:
            self.doubt = None
        elif kind in _BOUNDARIES or not self._fits(turn, step):
            self.lose(blame)
        if kind == TURN_START:
            self.last_turn = self.turn = self.last_turn + 1 if turn is None else turn
            self.step, self.last_step = None, 0
        elif kind == TURN_END:
            if self.turn is None and turn is not None:
                self.last_turn = turn
            self.turn = self.step = None
        else:
            self._believe(kind, turn, step)

    def lose(self, blame: int, /) -> None:
        """Rows are missing that may have been boundaries, or an event thinks that others are open."""
        if self.doubt is None:
            self.doubt = blame

    def _believe(self, kind: str, turn: int | None, step: int | None) -> None:
        if turn is not None:
            self.turn = self.last_turn = turn
        if kind == STEP_END:
            if self.step is None and step is not None:
                self.last_step = step
            self.step = None
        elif step is not None:
            self.step = self.last_step = step

    def _fits(self, turn: int | None, step: int | None) -> bool:
        """Whether an event that is no boundary names what is open."""
        return None not in (self.turn, self.step) and (turn, step) == (self.turn, self.step)

    def _check_member(self, scene: Scene) -> None:
        data = scene.data
        turn, step = data.get("turn"), data.get("step")
        if same_number(step, self.step) and same_number(turn, self.turn):
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
        why, found = scene.why(self.doubt), scene.data.get("turn")
        if self.turn is not None:
            scene.report.add("turn/already-open", because=why, open=self.turn)
        elif not same_number(found, self.last_turn + 1):
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
        why, data = scene.why(self.doubt), scene.data
        found = data.get("turn")
        if self.turn is None or not same_number(found, self.turn):
            place = () if self.turn is None else member(data, "turn", "data")
            scene.report.add("step/outside-turn", *place, because=why, found=found, open=self.turn)
        elif self.step is not None:
            scene.report.add("step/already-open", because=why, open=self.step)
        elif not same_number(data.get("step"), self.last_step + 1):
            place = member(data, "step", "data")
            expected, found = self.last_step + 1, data.get("step")
            scene.report.add("step/number", *place, because=why, found=found, known=expected)
