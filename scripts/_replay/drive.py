"""One recorded session, written again by our loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import anyio

from dsh_protocol.llm import Endpoint
from dsh_protocol.loop import Agent, AgentOptions, AgentParts, Retries
from dsh_protocol.rows import Event
from dsh_protocol.scopes import Events
from dsh_protocol.session import Session, SessionOptions
from dsh_protocol.tools import ToolDefinition, ToolError, ToolOutput, ToolRegistry
from dsh_protocol.wire import DirectoryAttachments

from .normal import is_kept, normalized
from .scenario import Exchange, Recording, contributed, extra_tools

Json: TypeAlias = dict[str, Any]

WIRES = {3: "deepseek-chat", 4: "deepseek-messages"}
_SPLICED = "agent/inbox/spliced"
_PATIENCE = 60
"""Seconds that one session may take; a loop that waits for something else than the recording had would hang."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where our loop did something else."""

    where: str
    recorded: Any
    ours: Any


@dataclass
class Replay:
    """What our loop made of a session."""

    events: list[Json] = field(default_factory=list)
    requests: int = 0
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """Messages that somebody put into the inbox once the loop had written `after` events; `wakes`: a turn began with them."""

    after: int
    target: str
    messages: tuple[Json, ...]
    wakes: bool


class RecordedResponse:
    """A response that was recorded."""

    def __init__(self, exchange: Exchange) -> None:
        self.status = exchange.status
        self.headers: Mapping[str, str] = {}
        self._data = exchange.response

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The recorded bytes."""
        await anyio.lowlevel.checkpoint()
        yield self._data

    async def aclose(self) -> None:
        """Nothing is open."""


class RecordedTransport:
    """Answers the k-th request with the k-th recorded response, and compares the bodies."""

    def __init__(self, exchanges: tuple[Exchange, ...]) -> None:
        self._exchanges = exchanges
        self.sent = 0
        self.difference: Difference | None = None

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, follow_redirects: bool
    ) -> RecordedResponse:
        """The recorded response to this request."""
        number = self.sent
        self.sent += 1
        if number >= len(self._exchanges):
            self._differ(number, None, body.decode())
            raise RuntimeError("the recording has no further request")
        recorded = self._exchanges[number]
        if recorded.body != body.decode():
            self._differ(number, recorded.body, body.decode())
        return RecordedResponse(recorded)

    async def open(self) -> None:
        """Nothing is kept open."""

    async def aclose(self) -> None:
        """Nothing is open."""

    def _differ(self, number: int, recorded: str | None, ours: str) -> None:
        if self.difference is None:
            self.difference = Difference(f"request {number}", recorded, ours)


class Driver:
    """Drives the loop through one recording."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.transport = RecordedTransport(recording.exchanges)
        self._inputs = list(_inputs(recording))
        self._files: dict[str, str] = dict(recording.script.at_turn(1))
        self._written = 0
        self._agent: Agent | None = None

    async def run(self) -> Replay:
        """Write the session again, and compare."""
        with anyio.move_on_after(_PATIENCE):
            session = await self._drive()
        return _compared(self.recording, session, self.transport)

    async def _drive(self) -> Session:
        session = self._first_session()
        *earlier, _last = _segments(self.recording)
        for end in earlier:
            await self._continue(session, end)
            session = Session.resume(_log_of(session), options=SessionOptions())
            self._written += 1
        await self._continue(session, None)
        return session

    def _first_session(self) -> Session:
        """The session as the first loop found it: empty, or with what it inherits."""
        header, start = self.recording.log.header, self.recording.attached[0]
        if not start:
            return Session(header)
        inherited = self.recording.log.events[:start]
        self._written = sum(map(is_kept, inherited))
        return Session.open(open_log(_bytes(header.raw, inherited)))
