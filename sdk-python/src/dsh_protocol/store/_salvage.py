"""The valid beginning of a damaged log, and an account of what was left out. Never done by itself: somebody asks for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsh_protocol.findings import Finding, RefusedError
from dsh_protocol.jsonvalue import is_count
from dsh_protocol.reading import UNREAD
from dsh_protocol.rows import Event, Log
from dsh_protocol.rules import rule
from dsh_protocol.state import LogState

_FIRST_ROW = 2
"""The line of the event with seq 0."""
_CURED = frozenset(
    {
        "storage/frame-header",
        "storage/mixed-compression",
        "storage/path-project",
        "storage/path-session",
    }
)
"""What is wrong with the file or its place and not with a row: writing the rows anew mends it."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a salvage leaves out: complete rows with their events by type and the first and last number among them, and
    the bytes at the end of the file of which no row was read.
    """

    rows: int
    types: dict[str, int]
    first_seq: int | None
    last_seq: int | None
    unread_bytes: int

    def to_json(self) -> dict[str, Any]:
        """This account as a JSON object."""
        return {
            "rows": self.rows,
            "types": self.types,
            "firstSeq": self.first_seq,
            "lastSeq": self.last_seq,
            "unreadBytes": self.unread_bytes,
        }


@dataclass(frozen=True, slots=True)
class Salvage:
    """`events` are the longest beginning of a log that its released reader takes; `reasons` say why it ends where it does,
    and are empty when all rows are there.
    """

    log: Log
    events: Sequence[Event]
    reasons: tuple[Finding, ...]
    left_out: LeftOut

    @property
    def is_whole(self) -> bool:
        """Whether nothing was left out."""
        return not self.reasons and not self.left_out.unread_bytes


def salvage(log: Log) -> Salvage:
    """The valid beginning of a log.

    Raises:
        RefusedError: no beginning of it is a log, because what it inherited is not all there.
    """
    decides = [f for f in log.findings if _decides(log, f, "") and f.rule not in _CURED]
    reasons, cut = _first(decides)
    events: Sequence[Event] = log.events
    while True:
        if cut is not None:
            events = [event for event in events if (event.line or 0) < cut]
        state, found = _fold(log, events)
        if not found:
            found = [f for f in state.finish() if _decides(log, f, "")]
        if not found:
            break
        reasons, cut = _first(found)
        if cut is None or cut < _FIRST_ROW:
            raise RefusedError(f"nothing can be salvaged: {reasons[0].message}", reasons)
    return Salvage(log, events, tuple(reasons), _left_out(log, cut))


def _fold(log: Log, events: Sequence[Event]) -> tuple[LogState, list[Finding]]:
    """The state after these events, or what is wrong with the first one that the reader does not take."""
    state = LogState(log.dialect, log.header)
    for event in events:
        found = [f for f in state.advance(event) if _decides(log, f, event.type)]
        if found:
            return state, found
    return state, []


def _decides(log: Log, finding: Finding, event_type: str) -> bool:
    """Whether the released reader drops a row for this, or refuses the log."""
    if finding.severity != "error" or finding.because is not None:
        return False
    if finding.rule in UNREAD:
        return True
    entry, version = rule(finding.rule), log.dialect.version
    return entry.read_effect(version, event_type) != "accept" or entry.is_hard(version, event_type)


def _first(findings: list[Finding]) -> tuple[list[Finding], int | None]:
    """The findings about the first line that has any, and that line."""
    if not findings:
        return [], None
    line = min(finding.line or 0 for finding in findings)
    return [f for f in findings if (f.line or 0) == line], line or None


def _left_out(log: Log, cut: int | None) -> LeftOut:
    behind = [e for e in log.events if cut is not None and (e.line or 0) >= cut]
    seqs = [event.seq for event in behind if is_count(event.seq)]
    return LeftOut(
        rows=0 if cut is None else log.stats["rows"] - (cut - _FIRST_ROW),
        types=dict(sorted(Counter(event.type for event in behind).items())),
        first_seq=min(seqs, default=None),
        last_seq=max(seqs, default=None),
        unread_bytes=log.stats["tornBytes"],
    )
