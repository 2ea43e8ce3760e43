"""One turn: from `turn/start` to `turn/end`, step by step (spec/rules/loop.yaml, revision R2; R1 differs inside a step)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

import anyio

from dsh_protocol.abort import AbortController, AbortSignal
from dsh_protocol.session import Session, repair

from ._failures import turn_failure
from .hooks import Decision, Enter, Reject
from .inbox import Inbox

Json: TypeAlias = dict[str, Any]
StepEnd: TypeAlias = Literal["completed", "max-tokens"] | None
"""What a step amounts to: null when its tools ran and the model is to be asked again."""

DISPOSED = {"kind": "disposed"}


class AbortedError(Exception):
    """The turn was asked to stop."""


@dataclass(slots=True)
class Turn:
    """A turn that runs. `step` is the number of its latest step, 0 before the first."""

    number: int
    controller: AbortController
    step: int = 0
    has_ended: bool = False

    @property
    def signal(self) -> AbortSignal:
        """What asks the turn to stop."""
        return self.controller.signal

    def require_going(self) -> None:
        """Raise `AbortedError` when the turn was asked to stop."""
        if self.signal.aborted:
            raise AbortedError


class Steps(Protocol):
    """What a turn is made of."""

    async def before(self, turn: Turn, claimed: list[Json]) -> Decision:
        """Prepare step `turn.step + 1` with the messages claimed for it."""
        ...

    async def run(self, turn: Turn, decision: Enter) -> StepEnd:
        """Run the step that has begun."""
        ...


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn has ended. `goes_on`: whether pending input begins the next turn by itself."""

    reason: Json
    goes_on: bool = False


def begin_turn(session: Session, inbox: Inbox, turn: Turn) -> list[Json]:
    """Log the start of a turn, and claim what its first step begins with. Never waits."""
    session.append("turn/start", {"turn": turn.number})
    return inbox.claim(first=True)


async def run_turn(
    session: Session,
    inbox: Inbox,
    steps: Steps,
    turn: Turn,
    claimed: list[Json],
    stopping: Callable[[Turn], Awaitable[None]],
) -> TurnEnd:
    """Run a turn that has begun, and log its end whatever happens (rules `loop/turn-error` and `loop/turn-aborted`).

    What cancels the task from outside ends the turn as `disposed`, and goes on.
    """
    try:
        ending = await _run_steps(session, inbox, steps, turn, claimed, stopping)
    except anyio.get_cancelled_exc_class():
        turn.controller.abort(DISPOSED)
        _end(session, turn, _aborted(session, turn))
        raise
    except Exception as error:
        ending = TurnEnd(_aborted(session, turn) if turn.signal.aborted else _failed(error))
    _end(session, turn, ending.reason)
    return ending


async def _run_steps(
    session: Session,
    inbox: Inbox,
    steps: Steps,
    turn: Turn,
    claimed: list[Json],
    stopping: Callable[[Turn], Awaitable[None]],
) -> TurnEnd:
    """All steps (rules `loop/turn-steps`, `loop/turn-empty`, `loop/turn-rejected`, `loop/turn-max-tokens`,
    `loop/turn-stopping` and `loop/step-next`)."""
    ends: StepEnd = None
    while True:
        turn.require_going()
        decision = await steps.before(turn, claimed)
        if isinstance(decision, Reject):
            return TurnEnd({"kind": "blocked"})
        if ends is not None and not decision.messages:
            return TurnEnd({"kind": ends}, goes_on=True)
        if not turn.step and not decision.messages:
            return TurnEnd({"kind": "completed"})
        turn.require_going()
        ended = await _run_step(session, steps, turn, decision)
        ends = ends if ends == "max-tokens" else ended
        turn.require_going()
        if ends is not None and not inbox.pending("next-step"):
            await stopping(turn)
            turn.require_going()
            if not inbox.pending("next-step"):
                return TurnEnd({"kind": ends}, goes_on=True)
        claimed = inbox.claim(first=False)


async def _run_step(session: Session, steps: Steps, turn: Turn, decision: Enter) -> StepEnd:
    """One step; what fails before its request leaves it empty (rule `loop/step-empty`)."""
    number = turn.step + 1
    session.append("step/start", {"turn": turn.number, "step": number})
    turn.step = number
    try:
        return await steps.run(turn, decision)
    finally:
        _answer_pending(session)
        session.append("step/end", {"turn": turn.number, "step": number})


def _answer_pending(session: Session) -> None:
    """Answer the calls that a failure of the step has left without a result (rule `loop/tools-recovered`).

    Release 0.1.5 leaves them as they are, and then does not take its own log.
    """
    if not session.pending_calls:
        return
    for closer in repair(session.events):
        if closer.type == "tool/result":
            session.append(
                closer.type,
                closer.data,
                surface_op=closer.surface_op,
                source_event_seqs=closer.source_event_seqs,
            )


def _end(session: Session, turn: Turn, reason: Json) -> None:
    turn.has_ended = True
    session.append("turn/end", {"turn": turn.number, "reason": reason})


def _aborted(session: Session, turn: Turn) -> Json:
    """The reason of a turn that was asked to stop (rules `loop/turn-cause` and, before format 4, `loop/turn-cause-whole`)."""
    cause = turn.signal.reason or DISPOSED
    if not session.dialect.trims_causes:
        return {"kind": "aborted", "reason": dict(cause)}
    fields = ("kind", "reason") if cause["kind"] == "hook" else ("kind",)
    return {"kind": "aborted", "reason": {name: cause[name] for name in fields}}


def _failed(error: Exception) -> Json:
    return {"kind": "error", "error": turn_failure(error)}
