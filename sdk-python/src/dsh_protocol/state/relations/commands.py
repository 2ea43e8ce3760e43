"""Commands of the user: each runs once, and what is done was run (rules `command/*`)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.dialect import Dialect
from dsh_protocol.state._report import Report
from dsh_protocol.state._values import count, is_text, member

from ._scene import MISSING, Aspect, Scene, key

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_DIGITS = re.compile(r"0|[1-9][0-9]{0,14}", re.ASCII)
_RUN = "command/run"
_DONE = "command/done"
_SOURCE = "sourceEventSeq"
_PLACE = ("data", _SOURCE)


class Commands(Aspect):
    """The commands of a log."""

    checked = entered = frozenset({_RUN, _DONE})

    __slots__ = ("_ahead", "_dialect", "_events", "_runs")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._ahead: list[tuple[Event, int]] = []
        """What names a later event as its source, and that event, which may turn out to be a command's (format 3)."""
        self._runs: dict[Hashable, int | None] = {}
        """Per id, the refused event that made it known, null for a command that ran."""
        self._events: set[int] = set()

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a command or its end."""
        data, report = scene.data, scene.report
        id_, shown = data.get("commandId", MISSING), data.get("commandId")
        place = member(data, "commandId", "data")
        known = key(id_) in self._runs
        if not is_text(id_) and report.holds("command/id"):
            report.add("command/id", *place, found=shown)
        elif scene.type == _RUN and known:
            why = self._runs[key(id_)]
            report.add("command/run-repeated", *place, because=why, id=shown)
        elif scene.type == _DONE and not known:
            report.add("command/unknown", *place, because=scene.why_missing(), id=shown)
        if scene.type == _DONE and _SOURCE in data:
            self._check_source(scene, data[_SOURCE])

    def check_last(self, scene: Scene) -> None:
        """Report a source that is still to come."""
        source = self._named(scene.data.get(_SOURCE))
        if scene.type == _DONE and source is not None and self._is_ahead(source, scene.seq):
            self._report_source(scene.report, source)

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Remember the command."""
        self._runs.setdefault(key(data.get("commandId", MISSING)), blame)
        self._events.add(event.seq)
        if event.type != _DONE or blame not in (None, event.seq):
            return
        source = self._named(data.get(_SOURCE))
        if source is not None and self._is_ahead(source, event.seq):
            self._ahead.append((event, source))

    def finish(self) -> list[Report]:
        """The sources that stand behind the end of their command."""
        reports = []
        for event, source in self._ahead:
            report = Report(self._dialect.version, event.seq, event.line)
            self._report_source(report, source)
            reports.append(report)
        return reports

    def _is_ahead(self, source: int, own: int) -> bool:
        """Whether only what follows tells which rule a source breaks."""
        return self._dialect.looks_ahead and source > own

    def _check_source(self, scene: Scene, source: Any) -> None:
        report, kind = scene.report, scene.data.get("kind")
        if kind != "success":
            report.add("command/source-kind", *_PLACE, kind=kind)
        seq = self._named(source)
        if seq == scene.seq:
            report.add("command/source-target", *_PLACE, found=seq)
        elif seq in self._events:
            self._report_source(report, seq)
        elif seq is not None and self._is_ahead(seq, scene.seq):
            return
        elif count(source) is None or seq is None or seq > scene.seq:
            report.add("command/source-earlier", *_PLACE, found=source)

    def _named(self, source: Any) -> int | None:
        """The number of the event that a source names, null when it names none. In format 3 a text does so, too: it is
        looked up as the name of a member."""
        if self._dialect.looks_ahead and isinstance(source, str) and _DIGITS.fullmatch(source):
            return int(source)
        return count(source)

    def _report_source(self, report: Report, seq: int) -> None:
        """Report a source that is an event of a command, or else a later event."""
        known = seq in self._events
        rule_id = "command/source-target" if known else "command/source-earlier"
        report.add(rule_id, *_PLACE, found=seq)
