"""An answer while it streams, and the event that it is settled as."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from dsh_protocol.rows import Event
from dsh_protocol.session import Session
from dsh_protocol.streams import Assembled, TimedChunk, accumulate, assemble

Json: TypeAlias = dict[str, Any]

_FAILED = frozenset({"error", "aborted"})


@dataclass(slots=True)
class Recorder:
    """The chunks of one answer so far, each with the time (ms since 1970) at which it came."""

    clock: Callable[[], int]
    chunks: list[TimedChunk] = field(default_factory=list)

    def take(self, chunk: Json) -> int:
        """Keep a chunk; its time."""
        time = self.clock()
        self.chunks.append((time, chunk))
        return time

    @property
    def is_finished(self) -> bool:
        """Whether the answer has said that it is complete."""
        return bool(self.chunks) and self.chunks[-1][1]["type"] == "finish"

    def assembled(self, *, interrupted: bool = False) -> Assembled:
        """What the chunks amount to."""
        return assemble((chunk for _, chunk in self.chunks), interrupted=interrupted)


@dataclass(frozen=True, slots=True)
class Answer:
    """A settled answer: its event, the blocks of it, and how it ended."""

    event: Event
    content: list[Json]
    finish: Json

    @property
    def failure(self) -> Json | None:
        """The failure object of an answer that did not come; null for one that did."""
        failure: Json = self.finish.get("failure", {})
        return failure if self.finish["kind"] in _FAILED else None


def settle(session: Session, recorder: Recorder, config: Json) -> Answer:
    """Log an answer that has ended: as a message, or as an attempt when it failed.

    Raises:
        StreamError: the chunks are none of a stream.
        RefusedError: the event breaks rules.
    """
    assembled = recorder.assembled()
    if assembled.finish["kind"] in _FAILED:
        return Answer(settle_attempt(session, recorder), [], assembled.finish)
    event = _append_message(session, recorder, assembled, config, {})
    return Answer(event, assembled.content, assembled.finish)


def settle_interrupted(session: Session, recorder: Recorder, config: Json) -> Event:
    """Log an answer that was cut off by us: what was visible of it as a message, or the stream alone when nothing was."""
    assembled = recorder.assembled(interrupted=True)
    if not assembled.content:
        return settle_attempt(session, recorder)
    return _append_message(session, recorder, assembled, config, {"interrupted": True})


def settle_attempt(session: Session, recorder: Recorder) -> Event:
    """Log an answer that is no part of the history."""
    return session.append(
        "assistant/attempt",
        {
            "turn": session.open_turn,
            "step": session.open_step,
            "stream": accumulate(recorder.chunks),
        },
    )


def _append_message(
    session: Session, recorder: Recorder, assembled: Assembled, config: Json, members: Json
) -> Event:
    message = session.make.assistant_message(
        assembled.content,
        provider=config["provider"],
        model=config["model"],
        replay_state=assembled.replay_state,
    )
    if assembled.usage is not None:
        members = {**members, "usage": assembled.usage}
    return session.append_message(message, **members, stream=accumulate(recorder.chunks))
