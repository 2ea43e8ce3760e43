"""A log that a loop wrote, written again by our projections: what they add has to be what stands there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dsh_protocol.projections import Attempt, RequestProjections
from dsh_protocol.rows import Event
from dsh_protocol.session import Session

Json = dict[str, Any]

PROJECTED = frozenset(
    {"system/message", "request/header", "developer/message", "request/context"}
)
"""The event types that only projections write; user messages may come from anywhere."""


@dataclass(frozen=True)
class Given:
    """An attempt of a log, which wrote the events from number `start` up to `stop` (excluded).

    `pre` is where its pre-step hook ran, and `context_at` where a hook put the runtime context among the messages (null: last).
    """

    start: int
    stop: int
    pre: int
    attempt: Attempt
    context_at: int | None = None


def logical(event: Event) -> Json:
    """What an event says, without its time and without the ids of messages that projections make."""
    value = {name: event.value[name] for name in event.value if name != "time"}
    data = event.data
    if event.type in PROJECTED and "message" in data:
        data = {**data, "message": {**data["message"], "id": None}}
    return {**value, "data": data}


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
    """Writes a log again: attempts by projections, and everything else as it stands there."""

    def __init__(self, session: Session, events: Sequence[Event], attached: Iterable[int]) -> None:
        self.session = session
        self.added: list[Event] = []
        """What the projections wrote."""
        self._events = events
        self._attached = set(attached)
        self._loop: RequestProjections | None = None

    def write(self, attempts: Iterable[Given]) -> None:
        """Write the whole log. Every attempt has to add what the log has in its place."""
        for given in attempts:
            entered = self._enter(given)
            self._copy_up_to(given.start)
            self._admit(given, entered)
        self._copy_up_to(len(self._events))

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

    def _enter(self, given: Given) -> list[Json]:
        """The decision of the pre-step hook."""
        attempt = given.attempt
        if not attempt.is_first:
            return []
        self._copy_up_to(given.pre)
        users = [self._events[seq] for seq in range(given.start, given.stop)]
        users = [event for event in users if event.type == "user/message"]
        is_context = self.session.dialect.is_context
        messages = [e.data for e in users if not is_context(e.data["source"])]
        entered = self.loop.enter(messages, attempt.snapshot, attempt.sections)
        if given.context_at is not None and len(entered) > len(messages):
            entered.insert(given.context_at, entered.pop())
        return entered

    def _admit(self, given: Given, entered: list[Json]) -> None:
        added = self.loop.admit(replace(given.attempt, messages=entered))
        there = self._events[given.start : given.stop]
        assert self._shown(added) == self._shown(there)
        self.added += added

    def _shown(self, events: Iterable[Event]) -> list[Json]:
        shown = []
        for event in events:
            value = logical(event)
            is_context = self.session.dialect.is_context
            if event.type == "user/message" and is_context(event.data["source"]):
                value["data"] = {**event.data, "id": None}
            shown.append(value)
        return shown

    def _copy_up_to(self, seq: int) -> None:
        while self.session.next_seq < seq:
            if self.session.next_seq in self._attached:
                _ = self.loop
            copy(self.session, self._events[self.session.next_seq])
