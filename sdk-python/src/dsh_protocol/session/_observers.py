"""Who is told of new events."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Observer: TypeAlias = "Callable[[Event], None]"
ReportFailure: TypeAlias = "Callable[[Event, Exception], None]"

_LOGGER = logging.getLogger("dsh_protocol.session")


def log_failure(event: Event, error: Exception) -> None:
    """Write an observer's failure to the logger `dsh_protocol.session`."""
    _LOGGER.error("an observer failed at event %d (%s)", event.seq, event.type, exc_info=error)


class Observers:
    """Tells each observer of each event, whatever the others do."""

    __slots__ = ("_observers", "_report", "are_being_told")

    def __init__(self, report: ReportFailure) -> None:
        self._observers: dict[object, Observer] = {}
        self._report = report
        self.are_being_told = False

    def add(self, observer: Observer) -> Callable[[], None]:
        """Add an observer; calling the result takes it out again."""
        key = object()
        self._observers[key] = observer
        return lambda: self._observers.pop(key, None) and None

    def tell(self, event: Event) -> None:
        """Tell all observers of an event that is in the log.

        An exception is reported and the next observer told. What is no `Exception` (an interrupt) goes on to the
        caller once all have been told.
        """
        interrupts: list[BaseException] = []
        self.are_being_told = True
        try:
            for observer in list(self._observers.values()):
                try:
                    observer(event)
                except Exception as error:
                    self._report(event, error)
                except BaseException as error:
                    interrupts.append(error)
        finally:
            self.are_being_told = False
        if interrupts:
            raise interrupts[0]
