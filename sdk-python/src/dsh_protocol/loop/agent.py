"""An agent: the driver of one session, which turns queued input into model requests and writes the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import anyio
from anyio.abc import TaskGroup

from dsh_protocol.abort import AbortController
from dsh_protocol.findings import UsageError
from dsh_protocol.session import Session

from ._steps import AgentOptions, AgentParts, ModelSteps
from ._turns import DISPOSED, Turn, begin_turn, run_turn
from .frames import Committed, Frames, FrameStream, Status, StatusChanged
from .hooks import Hooks, TurnStopping
from .inbox import Inbox, Target

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Json: TypeAlias = dict[str, Any]
Cause: TypeAlias = Mapping[str, Any]
"""Why work stops: `{"kind": "user" | "parent" | "disposed"}` or `{"kind": "hook", "reason": text}`."""

USER: Cause = {"kind": "user"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a message: the turn that took it in, how that turn ended, and the text of its last answer.

    `turn` and `reason` are null when no turn took the message: it was taken back, or it waits in the inbox because an
    earlier turn did not end by itself.
    """

    turn: int | None = None
    reason: Json | None = None
    text: str = ""


@dataclass(slots=True)
class _Awaited:
    """Somebody waits for what becomes of a message."""

    done: anyio.Event = field(default_factory=anyio.Event)
    turn: int | None = None
    outcome: Outcome = Outcome()

    def settle(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.done.set()


class Agent:
    """Drives one session. To be used as an asynchronous context manager; leaving the block stops what runs.

    A log that cannot be stored ends the block with the error of the journal (several errors: a group of them).

    Messages are sent with one of three verbs (rule `loop/inbox-verbs`): `followup` opens a turn of its own, `steer` joins the
    next step, and `inject` joins it without waking the agent. `send` is a followup that waits for what becomes of it. While
    the block lasts nobody else may append to the session inside a turn, except hooks, where their description says so.
    """

    def __init__(
        self, session: Session, parts: AgentParts, options: AgentOptions | None = None
    ) -> None:
        """Attach to a session, whose log is read once: turn numbers, pending input and projections go on from it.

        Rules `loop/turn-numbers` and, after `Session.resume`, `loop/resume`.

        Raises:
            InboxError: `inbox/splice`: the log holds a splice that does not fit.
        """
        self.session = session
        self.parts = parts
        self.hooks: Hooks = parts.hooks
        self.options = options or AgentOptions()
        self.inbox = Inbox(session.append)
        self._frames = Frames()
        self._steps = ModelSteps(self, self._frames)
        self._last_turn = 0
        for event in session.events:
            self._follow(event)
        self._running: Turn | None = None
        self._latched = False
        self._awaited: dict[str, _Awaited] = {}
        self._text = ""
        self._group: TaskGroup | None = None
        self._idle = anyio.Event()
        self._idle.set()
        self.inbox.claimed = self._on_claimed
        self.inbox.discarded = self._on_discarded
        self._unsubscribe = session.subscribe(self._observe)

    # ---- Life --------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        group, self._group = self._group, None
        self.cancel(DISPOSED, keep_inbox=True)
        try:
            return None if group is None else await group.__aexit__(kind, error, trace)
        except BaseExceptionGroup as failures:
            # That tasks are at work in here is no business of the caller.
            alone = _alone(failures)
            if alone is None:
                raise
            if alone is not error:
                raise alone from alone.__cause__
            return None
        finally:
            self._unsubscribe()
            self._steps.close()
            self._frames.end()
            self._settle_awaited()

    @property
    def status(self) -> Status:
        """Whether a turn runs."""
        return "idle" if self._running is None else "running"

    async def idle(self) -> None:
        """Wait until nothing is left to do; input that waits for somebody to wake the agent may be pending then."""
        await self._idle.wait()

    # ---- Input -------------------------------------------------------------------------------------

    async def send(self, content: str | list[Json]) -> Outcome:
        """Send a message that opens a turn of its own, and wait for the end of that turn.

        Raises:
            UsageError: `loop/not-entered`: the agent is not inside its `async with` block.
        """
        message = self.session.make.user_message(content)
        awaited = self._awaited[message["id"]] = _Awaited()
        try:
            self.followup(message)
            await awaited.done.wait()
        finally:
            del self._awaited[message["id"]]
        return awaited.outcome

    def followup(self, content: str | list[Json] | Json) -> str:
        """Queue a message that opens a turn of its own; the id of the message. An idle agent begins at once.

        Raises:
            UsageError: `loop/not-entered`: the agent is not inside its `async with` block.
            InboxError: `inbox/pending`: a message of this id is pending.
        """
        return self._send("next-turn", content, wakes=True)

    def steer(self, content: str | list[Json] | Json) -> str:
        """Queue a message for the next step of the running turn, or for a new turn; the id of the message.

        Raises:
            UsageError, InboxError: as `followup`.
        """
        return self._send("next-step", content, wakes=True)

    def inject(self, content: str | list[Json] | Json) -> str:
        """Queue a message for the next step, whenever that is, without waking the agent; the id of the message.

        Raises:
            InboxError: as `followup`.
        """
        return self._send("next-step", content, wakes=False)

    def cancel(self, cause: Cause = USER, *, keep_inbox: bool = False) -> None:
        """Ask the running turn to stop, and (unless `keep_inbox`) take everything back that is pending.

        The first cause counts. Visible text of an answer that is cut off is kept; tools that run are awaited. Rule
        `loop/cancel-clears`.
        """
        if not keep_inbox:
            self.inbox.clear()
            self._latched = False
        if self._running is not None:
            self._running.controller.abort(cause)

    def stream(self, content: str | list[Json] | None = None) -> FrameStream:
        """The frames from now on, for one reader: `async for frame in agent.stream(): ...`.

        With `content`, sends that first as `followup` does, and ends when the agent is idle again.

        Raises:
            UsageError: as `followup`.
        """
        stream = self._frames.stream(until_idle=content is not None)
        if content is not None:
            self.followup(content)
        return stream

    # ---- Driving -----------------------------------------------------------------------------------

    def _send(self, target: Target, content: str | list[Json] | Json, *, wakes: bool) -> str:
        message = content if isinstance(content, dict) else self.session.make.user_message(content)
        if wakes:
            self._require_entered()
            if self._is_stopping():
                target = "next-turn"
        self.inbox.append(target, message)
        if wakes:
            self._wake()
        return str(message["id"])

    def _is_stopping(self) -> bool:
        return self._running is not None and self._running.signal.aborted

    def _wake(self) -> None:
        """Begin a turn, or see to it that one begins behind a turn that stops (rule `loop/wake-latched`)."""
        if self._running is None:
            self._idle = anyio.Event()
            self._frames.put(StatusChanged("running"))
            self._begin()
        elif self._is_stopping() or self._running.has_ended:
            self._latched = True

    def _begin(self) -> None:
        """Begin a turn and hand it to a task. Up to the claim of its messages this never waits."""
        turn, claimed = self._begin_turn()
        group = self._require_entered()
        group.start_soon(self._drive, turn, claimed)

    def _begin_turn(self) -> tuple[Turn, list[Json]]:
        self._latched = False
        turn = Turn(self._last_turn + 1, AbortController())
        self._running = turn
        return turn, begin_turn(self.session, self.inbox, turn)

    async def _drive(self, turn: Turn, claimed: list[Json]) -> None:
        try:
            while await self._run_turn(turn, claimed):
                turn, claimed = self._begin_turn()
        finally:
            # Nothing waits in here: what is sent from now on begins a turn of its own.
            self._running = None
            self._idle.set()
            self._settle_awaited()
            self._frames.put(StatusChanged("idle"))

    async def _run_turn(self, turn: Turn, claimed: list[Json]) -> bool:
        """Run a turn to its end and store it; whether the next one begins by itself.

        Rules `loop/turn-goes-on` and `loop/turn-parks`.
        """
        parts = (self.session, self.inbox, self._steps)
        try:
            ending = await run_turn(*parts, turn, claimed, self._stopping)
        finally:
            with anyio.CancelScope(shield=True):
                await self._steps.flush()
        self._on_ended(turn.number, ending.reason)
        if turn.signal.reason == DISPOSED:
            return False
        return len(self.inbox) > 0 and (ending.goes_on or self._latched)

    async def _stopping(self, turn: Turn) -> None:
        await self.hooks.turn_stopping.run(TurnStopping(self, turn.number, turn.signal), _nothing)

    def _require_entered(self) -> TaskGroup:
        if self._group is None:
            raise UsageError(
                "loop/not-entered",
                "the agent does not run",
                fix="Send inside of `async with agent:`.",
            )
        return self._group

    # ---- Following the log -------------------------------------------------------------------------

    def _follow(self, event: Event) -> None:
        self.inbox.follow(event)
        if event.type == "turn/start":
            self._last_turn = event.data["turn"]

    def _observe(self, event: Event) -> None:
        self._follow(event)
        if event.type == "assistant/message":
            self._text = _text_of(event.data["message"]["content"])
        self._frames.put(Committed(event))

    def _on_claimed(self, messages: list[Json]) -> None:
        for message in messages:
            awaited = self._awaited.get(message["id"])
            if awaited is not None:
                awaited.turn = self._last_turn

    def _on_discarded(self, messages: list[Json]) -> None:
        for message in messages:
            if message["id"] in self._awaited:
                self._awaited[message["id"]].settle(Outcome())

    def _on_ended(self, turn: int, reason: Json) -> None:
        for awaited in self._awaited.values():
            if awaited.turn == turn:
                awaited.settle(Outcome(turn, reason, self._text))
        self._text = ""

    def _settle_awaited(self) -> None:
        """Nobody works any more: what is not settled now waits for somebody to wake the agent."""
        for awaited in self._awaited.values():
            if not awaited.done.is_set():
                awaited.settle(Outcome(awaited.turn))


async def _nothing() -> None:
    pass


def _alone(error: BaseException) -> BaseException | None:
    """The one exception in a group, however deep; null when there are several."""
    while isinstance(error, BaseExceptionGroup):
        if len(error.exceptions) > 1:
            return None
        error = error.exceptions[0]
    return error


def _text_of(content: list[Json]) -> str:
    return "".join(block["text"] for block in content if block.get("type") == "text")
