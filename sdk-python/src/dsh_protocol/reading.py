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
from .state.seeds import END_SEED, is_inherited_marker

_FIRST_ROW = 2
"""The line of the event with seq 0."""


class ReadEffects:
    """What the released reader of a log's format does, given what was found in the log.

    `cut` is the line of the first row that it cannot take: it drops that row and all later ones (null: it takes all).
    """

    def __init__(self, log: Log, findings: Iterable[Finding]) -> None:
        self._log = log
        self._version = log.dialect.version
        # What only follows from another finding says nothing about the reader, who may take that event.
        self._findings = [f for f in findings if f.severity == "error" and f.because is None]
        dropped = (f.line for f in self._findings if self._effect(f) == "drop-tail")
        self.cut = min((line for line in dropped if line is not None), default=None)

    def refusals(self) -> list[Finding]:
        """The findings for which the reader refuses the log."""
        return [f for f in self._findings if self._refuses(f)] + list(self.committed())

    def committed(self) -> Iterator[Finding]:
        """What follows from the cut: the row there was committed, or the inherited marker stands behind it.

        A row is committed in a complete compressed frame, or when a turn ends at or after it; then history is damaged.
        """
        if self.cut is None:
            return
        because = self.cut - _FIRST_ROW
        if self._log.complete_lines is not None and self.cut <= self._log.complete_lines:
            yield from _note("storage/committed-frame", self.cut, because)
            return
        end = next((e for e in self._behind() if e.type == "turn/end"), None)
        if end is not None:
            yield from _note("storage/committed-history", self.cut, because, end_line=end.line)
        elif self._log.header.is_seeded and self._drops_marker():
            yield from _note("seed/marker-missing", 1, because, path="/isSeeded")

    def _behind(self) -> Iterator[Event]:
        """The events in the rows that the reader drops."""
        cut = self.cut
        return (e for e in self._log.events if cut is not None and (e.line or 0) >= cut)

    def _drops_marker(self) -> bool:
        """Whether every inherited marker stands in a row that the reader drops."""
        behind = list(self._behind())
        kept = self._log.events[: len(self._log.events) - len(behind)]
        return any(map(_is_marker, behind)) and not any(map(_is_marker, kept))

    def _effect(self, finding: Finding) -> str:
        return rule(finding.rule).read_effect(self._version)

    def _refuses(self, finding: Finding) -> bool:
        """Rows that the reader drops cannot make it refuse the log, unless it looks into them all the same."""
        effect = self._effect(finding)
        if effect == "accept":
            return False
        inside = self.cut is None or finding.line is None or finding.line < self.cut
        if effect == "refuse" and inside:
            return True
        return rule(finding.rule).is_hard(self._version, self._types.get(finding.line, ""))

    @cached_property
    def _types(self) -> dict[int | None, str]:
        return {event.line: event.type for event in self._log.events}


def _is_marker(event: Event) -> bool:
    return event.type == END_SEED and is_inherited_marker(event.data)


def _note(rule_id: str, line: int, because: int, **more: Any) -> Iterator[Finding]:
    if is_active(rule_id):
        yield refuse(rule_id, line=line, because=because, **more)


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
