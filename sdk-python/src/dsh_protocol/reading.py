"""Read a session as the released reader would: what it takes of a log, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .findings import Finding, RefusedError, UsageError
from .rows import Event, Log, find_logs, open_log
from .rules import is_active, refuse, rule
from .state import LogState
from .state.payload import row_findings
from .state.seeds import END_SEED, is_inherited_marker

_NO_MARKER = "seed/marker-missing"
_PLACES = frozenset({"storage/path-session", "storage/path-project", "storage/mixed-compression"})
"""Rules about where a log lies, which say nothing about what it holds."""
UNREAD = frozenset({"storage/row-limit", "json/depth"})
"""Rules about rows beyond the limits here: others read such rows, but here there is nothing to write anew."""
_HEADER_LINE = 1
_FIRST_ROW = 2
"""The line of the event with seq 0."""


class ReadEffects:
    """What the released reader of a log's format does, given what was found in the log.

    `cut` is the line of the first row that it cannot take: it drops that row and all later ones (null: it takes all).
    """

    def __init__(self, log: Log, findings: Iterable[Finding]) -> None:
        self._log = log
        self._version = log.dialect.version
        findings = list(findings)
        self._has_noted_marker = any(f.rule == _NO_MARKER for f in findings)
        # What only follows from another finding says nothing about the reader, who may take that event.
        self._findings = [f for f in findings if f.because is None]
        self._followers = [f for f in findings if f.because is not None]
        dropping = [f for f in self._findings if f.line is not None and self._drops(f)]
        self._first = min(dropping, key=lambda f: f.line or 0, default=None)
        self.cut = None if self._first is None else self._first.line

    def refusals(self) -> list[Finding]:
        """The findings for which the reader refuses the log."""
        return [f for f in self._findings if self._refuses(f)] + list(self._from_the_whole())

    def is_valid(self) -> bool:
        """Whether the official catalog restores the log, every row of it, under its current validation."""
        return not any(rule(f.rule).is_invalid(self._version) for f in self._findings)

    def is_resumable(self) -> bool:
        """Whether the released runtime continues the log, given that its reader takes it.

        Where a rule itself says that it bars, so does what follows from an event that the runtime takes: such rules see
        a log as it was meant, with every event in it.
        """
        if any(self._bars(f) for f in self._findings):
            return False
        return not any(rule(f.rule).resume is not None and self._bars(f) for f in self._followers)

    def unread(self) -> list[Finding]:
        """The findings about rows that the reader takes, and that are beyond the limits here."""
        return [f for f in self._findings if f.rule in UNREAD and self._is_inside(f)]

    def kept(self) -> Iterator[Event]:
        """The events in the rows that the reader does not drop."""
        cut = self.cut
        return (e for e in self._log.events if cut is None or (e.line or 0) < cut)

    def consequences(self) -> Iterator[Finding]:
        """What follows from the cut, beside what was found already."""
        for finding in self._from_the_whole():
            if finding.rule != _NO_MARKER or not self._has_noted_marker:
                yield finding

    def _from_the_whole(self) -> Iterator[Finding]:
        """What the rows that the reader keeps are refused for as a whole.

        The row at the cut was committed (it stands in a complete compressed frame, or a turn ends at or after it), so
        that history is damaged; or a seeded log lacks its inherited marker among the rows that are kept.
        """
        if self.cut is not None:
            frames = self._log.complete_lines
            if frames is not None and self.cut <= frames:
                yield from self._note("storage/committed-frame", self.cut)
                return
            end = next((e for e in self._behind() if e.type == "turn/end"), None)
            if end is not None:
                yield from self._note("storage/committed-history", self.cut, end_line=end.line)
                return
        if self._log.header.is_seeded and not self._has_marker():
            yield from self._note(_NO_MARKER, _HEADER_LINE, path="/isSeeded")

    def _has_marker(self) -> bool:
        """Whether the reader sees an inherited marker; also one in the first row that it drops, when it does so for the
        surface members of the row alone: it looks at them last (format 3)."""
        if any(map(_is_marker, self.kept())):
            return True
        first = next(self._behind(), None)
        if first is None or not _is_marker(first):
            return False
        dropping = [f for f in self._findings if f.line == self.cut and self._drops(f)]
        return all(f.rule.startswith("surface/") for f in dropping)

    def _note(self, rule_id: str, line: int, **more: Any) -> Iterator[Finding]:
        if is_active(rule_id):
            yield refuse(rule_id, line=line, because=self._because(), **more)

    def _because(self) -> int | None:
        """The number of the event at the cut, or the one it should have."""
        if self._first is None or self.cut is None:
            return None
        return self.cut - _FIRST_ROW if self._first.seq is None else self._first.seq

    def _behind(self) -> Iterator[Event]:
        """The events in the rows that the reader drops."""
        cut = self.cut
        return (e for e in self._log.events if cut is not None and (e.line or 0) >= cut)

    def _drops(self, finding: Finding) -> bool:
        return self._effect(finding) == "drop-tail"

    def _effect(self, finding: Finding) -> str:
        return rule(finding.rule).read_effect(self._version, self._types.get(finding.line, ""))

    def _refuses(self, finding: Finding) -> bool:
        """Rows that the reader drops cannot make it refuse the log, unless it looks into them all the same."""
        effect = self._effect(finding)
        if effect == "accept":
            return False
        if effect == "refuse" and self._is_inside(finding):
            return True
        return rule(finding.rule).is_hard(self._version, self._types.get(finding.line, ""))

    def _bars(self, finding: Finding) -> bool:
        return rule(finding.rule).bars_resume(self._version) and self._is_inside(finding)

    def _is_inside(self, finding: Finding) -> bool:
        """Whether a finding is about what the reader keeps."""
        return self.cut is None or finding.line is None or finding.line < self.cut

    @cached_property
    def _types(self) -> dict[int | None, str]:
        return {event.line: event.type for event in self._log.events}


def _is_marker(event: Event) -> bool:
    return event.type == END_SEED and is_inherited_marker(event.data)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The events of a log that the released reader takes, and the state after them.

    `warnings` says what it left out, or did not mind, `unread` which rows it takes whose events are not here, because they
    are beyond the limits.
    """

    log: Log
    events: Sequence[Event]
    state: LogState
    warnings: tuple[Finding, ...]
    unread: tuple[Finding, ...] = ()

    def require_whole(self) -> None:
        """Make sure that all events are here, before somebody writes from them.

        Raises:
            RefusedError: `storage/row-limit`, `json/depth`: rows were not read.
        """
        if self.unread:
            raise RefusedError(
                f"the log was not read in full: {self.unread[0].message}", self.unread
            )


def session_path(path: Path) -> Path:
    """A log, or the log of the one session that a directory holds (its highest generation).

    Raises:
        UsageError: `reading/several-sessions`, when the directory holds more than one session.
        StorageError: the directory holds none.
    """
    if not path.is_dir():
        return path
    search = find_logs(path)
    if len(search.chosen) > 1:
        raise UsageError(
            "reading/several-sessions",
            f"the directory holds {len(search.chosen)} sessions",
            fix="Name one of them.",
        )
    return search.chosen[0]


def open_session(path: Path) -> Log:
    """Open a log, or the one session that a directory holds (its highest generation).

    Raises:
        UsageError: `reading/several-sessions`, when the directory holds more than one session.
        StorageError: the file cannot be used as a log.
    """
    return open_log(session_path(path))


def accept(log: Log) -> Accepted:
    """The events of `log` that count, by the rules of envelope and surface (and, in format 3, what else makes its reader drop a
    row; other payloads are not looked at).

    A log that lies at another place than its header says is read all the same; that is a warning here.

    Raises:
        RefusedError: the released reader refuses the log; all reasons are in its `findings`.
    """
    state, found = _fold(log, log.events)
    findings = [*log.findings, *found, *row_findings(log.dialect, log.events)]
    effects = ReadEffects(log, findings)
    refusals = [refusal for refusal in effects.refusals() if refusal.rule not in _PLACES]
    if refusals:
        raise RefusedError(f"the log cannot be read: {refusals[0].message}", refusals)
    events: Sequence[Event] = log.events
    if effects.cut is not None:
        events = [event for event in events if (event.line or 0) < effects.cut]
        state, _ = _fold(log, events)
    return Accepted(log, events, state, tuple(findings), tuple(effects.unread()))


def replay(accepted: Accepted, *, before: int) -> LogState:
    """The state after the accepted events with a seq below `before`.

    Raises:
        UsageError: `reading/no-such-seq`: the log has fewer events.
    """
    total = len(accepted.events)
    if not 0 <= before <= total:
        raise UsageError(
            "reading/no-such-seq",
            f"seq {before} is outside this log",
            fix=f"Name a seq from 0 to {total}.",
        )
    state, _ = _fold(accepted.log, accepted.events[:before])
    return state


def _fold(log: Log, events: Iterable[Event]) -> tuple[LogState, list[Finding]]:
    state = LogState(log.dialect, log.header, rules="envelope")
    return state, state.extend(events)
