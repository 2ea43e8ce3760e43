"""The state of a log: what its events so far amount to, and what the next event may be.

`plan` looks, `apply` changes. Planning has no effect at all, so an event that is refused leaves everything as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dsh_protocol.dialect import Dialect
from dsh_protocol.findings import Finding, RefusedError

from . import developer, offload, payload, seeds
from ._losses import Losses
from ._report import Report
from ._values import Verify, trust
from .context import CONTEXT, Context
from .delivery import MARKER, Delivery
from .envelope import (
    APPEND,
    ASSISTANT,
    Numbering,
    Operation,
    Standing,
    check_metadata,
    check_row,
    counted_seq,
    own_seq,
)
from .headers import HEADER, Headers
from .relations import Relations
from .surface import SYSTEM, Change, Project, Replace, Surface
from .tools import DEVELOPER, ToolHistory

if TYPE_CHECKING:
    from dsh_protocol.rows import Event, Header

WORK_LIMIT = 10_000_000
"""The steps that refused replacements and repeated offloads of one log may take."""
Rules: TypeAlias = Literal["all", "session", "envelope"]

_ASPECT_TYPES = frozenset(
    {HEADER, SYSTEM, DEVELOPER, CONTEXT, MARKER, seeds.END_SEED, offload.OFFLOAD}
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What an event would do. With an error among its findings it would be refused."""

    event: Event
    findings: tuple[Finding, ...]
    change: Change | None
    standing: Standing
    revision: int

    @property
    def refused(self) -> bool:
        """Whether the event breaks a rule that keeps it out of the log."""
        return any(finding.severity == "error" for finding in self.findings)


class LogState:
    """The state after some events of one log.

    With `rules="session"` the relationships between events are left out, as a live session leaves them out. With
    `rules="envelope"` only envelopes and the surface are checked, and a payload is decoded when it is asked for: enough to read
    what the official reader has accepted. Whatever then asks for a payload that makes no sense gets a `RefusedError`.
    """

    def __init__(
        self, dialect: Dialect, header: Header | None = None, *, rules: Rules = "all"
    ) -> None:
        self.dialect = dialect
        self.header = header
        self._checks_data = rules != "envelope"
        verify: Verify = trust if self._checks_data else partial(payload.require, dialect)
        self.surface = Surface(dialect, verify)
        self.headers = Headers(verify)
        self.tool_history = ToolHistory(verify)
        self.context = Context(verify)
        self.delivery = None if header is None else Delivery(header)
        self.relations = Relations(dialect, header, self.surface) if rules == "all" else None
        self.inherited_event_count = 0
        """The number of the last inherited marker so far: what stands in front is inherited."""
        self._numbering = Numbering()
        self._losses = Losses()
        self._lost_marker: int | None = None
        self._has_marker = False
        self._revision = 0
        self.is_intact = True
        """Whether nothing was refused or missing so far, so that this state is that of every reader."""
        # Steps spent on what did not, or not for good, make the surface smaller; and who used them up.
        self._work = 0
        self._overworked: int | None = None
        # The types that are no business of an aspect of this state: off the surface, and on it.
        self._quiet = dialect.event_types - dialect.surface_types - _ASPECT_TYPES
        self._appended = dialect.surface_types - _ASPECT_TYPES
        self._aspects: Mapping[str, Callable[[Event], None]] = {
            HEADER: self._apply_header,
            DEVELOPER: self.tool_history.apply,
            CONTEXT: self.context.apply,
            MARKER: self._apply_delivery,
            seeds.END_SEED: self._apply_marker,
        }

    @property
    def next_seq(self) -> int:
        """The number that the next event has to have."""
        return self._numbering.expected

    def plan(self, event: Event) -> Plan:
        """Everything that is wrong with an event as the next one of this log, and what it would change."""
        report = Report(self.dialect.version, own_seq(event), event.line)
        standing, seq = check_row(report, self.dialect, event, self._numbering, self._losses)
        change = self._plan_known(report, event, seq) if standing == "known" else None
        return Plan(event, tuple(report.findings), change, standing, self._revision)

    def apply(self, plan: Plan) -> None:
        """Carry out a plan.

        Raises:
            RefusedError: the plan has errors.
            ValueError: the state has changed since the plan was made.
        """
        if plan.revision != self._revision:
            raise ValueError("the state has changed since this plan was made")
        if plan.refused:
            raise RefusedError("the event is refused", plan.findings)
        event = plan.event
        self._revision += 1
        self._note(event)
        if plan.standing != "known":
            return
        if plan.change is not None:
            self.surface.apply(event, plan.change)
            if isinstance(plan.change, Project):
                self._work += plan.change.cost
        aspect = self._aspects.get(event.type)
        if aspect is not None:
            aspect(event)
        if self.relations is not None:
            self.relations.apply(event, plan.change)

    def advance(self, event: Event) -> list[Finding]:
        """Take the next event in, or note that it is refused and go on behind it. Gives everything that is wrong with it."""
        if self.take(event):
            return []
        plan = self.plan(event)
        if plan.refused:
            self._skip(plan)
        else:
            self.apply(plan)
        return list(plan.findings)

    def extend(self, events: Iterable[Event]) -> list[Finding]:
        """Take the next events in, as `advance` does with each."""
        findings: list[Finding] = []
        take = self.take
        for event in events:
            if not take(event):
                findings += self.advance(event)
        return findings

    def finish(self) -> list[Finding]:
        """What is wrong with the log as a whole, once its last event is in."""
        marker = Report(self.dialect.version, None, 1)
        knows_own = self.header is None or not self.header.is_seeded or self._has_marker
        if not knows_own:
            marker.add("seed/marker-missing", "isSeeded", because=self._why_no_marker())
        reports = [marker]
        if self.relations is not None:
            reports += self.relations.finish(knows_own=knows_own)
            if self.is_intact:
                reports += self.relations.check_messages()
        if self.delivery is not None and knows_own:
            reports += self.delivery.finish()
        return [found for report in reports for found in report.findings]

    def take(self, event: Event, gist: Any = None) -> bool:
        """Take an event in by a short way, which most events of most logs can go. Without effect (false) if it cannot.

        It is open to events of which only the envelope and the data by itself can be wrong, and nothing is; so that an event
        whose data conforms to its schema conforms as a whole.

        Who knows that the data conforms and breaks no rule by itself gives as the `gist` the data, or as much of it as the
        rules between events look at.
        """
        kind, numbering = event.type, self._numbering
        if not event.well_formed or not numbering.is_next(event.seq, event.line):
            return False
        operation = event.surface_op
        if operation is None:
            if kind not in self._quiet or event.encoded_seqs is not None:
                return False
        elif operation != APPEND or kind not in self._appended or not _cites_one(event):
            return False
        if gist is None and self._checks_data and not payload.is_sound(self.dialect, event):
            return False
        if self.relations is not None and not self.relations.take(event, gist):
            return False
        if operation is not None:
            self.surface.append(event)
        numbering.expected += 1
        self._revision += 1
        return True

    def _plan_known(self, report: Report, event: Event, seq: int | None) -> Change | None:
        """Look at an event of a known type.

        When its number is wrong (`seq` is null), what it says about other events may mean anything:
        then only the event itself is looked at.
        """
        operation, sources = check_metadata(report, self.dialect, event, seq)
        sound = self._check_payload(report, event, seq)
        if seq is None:
            return None
        losses = self._losses
        if seq > self.next_seq:
            losses = losses.ahead(self.next_seq, seq)
        change = self._plan_change(report, event, operation, sources, losses, sound=sound)
        if self.relations is not None:
            self.relations.check(report, event, seq, losses)
        return change

    def _plan_change(
        self,
        report: Report,
        event: Event,
        operation: Operation | None,
        sources: Collection[int] | None,
        losses: Losses,
        *,
        sound: bool,
    ) -> Change | None:
        """What an event would do to the surface, if anything."""
        if event.type == offload.OFFLOAD and not self._is_overworked(report):
            return offload.plan(report, event, self.surface, losses)
        if event.type == DEVELOPER and sound and self._checks_data:
            developer.check_header(report, event.data, self.headers.by_seq, losses)
        if operation is None:
            return None
        if operation != APPEND and self._is_overworked(report):
            return None
        return self.surface.plan(report, event, operation, sources, losses, compare=sound)

    def _check_payload(self, report: Report, event: Event, seq: int | None) -> bool:
        """Look at the data of an event. Whether it may be interpreted."""
        if not event.well_formed and "data" not in event.value:
            return False
        before = len(report.findings)
        if event.type == seeds.END_SEED:
            if self.header is not None:
                seeds.check(report, event.data, self.header)
        elif self._checks_data:
            payload.check(report, self.dialect, event)
            if event.type == MARKER and self.delivery is not None and isinstance(event.data, dict):
                self.delivery.check(report, event.data, seq)
        return len(report.findings) == before

    def _skip(self, plan: Plan) -> None:
        self._revision += 1
        self.is_intact = False
        event = plan.event
        expected = self.next_seq
        seq = self._note(event)
        if self.relations is not None and plan.standing == "known":
            # A row that repeats a number is a copy of what is there already.
            if seq is not None:
                self.relations.follow(event, seq)
            elif own_seq(event) is None:
                self.relations.follow(event, expected)
        if event.type == seeds.END_SEED:
            self._lost_marker = self.next_seq if seq is None else seq
        if seq is None:
            return
        shadowed = plan.change.replacement.shadowed if isinstance(plan.change, Replace) else ()
        self._losses.refuse(seq, event.type if plan.standing == "known" else "", shadowed)
        self._work += len(shadowed)
        if self._work > WORK_LIMIT and self._overworked is None:
            self._overworked = seq
        if event.type == SYSTEM or (plan.standing == "refused" and not len(self.surface.nodes)):
            self._lose_head(seq)

    def _is_overworked(self, report: Report) -> bool:
        """Whether what has been refused before cost too much to look at more of it.

        Replacements that are carried out pay for themselves: a node is shadowed once.
        """
        if self._work <= WORK_LIMIT:
            return False
        report.add("storage/work-limit", because=self._overworked, limit=WORK_LIMIT)
        return True

    def _note(self, event: Event) -> int | None:
        """Number the event. Rows that are missing in front of it may have held anything, the surface's head included."""
        expected = self._numbering.expected
        seq = self._numbering.note(counted_seq(event, expected), event.line, self._losses)
        if seq is not None and seq > expected:
            self.is_intact = False
            blame = self._losses.blame_gap(expected)
            if not len(self.surface.nodes):
                self._lose_head(blame)
            if self.relations is not None and blame is not None:
                self.relations.lose(blame)
        return seq

    def _lose_head(self, because: int | None) -> None:
        if self._losses.head is None:
            self._losses.head = because

    def _why_no_marker(self) -> int | None:
        return self._losses.first_gap() if self._lost_marker is None else self._lost_marker

    def _apply_header(self, event: Event) -> None:
        self.headers.apply(event)
        self.tool_history.apply(event)

    def _apply_delivery(self, event: Event) -> None:
        if self.delivery is not None and self._checks_data:
            self.delivery.apply(event)

    def _apply_marker(self, event: Event) -> None:
        if seeds.is_inherited_marker(event.data):
            self._has_marker = True
            self.inherited_event_count = event.seq
            if self.delivery is not None:
                self.delivery.inherit()


def _cites_one(event: Event) -> bool:
    """Whether an appended event cites nothing, or one event that is earlier: all that the official loop writes."""
    cited = event.encoded_seqs
    if cited is None:
        return True
    if len(cited) != 1 or event.type == ASSISTANT:
        return False
    seq = cited[0]
    return isinstance(seq, int) and seq < event.seq
