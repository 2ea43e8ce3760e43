"""Events of one log folded in one go: for callers who have events and want one answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dsh_protocol.dialect import Dialect
from dsh_protocol.findings import RefusedError

from .log import LogState
from .surface import MessageView, Surface

if TYPE_CHECKING:
    from dsh_protocol.rows import Event


def fold_surface(events: Iterable[Event], dialect: Dialect) -> Surface:
    """The surface that the events of a log, from seq 0 on, make.

    Raises:
        RefusedError: events break rules of the envelope or of the surface; all findings.
    """
    state = LogState(dialect, rules="envelope")
    findings = state.extend(events)
    if any(finding.severity == "error" for finding in findings):
        raise RefusedError("the events make no surface", findings)
    return state.surface


def derive_messages(events: Iterable[Event], dialect: Dialect) -> MessageView:
    """The messages that the events of a log, from seq 0 on, make.

    Raises:
        RefusedError: events break rules of the envelope or of the surface; all findings.
    """
    return fold_surface(events, dialect).messages()
