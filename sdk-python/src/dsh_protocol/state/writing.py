"""What an event has to be to be written: by all that a reader of the log would find, or by the released append."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from dsh_protocol.dialect import Dialect
from dsh_protocol.findings import Finding
from dsh_protocol.rows import encoding_problem
from dsh_protocol.rules import rule
from dsh_protocol.schemas import Validator, without_repeats

from . import appended
from ._report import Report
from .delivery import MARKER, Delivery
from .envelope import check_metadata
from .log import LogState, Plan

if TYPE_CHECKING:
    from dsh_protocol.rows import Event, Header

Level: TypeAlias = Literal["log", "append"]
"""`log`: whatever a full check of the log would call an error. `append`: what the released runtime refuses to append."""

_SOURCES = "sourceEventSeqs"
_OURS = frozenset({"envelope/type", "envelope/time"})
"""Rules that the released append cannot break, because its types keep it from doing so."""


class Writing(Protocol):
    """The state of a log that is being written, and the rules that its next event has to keep."""

    state: LogState

    def plan(self, event: Event) -> Plan:
        """Everything that is wrong with an event as the next one, and what it would change. Changes nothing."""

    def take(self, events: Iterable[Event]) -> list[Finding]:
        """Take in events that are there already. Gives everything that is wrong with them."""

    def finish(self) -> list[Finding]:
        """What is wrong with the log as a whole, as it stands."""


def writing(level: Level, dialect: Dialect, header: Header) -> Writing:
    """A log with this header and no events, to be written by the rules of a level."""
    return _LogLevel(dialect, header) if level == "log" else _AppendLevel(dialect)


class _LogLevel:
    def __init__(self, dialect: Dialect, header: Header) -> None:
        self.state = LogState(dialect, header)
        # Whoever writes a marker writes it for this session: only inherited ones may name another.
        self._delivery = Delivery(replace(header, parent_session=None))
        self._validator = Validator(f"session/v{dialect.version}/event")

    def plan(self, event: Event) -> Plan:
        plan = self.state.plan(event)
        errors = [*plan.findings, *self._beyond(event, plan)]
        return replace(plan, findings=(*errors, *self._warnings(event, errors)))

    def take(self, events: Iterable[Event]) -> list[Finding]:
        return self.state.extend(events)

    def finish(self) -> list[Finding]:
        return self.state.finish()

    def _beyond(self, event: Event, plan: Plan) -> list[Finding]:
        """What the state does not look at: it reads logs, whose rows were decoded and whose markers may be inherited."""
        report = Report(self.state.dialect.version, event.seq, event.line)
        if plan.standing == "opaque" and _SOURCES in event.value:
            problem = encoding_problem(event.value[_SOURCES], event.seq)
            if problem is not None:
                report.add("envelope/source-seqs-encoding", _SOURCES, detail=problem)
        elif event.type == MARKER and not plan.refused:
            self._delivery.check(report, event.data, event.seq)
        return report.findings

    def _warnings(self, event: Event, errors: list[Finding]) -> Iterator[Finding]:
        if not self._validator.covers(event.type):
            return
        found = self._validator.findings(event.shape)
        for warning in without_repeats(found, errors):
            yield replace(warning, seq=event.seq, line=event.line)


class _AppendLevel:
    def __init__(self, dialect: Dialect) -> None:
        self.state = LogState(dialect, rules="envelope")

    def plan(self, event: Event) -> Plan:
        plan = self.state.plan(event)
        dialect = self.state.dialect
        report = Report(dialect.version, event.seq, event.line)
        if plan.standing == "known":
            appended.check(report, dialect, event, self.state.headers)
        elif plan.standing == "refused":
            check_metadata(report, dialect, event, event.seq)
        kept = [found for found in plan.findings if _is_looked_at(found)]
        return replace(plan, findings=(*kept, *report.findings))

    def take(self, events: Iterable[Event]) -> list[Finding]:
        findings: list[Finding] = []
        for event in events:
            plan = self.plan(event)
            findings += plan.findings
            if plan.refused:
                break
            self.state.apply(plan)
        return findings

    def finish(self) -> list[Finding]:
        return []


def _is_looked_at(found: Finding) -> bool:
    return found.rule in _OURS or rule(found.rule).level == "append"
