"""Read a session as the released reader would: what it takes of a log, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from .findings import Finding, RefusedError, UsageError
from .rows import Event, Log, find_logs, open_log
from .rules import is_active, refuse, rule
from .state import LogState

_FIRST_ROW = 2
"""The line of the event with seq 0."""


class ReadEffects:
    """What the released reader of a log's format does, given what was found in the log.

    `cut` is the line of the first row that it cannot take: it drops that row and all later ones (null: it takes all).
    """

    def __init__(self, log: Log, findings: Iterable[Finding]) -> None:
        self._log = log
        self._version = log.dialect.version
        self._findings = [finding for finding in findings if finding.severity == "error"]
        dropped = (f.line for f in self._findings if self._effect(f) == "drop-tail")
        self.cut = min((line for line in dropped if line is not None), default=None)

    def refusals(self) -> list[Finding]:
        """The findings for which the reader refuses the log."""
        return [f for f in self._findings if self._refuses(f)] + list(self.committed())

    def committed(self) -> Iterator[Finding]:
        """A malformed row ends the log, unless it was committed: in a complete compressed frame, or with a turn that
        ends at or after it. Then history is damaged.
        """
        cut = self.cut
        if cut is None:
            return
        because = cut - _FIRST_ROW
        if self._log.complete_lines is not None and cut <= self._log.complete_lines:
            if is_active("storage/committed-frame"):
                yield refuse("storage/committed-frame", line=cut, because=because)
            return
        later = (e for e in self._log.events if e.type == "turn/end" and (e.line or 0) >= cut)
        end = next(later, None)
        if end is not None and is_active("storage/committed-history"):
            yield refuse("storage/committed-history", line=cut, because=because, end_line=end.line)

    def _effect(self, finding: Finding) -> str:
        return rule(finding.rule).read_effect(self._version)

    def _refuses(self, finding: Finding) -> bool:
        """Rows that the reader drops cannot make it refuse the log, unless the rule is hard."""
        if self._effect(finding) != "refuse":
            return False
        if self.cut is None or finding.line is None or finding.line <= self.cut:
            return True
        return rule(finding.rule).is_hard(self._version, self._types[finding.line])

    @cached_property
    def _types(self) -> dict[int | None, str]:
        return {event.line: event.type for event in self._log.events}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The events of a log that the released reader takes, and the state after them.

    `warnings` says what it left out, or did not mind.
    """

    log: Log
    events: Sequence[Event]
    state: LogState
    warnings: tuple[Finding, ...]


def open_session(path: Path) -> Log:
    """Open a log, or the one session that a directory holds (its highest generation).

    Raises:
        UsageError: `reading/several-sessions`, when the directory holds more than one session.
        StorageError: the file cannot be used as a log.
    """
    if not path.is_dir():
        return open_log(path)
    search = find_logs(path)
    if len(search.chosen) > 1:
        raise UsageError(
            "reading/several-sessions",
            f"the directory holds {len(search.chosen)} sessions",
            fix="Name one of them.",
        )
    return open_log(search.chosen[0])


def accept(log: Log) -> Accepted:
    """The events of `log` that count, by the rules of envelope and surface (payloads are not looked at).

    Raises:
        RefusedError: the released reader refuses the log; all reasons are in its `findings`.
    """
    state, found = _fold(log, log.events)
    findings = [*log.findings, *found]
    effects = ReadEffects(log, findings)
    refusals = effects.refusals()
    if refusals:
        raise RefusedError(f"the log cannot be read: {refusals[0].message}", refusals)
    events: Sequence[Event] = log.events
    if effects.cut is not None:
        events = [event for event in events if (event.line or 0) < effects.cut]
        state, _ = _fold(log, events)
    return Accepted(log, events, state, tuple(findings))


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
