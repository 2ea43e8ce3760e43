"""What a live agent shows while it works. Nothing of this is in the log but the events that `Committed` carries."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import anyio

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Json: TypeAlias = dict[str, Any]
Status: TypeAlias = Literal["idle", "running"]

_KEPT = 256
_TEXTS = {"text-delta": "text", "reasoning-delta": "text", "tool-call-delta": "argumentsDelta"}


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """The agent has begun to work, or has nothing left to do."""

    status: Status


@dataclass(frozen=True, slots=True)
class Committed:
    """An event is in the log."""

    event: Event


@dataclass(frozen=True, slots=True)
class StreamStart:
    """A request was sent. `revision` counts the requests of this agent from 1, `attempt_id` is `<session>:<revision>`."""

    attempt_id: str
    revision: int
    turn: int
    step: int


@dataclass(frozen=True, slots=True)
class StreamChunk:
    """One chunk of an answer: number `index` (from 0) of the request, received at `time` (milliseconds since 1970).

    A reader that does not keep up gets several deltas of one block as one; `index` and `time` are then those of the last.
    """

    attempt_id: str
    revision: int
    index: int
    time: int
    chunk: Json

    @property
    def text(self) -> str:
        """The text that this chunk adds to the answer; empty for all but text deltas."""
        return str(self.chunk["text"]) if self.chunk["type"] == "text-delta" else ""


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """An answer has ended after `index` chunks, settled as event `seq` of type `event_type`; null: nothing was logged."""

    attempt_id: str
    revision: int
    index: int
    event_type: str | None = None
    seq: int | None = None


Frame: TypeAlias = StatusChanged | Committed | StreamStart | StreamChunk | StreamEnd


class FrameStream:
    """The frames of an agent from now on, for one reader: an asynchronous iterator. `aclose` ends it.

    Frames wait here until they are read. A reader that falls behind loses nothing, it gets larger deltas.
    """

    def __init__(self, forget: Callable[[FrameStream], None], *, until_idle: bool = False) -> None:
        self._forget = forget
        self._until_idle = until_idle
        self._frames: deque[Frame] = deque()
        self._news = anyio.Event()
        self._ended = False

    def __aiter__(self) -> FrameStream:
        return self

    async def __anext__(self) -> Frame:
        while not self._frames:
            if self._ended:
                raise StopAsyncIteration
            await self._news.wait()
            self._news = anyio.Event()
        return self._frames.popleft()

    async def aclose(self) -> None:
        """Have no more frames."""
        self.end()
        self._frames.clear()

    def put(self, frame: Frame) -> None:
        """Add a frame for the reader."""
        if self._ended:
            return
        if len(self._frames) >= _KEPT and (merged := _merged(self._frames[-1], frame)):
            self._frames[-1] = merged
        else:
            self._frames.append(frame)
        self._news.set()
        if self._until_idle and frame == StatusChanged("idle"):
            self.end()

    def end(self) -> None:
        """Have no frames beyond those that wait."""
        self._ended = True
        self._news.set()
        self._forget(self)


class Frames:
    """All readers of one agent."""

    def __init__(self) -> None:
        self._streams: list[FrameStream] = []

    def stream(self, *, until_idle: bool = False) -> FrameStream:
        """A reader of the frames from now on; `until_idle`: up to the next time that the agent is idle."""
        stream = FrameStream(self._forget, until_idle=until_idle)
        self._streams.append(stream)
        return stream

    def put(self, frame: Frame) -> None:
        """Give a frame to every reader."""
        for stream in tuple(self._streams):
            stream.put(frame)

    def end(self) -> None:
        """Give no more frames to anyone."""
        for stream in tuple(self._streams):
            stream.end()

    def _forget(self, stream: FrameStream) -> None:
        if stream in self._streams:
            self._streams.remove(stream)


def _merged(last: Frame, frame: Frame) -> Frame | None:
    """Two deltas of one block as one, null when they are not that."""
    if not isinstance(last, StreamChunk) or not isinstance(frame, StreamChunk):
        return None
    name = _TEXTS.get(frame.chunk["type"])
    if name is None or last.revision != frame.revision or not _is_same_run(last.chunk, frame.chunk):
        return None
    return replace(frame, chunk={**last.chunk, name: last.chunk[name] + frame.chunk[name]})


def _is_same_run(last: Json, chunk: Json) -> bool:
    return all(last.get(name) == chunk.get(name) for name in ("type", "index", "id", "name"))
