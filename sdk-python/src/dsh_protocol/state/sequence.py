"""The events of a log as a sequence: the envelope, number and type of each, and nothing of what it says.

Enough to know where a log ends and what comes next, in memory that does not grow with the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_protocol.dialect import Dialect
from dsh_protocol.findings import Finding

from . import seeds
from ._losses import Losses
from ._report import Report
from .envelope import (
    APPEND,
    Numbering,
    check_metadata,
    check_row,
    counted_seq,
    own_seq,
)

if TYPE_CHECKING:
    from dsh_protocol.rows import Event, Header


class EventSequence:
    """Checks one event after the other. What it finds is what `LogState` with `rules="envelope"` finds,
    without the surface: which nodes an event replaces is not looked at.
    """

    def __init__(self, dialect: Dialect, header: Header, *, next_seq: int = 0) -> None:
        self._dialect = dialect
        self._header = header
        self._losses = Losses()
        self._numbering = Numbering()
        self._numbering.expected = next_seq
        self._quiet = dialect.event_types - dialect.surface_types - {seeds.END_SEED}

    @property
    def next_seq(self) -> int:
        """The number that the next event has to have."""
        return self._numbering.expected

    def advance(self, event: Event) -> list[Finding]:
        """Everything that is wrong with the next event; the sequence goes on behind it."""
        numbering = self._numbering
        if self._is_ordinary(event) and numbering.is_next(event.seq, event.line):
            numbering.expected += 1
            return []
        findings = self.check(event)
        seq = counted_seq(event, numbering.expected)
        seq = numbering.note(seq, event.line, self._losses)
        if seq is not None and any(finding.severity == "error" for finding in findings):
            self._losses.refuse(seq, event.type, ())
        return findings

    def check(self, event: Event) -> list[Finding]:
        """Everything that is wrong with an event as the next one."""
        report = Report(self._dialect.version, own_seq(event), event.line)
        standing, seq = check_row(report, self._dialect, event, self._numbering, self._losses)
        if standing == "known":
            check_metadata(report, self._dialect, event, seq)
            if event.type == seeds.END_SEED:
                seeds.check(report, event.data, self._header)
        return report.findings

    def _is_ordinary(self, event: Event) -> bool:
        """Whether nothing can be wrong with an event but its number. Most events are ordinary."""
        if not event.well_formed or event.encoded_seqs is not None:
            return False
        operation = event.surface_op
        if operation is None:
            return event.type in self._quiet
        return operation == APPEND and event.type in self._dialect.surface_types
