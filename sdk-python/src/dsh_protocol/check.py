"""Check a stored log: every row, every rule, every schema, all findings, and the verdicts that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

from .findings import Finding, FindingJson, StorageError, UnsupportedFormatError
from .reading import ReadEffects
from .rows import (
    Event,
    Log,
    ReadLimits,
    find_logs,
    open_log,
    paused_gc,
    release_payloads,
)
from .rules import refuse, rule
from .schemas import Validator, without_repeats
from .screening import Screen
from .state import LogState
from .verdicts import Verdicts, judge, unusable

Tick = Callable[[int, int], None]

MAX_FINDINGS = 1000
"""The most findings that a report of one log has."""
_MAX_KEPT = 10_000
_MAX_DECISIVE = 100
_HARMLESS = ("accept", False, False, False)
"""The effects of a rule that decides no verdict."""
_BATCH = 1024
"""Events whose payloads are decoded, and let go of, together."""


class ReportJson(TypedDict):
    """The JSON form of a report, one per file."""

    path: str
    formatVersion: int | None
    verdicts: Verdicts
    findings: list[FindingJson]
    stats: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of checking one log. `unusable` is set when the file could not be read as a log at all."""

    path: str
    format_version: int | None
    verdicts: Verdicts
    findings: tuple[Finding, ...]
    errors: int
    """The number of errors, those included that `findings` had no place for."""
    warnings: int
    stats: dict[str, Any] = field(default_factory=dict)
    unusable: bool = False

    @classmethod
    def of_error(cls, path: str, error: StorageError) -> Report:
        """The report of a file that is no log of a format this check takes."""
        finding = Finding(
            rule=error.code,
            severity="error",
            seq=error.seq,
            line=error.line,
            path=error.path,
            message=error.message,
            fix=error.fix,
        )
        version = error.version if isinstance(error, UnsupportedFormatError) else None
        verdicts = unusable(older_format=error.code == "header/older-format")
        return cls(path, version, verdicts, (finding,), 1, 0, unusable=True)

    def to_json(self) -> ReportJson:
        """This report as a JSON object."""
        return {
            "path": self.path,
            "formatVersion": self.format_version,
            "verdicts": self.verdicts,
            "findings": [finding.to_json() for finding in self.findings],
            "stats": self.stats,
        }


def check_path(
    path: Path, *, limits: ReadLimits | None = None, tick: Tick | None = None
) -> Iterator[Report]:
    """Check one log, or every session below a directory (the highest generation of each).

    A log that is beyond use gives a report of its own and never ends the iteration.

    Raises:
        StorageError: the path does not exist, or is a directory without any log.
    """
    if not path.is_dir():
        yield check_file(path, limits=limits, tick=tick)
        return
    search = find_logs(path)
    for index, chosen in enumerate(search.chosen):
        report = check_file(chosen, limits=limits)
        report.stats.update(search.neighbours(chosen))
        if index == 0:
            # Files that lie beside no log belong to the directory as a whole; its first report has them.
            report.stats["skippedElsewhere"] = search.skipped_elsewhere()
        if tick is not None:
            tick(index + 1, len(search.chosen))
        yield report


def check_file(path: Path, *, limits: ReadLimits | None = None, tick: Tick | None = None) -> Report:
    """Check one file. Whatever its content, the result is a report and no exception."""
    try:
        log = open_log(path, limits=limits or ReadLimits())
    except StorageError as error:
        return Report.of_error(str(path), error)
    return check_log(log, path=str(path), tick=tick)


def check_log(log: Log, *, path: str = "", tick: Tick | None = None) -> Report:
    """Check an opened log against every rule and every schema of its format."""
    found = _Found(log.dialect.version, log.stats["omittedFindings"])
    found.add(log.findings)
    state = LogState(log.dialect, log.header)
    # Nothing here makes cycles, and a collection between batches would look at all nodes of the log again.
    with paused_gc():
        counts = _check_events(log, state, found, tick)
    effects = ReadEffects(log, found.kept)
    verdicts = judge(log, effects, state, found.kept)
    found.add(effects.consequences())
    return Report(
        path=path,
        format_version=log.header.version,
        verdicts=verdicts,
        findings=tuple(found.report()),
        errors=found.counts["error"],
        warnings=found.counts["warning"],
        stats=dict(log.stats) | counts,
    )


class _Found:
    """The findings of one log, a bounded number of them: a hostile log can have one for every few bytes.

    Past the bound only those are kept that may decide a verdict, some of each effect.
    """

    def __init__(self, version: int, omitted: int) -> None:
        self.kept: list[Finding] = []
        self._version = version
        self._omitted = omitted
        self._decisive: Counter[tuple[str | bool, ...]] = Counter()
        self.counts: Counter[str] = Counter()
        """How many findings there were of each severity."""

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self.counts[finding.severity] += 1
            if len(self.kept) < _MAX_KEPT or self._may_decide(finding):
                self.kept.append(finding)
            else:
                self._omitted += 1

    def _may_decide(self, finding: Finding) -> bool:
        entry = rule(finding.rule)
        effects = (
            entry.read_effect(self._version),
            entry.is_invalid(self._version),
            entry.bars_resume(self._version),
            entry.level == "provider",
        )
        self._decisive[effects] += 1
        return effects != _HARMLESS and self._decisive[effects] <= _MAX_DECISIVE

    def report(self) -> list[Finding]:
        """The first findings in the order of the log, and how many more there are."""
        ordered = sorted(self.kept, key=_place)
        shown = ordered[:MAX_FINDINGS]
        omitted = self._omitted + len(ordered) - len(shown)
        if omitted:
            shown.append(refuse("storage/too-many-findings", limit=MAX_FINDINGS, omitted=omitted))
        return shown


def _check_events(log: Log, state: LogState, found: _Found, tick: Tick | None) -> dict[str, Any]:
    """Plan and apply every event, add what is found, and count what was not looked at."""
    validator = Validator(f"session/v{log.dialect.version}/event")
    screen, take = Screen(log.dialect, validator), state.take
    counts: Counter[str] = Counter()
    for start in range(0, len(log.events), _BATCH):
        batch = log.events[start : start + _BATCH]
        gists, looked_at = screen.gists(batch), []
        found.add(screen.findings)
        for event, gist in zip(batch, gists, strict=True):
            if gist is not None and take(event, gist):
                continue
            found.add(_check_event(event, state, validator))
            looked_at.append(event)
            if _is_unchecked(event, log, validator):
                counts[event.type] += 1
        release_payloads([*looked_at, *screen.decoded])
        if tick is not None:
            tick(start + len(batch), len(log.events))
    found.add(state.finish())
    known = log.dialect.event_types
    return {
        "withoutSchema": {type_: count for type_, count in counts.items() if type_ in known},
        "opaque": {type_: count for type_, count in counts.items() if type_ not in known},
    }


def _is_unchecked(event: Event, log: Log, validator: Validator) -> bool:
    """Whether nothing looks at the event's data: its type has no schema yet, or it is opaque."""
    known = event.type in log.dialect.event_types
    return not validator.covers(event.type) and (known or event.ignorable)


def _check_event(event: Event, state: LogState, validator: Validator) -> list[Finding]:
    """Everything that is wrong with the next event of the log."""
    if not validator.covers(event.type):
        return state.advance(event)
    refused = validator.findings(event.shape)
    findings = state.advance(event)
    if not refused:
        return findings
    new = without_repeats(refused, findings)
    return [*findings, *(replace(found, seq=event.seq, line=event.line) for found in new)]


def _place(finding: Finding) -> tuple[bool, int]:
    return (finding.line is None, finding.line or 0)
