"""Delivery markers: what of a log its endpoint has accepted (rules `delivery/*`).

Only markers of the log's own format count: a migrated log was never delivered as it stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.jsonvalue import is_count

from ._report import Report
from ._values import count, is_text, member

if TYPE_CHECKING:
    from dsh_protocol.rows import Event, Header

MARKER = "session-log-deepseek/delivery-accepted"
_UNVERSIONED = 0


class Delivery:
    """The markers of a log that name another session. A forked session may inherit such markers, but write none."""

    __slots__ = ("_foreign", "_header")

    def __init__(self, header: Header) -> None:
        self._header = header
        self._foreign: list[Event] = []

    def check(self, report: Report, data: Mapping[str, Any], seq: int | None) -> None:
        """Look at the data of a delivery marker."""
        marked = data.get("sessionFormatVersion", _UNVERSIONED)
        if not is_count(marked):
            report.add("delivery/version", "data", "sessionFormatVersion", found=marked)
            return
        if marked != self._header.version:
            return
        through = count(data.get("throughSeq"))
        if through is None or (seq is not None and through >= seq):
            place = member(data, "throughSeq", "data")
            report.add("delivery/through-seq", *place, found=data.get("throughSeq"))
        session = data.get("sessionId")
        if not is_text(session) or (self._is_foreign(data) and not self._header.parent_session):
            self._refuse(report, data)

    def apply(self, event: Event) -> None:
        """Remember a marker of another session until it is known to be inherited."""
        if self._is_foreign(event.data):
            self._foreign.append(event)

    def inherit(self) -> None:
        """All markers so far are inherited."""
        self._foreign.clear()

    def finish(self) -> list[Report]:
        """One report for each marker of another session among the session's own events."""
        reports = []
        for event in self._foreign:
            report = Report(self._header.version, event.seq, event.line)
            self._refuse(report, event.data)
            reports.append(report)
        return reports

    def _is_foreign(self, data: Mapping[str, Any]) -> bool:
        if data.get("sessionFormatVersion", _UNVERSIONED) != self._header.version:
            return False
        return bool(data.get("sessionId") != self._header.id)

    def _refuse(self, report: Report, data: Mapping[str, Any]) -> None:
        place = member(data, "sessionId", "data")
        found, expected = data.get("sessionId"), self._header.id
        report.add("delivery/session", *place, found=found, expected=expected)
