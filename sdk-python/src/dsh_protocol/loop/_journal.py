"""Stores what a session is given while an agent works on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import anyio
from anyio import to_thread

from dsh_protocol.session import Session

if TYPE_CHECKING:
    from dsh_protocol.rows import Event


class EventWriter(Protocol):
    """What appends to a stored log, such as a writer of `dsh_protocol.store`."""

    @property
    def count(self) -> int:
        """How many events are stored."""
        ...

    def append(self, events: Sequence[Event]) -> object:
        """Store events durably, all or none."""
        ...


class Journal(Protocol):
    """What an agent waits for before each step, each request and each tool call, and at the end of each turn."""

    async def flush(self) -> None:
        """Store what is new.

        Raises:
            StoreError: it could not be stored; nothing of it was.
        """
        ...


class StoreJournal:
    """Writes the events of one session to its store, in batches, off the event loop.

    What an agent does outside of the log is then never ahead of it.
    """

    def __init__(self, session: Session, writer: EventWriter) -> None:
        self._session = session
        self._writer = writer
        self._lock = anyio.Lock()

    async def flush(self) -> None:
        """Store what is new.

        Raises:
            StoreError: it could not be stored; nothing of it was.
        """
        async with self._lock:
            new = self._session.events_between(self._writer.count, self._session.next_seq)
            if new:
                await to_thread.run_sync(self._writer.append, list(new))
