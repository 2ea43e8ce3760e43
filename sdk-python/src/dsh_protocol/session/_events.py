"""A range of the events of a session, as it stood when it was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from dsh_protocol.rows import Event


class EventRange(Sequence["Event"]):
    """Events from `start` up to `stop` (excluded) of a log. It costs no copy, and later appends do not change it."""

    __slots__ = ("_events", "_span")

    def __init__(self, events: list[Event], start: int, stop: int) -> None:
        self._events = events
        self._span = range(start, stop)

    def __len__(self) -> int:
        return len(self._span)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | Sequence[Event]:
        found = self._span[index]
        if isinstance(found, int):
            return self._events[found]
        return [self._events[seq] for seq in found]

    def __repr__(self) -> str:
        return f"<EventRange {self._span.start}..{self._span.stop}>"
