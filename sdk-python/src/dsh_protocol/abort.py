"""Signals that ask running work to stop, with the cause that is written into the log.

Work that was started is asked, not torn down: it looks at `aborted`, waits for `wait`, or runs inside `cancel_on`.
Works in every event loop that anyio knows, and needs none until something waits.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio


class AbortSignal:
    """Whether work is to stop, and why. Made by an `AbortController`; handed down to whatever may take long."""

    def __init__(self) -> None:
        self._reason: Mapping[str, Any] | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def aborted(self) -> bool:
        """Whether the work is to stop."""
        return self._reason is not None

    @property
    def reason(self) -> Mapping[str, Any] | None:
        """The cause, such as `{"kind": "user"}`; null as long as nothing is to stop."""
        return self._reason

    def on_abort(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener()` called once when the work is to stop (at once if it is already). The result ends that."""
        if self.aborted:
            listener()
            return _nothing
        self._listeners.append(listener)
        return lambda: self._forget(listener)

    async def wait(self) -> None:
        """Return once the work is to stop."""
        event = anyio.Event()
        forget = self.on_abort(event.set)
        try:
            await event.wait()
        finally:
            forget()

    def _forget(self, listener: Callable[[], None]) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    def _abort(self, reason: Mapping[str, Any]) -> None:
        self._reason = reason
        listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener()


class AbortController:
    """The one who may say that work is to stop. The first cause counts."""

    def __init__(self) -> None:
        self.signal = AbortSignal()

    def abort(self, reason: Mapping[str, Any]) -> None:
        """Ask the work to stop. Does nothing when it was asked before."""
        if not self.signal.aborted:
            self.signal._abort(reason)


@contextmanager
def cancel_on(signal: AbortSignal) -> Iterator[anyio.CancelScope]:
    """A scope whose awaits end as soon as the signal says so. Afterwards the signal tells whether it did."""
    with anyio.CancelScope() as scope:
        forget = signal.on_abort(scope.cancel)
        try:
            yield scope
        finally:
            forget()


def is_being_cancelled() -> bool:
    """Whether somebody cancels the current task, as asyncio or a scope of anyio does. For who has caught a cancellation:
    in asyncio, one may also come out of another task that was awaited.
    """
    if anyio.get_cancelled_exc_class() is not asyncio.CancelledError:
        return True
    task = asyncio.current_task()
    if task is not None and task.cancelling() > 0:
        return True
    return anyio.current_effective_deadline() == -math.inf


def _nothing() -> None:
    pass
