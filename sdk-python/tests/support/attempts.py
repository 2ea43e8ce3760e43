"""A log that a loop wrote, written again by our projections: what they add has to be what stands there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dsh_protocol.dialect import Dialect
from dsh_protocol.projections import Attempt, RequestProjections
from dsh_protocol.prompt import ContextText, join_context_sections
from dsh_protocol.rows import Event
from dsh_protocol.session import Session

Json = dict[str, Any]

PROJECTED = frozenset({"system/message", "request/header", "developer/message", "request/context"})
"""The event types that only projections write; user messages may come from anywhere."""


@dataclass(frozen=True)
class Given:
    """An attempt of a log, which wrote the events from number `start` up to `stop` (excluded).

    `pre` is where its pre-step hook ran, `entered` the runtime context of that moment (null: as in the attempt), and
    `context_at` where a hook put the message with it among the others (null: last).
    """

    start: int
    stop: int
    pre: int
    attempt: Attempt
    entered: Sequence[Mapping[str, str]] | None = None
    context_at: int | None = None


def snapshot(sections: Iterable[Mapping[str, str]]) -> str:
    """The text of a runtime context."""
    return join_context_sections(ContextText(each["name"], each["text"]) for each in sections)


def logical(event: Event, dialect: Dialect) -> Json:
    """What an event says, without its time and without the id of a message that a projection makes."""
    value = {name: event.value[name] for name in event.value if name != "time"}
    data = event.data
    if event.type in PROJECTED and "message" in data:
        value["data"] = {**data, "message": {**data["message"], "id": None}}
    elif event.type == "user/message" and dialect.is_context(data["source"]):
        value["data"] = {**data, "id": None}
    return value


def copy(session: Session, event: Event) -> None:
    """Append what another log has."""
    session.append(
        event.type,
        event.data,
        surface_op=event.surface_op,
        source_event_seqs=event.source_event_seqs,
        ignorable=event.ignorable,
        time=event.time,
    )


class Rewriter:
    """Writes a log again: attempts by projections, and everything else as it stands there.

    `attached` are the numbers of events at which a loop begins to write.
    """

    def __init__(self, session: Session, events: Sequence[Event], attached: Iterable[int]) -> None:
        self.session = session
        self.added: list[Event] = []
        """What the projections wrote."""
        self._events = events
        self._attached = set(attached)
        self._loop: RequestProjections | None = None

    @property
    def loop(self) -> RequestProjections:
        """The projections of the loop that is attached now."""
        if self.session.next_seq in self._attached:
            self._attached.discard(self.session.next_seq)
            if self._loop is not None:
                self._loop.close()
            self._loop = RequestProjections(self.session)
        assert self._loop is not None
        return self._loop

    def admit(self, given: Given) -> None:
        """Write up to this attempt, and the attempt, which has to add what the log has in its place."""
        entered = self._enter(given)
        self.copy_up_to(given.start)
        added = self.loop.admit(replace(given.attempt, messages=entered))
        there = self._events[given.start : given.stop]
        dialect = self.session.dialect
        assert [logical(e, dialect) for e in added] == [logical(e, dialect) for e in there]
        self.added += added

    def copy_up_to(self, seq: int) -> None:
        """Copy the log up to an event (excluded)."""
        while self.session.next_seq < seq:
            if self.session.next_seq in self._attached:
                _ = self.loop
            copy(self.session, self._events[self.session.next_seq])

    def _enter(self, given: Given) -> list[Json]:
        """The messages that the pre-step hook decides on."""
        if not given.attempt.is_first:
            return []
        self.copy_up_to(given.pre)
        users = [e for e in self._events[given.start : given.stop] if e.type == "user/message"]
        is_context = self.session.dialect.is_context
        messages = [event.data for event in users if not is_context(event.data["source"])]
        sections = given.attempt.sections if given.entered is None else given.entered
        entered = self.loop.enter(messages, snapshot(sections), sections)
        if given.context_at is not None and len(entered) > len(messages):
            entered.insert(given.context_at, entered.pop())
        return entered
