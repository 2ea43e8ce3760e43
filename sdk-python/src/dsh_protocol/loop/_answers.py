"""An answer while it streams, and the event that it is settled as."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import anyio

from dsh_protocol.abort import cancel_on
from dsh_protocol.rows import Event
from dsh_protocol.session import Session
from dsh_protocol.streams import Assembled, TimedChunk, accumulate, assemble

from ._turns import DISPOSED, AbortedError, Turn
from .frames import Frames, StreamChunk, StreamEnd, StreamStart

Json: TypeAlias = dict[str, Any]
OpenStream: TypeAlias = Callable[[], AsyncIterator[Json]]
Flush: TypeAlias = Callable[[], Awaitable[None]]

_FAILED = frozenset({"error", "aborted"})
_CLOSING = 1.0
"""Seconds that closing a connection may take once its answer is not wanted any more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A settled answer: its event, the blocks of it, and how it ended."""

    event: Event
    content: list[Json]
    finish: Json

    @property
    def failure(self) -> Json | None:
        """The failure object of an answer that did not come; null for one that did."""
        return self.finish["failure"] if self.finish["kind"] in _FAILED else None


class AnswerReceiver:
    """Takes in one answer: shows its chunks to the readers, and logs what it amounts to."""

    def __init__(
        self, session: Session, frames: Frames, turn: Turn, revision: int, config: Json
    ) -> None:
        self._session = session
        self._frames = frames
        self._turn = turn
        self._name = (f"{session.header.id}:{revision}", revision)
        self._config = config
        self._chunks: list[TimedChunk] = []
        self._settlement: Event | None = None

    async def run(self, open_stream: OpenStream, flush: Flush) -> Answer:
        """Receive the answer, and settle it whatever happens to it. Nothing is sent before the log is stored.

        Raises:
            AbortedError: the turn was asked to stop; what was visible is in the log.
            StreamError: the chunks are none of a stream. Nothing of them is in the log.
            Exception: whatever a stream hook, or storing the log, raised; the chunks so far are in the log, as an attempt
                (rule `loop/settle-hook`).
        """
        self._frames.put(StreamStart(*self._name, self._turn.number, self._turn.step))
        try:
            return await self._settle(open_stream, flush)
        finally:
            self._frames.put(self._end())

    def _end(self) -> StreamEnd:
        event = self._settlement
        committed = (None, None) if event is None else (event.type, event.seq)
        return StreamEnd(*self._name, len(self._chunks), *committed)

    async def _settle(self, open_stream: OpenStream, flush: Flush) -> Answer:
        signal = self._turn.signal
        try:
            await self._receive(open_stream, flush)
        except anyio.get_cancelled_exc_class():
            self._turn.controller.abort(DISPOSED)
            self._settle_cut_off()
            raise
        except Exception:
            self._settle_cut_off() if signal.aborted else self._settle_attempt()
            raise
        if signal.aborted:
            self._settle_cut_off()
            raise AbortedError
        return self._settle_whole()

    async def _receive(self, open_stream: OpenStream, flush: Flush) -> None:
        signal = self._turn.signal
        stream = open_stream()
        try:
            with cancel_on(signal):
                # What stream hooks have appended is stored, too.
                await flush()
                async for chunk in stream:
                    if signal.aborted:
                        break
                    self._take(chunk)
        finally:
            await close(stream)

    def _take(self, chunk: Json) -> None:
        time = self._session.options.clock()
        index = len(self._chunks)
        self._chunks.append((time, chunk))
        self._frames.put(StreamChunk(*self._name, index, time, chunk))

    # ---- Settlements -------------------------------------------------------------------------------

    def _settle_whole(self) -> Answer:
        """The rules `loop/settle-message` and `loop/settle-attempt`; `loop/settle-abandoned` where nothing can be assembled."""
        assembled = self._assembled(interrupted=False)
        if assembled.finish["kind"] in _FAILED:
            return Answer(self._settle_attempt(), [], assembled.finish)
        event = self._append_message(assembled, {})
        return Answer(event, assembled.content, assembled.finish)

    def _settle_cut_off(self) -> None:
        """Keep what was visible as a message, or the stream alone when nothing was (rule `loop/settle-cut-off`).

        Raises:
            StreamError: something is visible beside a block that cannot be assembled. Nothing is logged then.
        """
        assembled = self._assembled(interrupted=True)
        if assembled.content:
            self._assembled(interrupted=False)
            self._append_message(assembled, {"interrupted": True})
        else:
            self._settle_attempt()

    def _settle_attempt(self) -> Event:
        place = {"turn": self._turn.number, "step": self._turn.step}
        data = {**place, "stream": accumulate(self._chunks)}
        self._settlement = self._session.append("assistant/attempt", data)
        return self._settlement

    def _append_message(self, assembled: Assembled, members: Json) -> Event:
        message = self._session.make.assistant_message(
            assembled.content,
            provider=self._config["provider"],
            model=self._config["model"],
            replay_state=assembled.replay_state,
        )
        if assembled.usage is not None:
            members = {**members, "usage": assembled.usage}
        stream = accumulate(self._chunks)
        self._settlement = self._session.append_message(message, **members, stream=stream)
        return self._settlement

    def _assembled(self, *, interrupted: bool) -> Assembled:
        return assemble((chunk for _, chunk in self._chunks), interrupted=interrupted)


async def close(stream: AsyncIterator[Json]) -> None:
    """Have nothing more of a stream, also in a task that is cancelled."""
    aclose = getattr(stream, "aclose", None)
    if aclose is not None:
        with anyio.move_on_after(_CLOSING, shield=True):
            await aclose()
