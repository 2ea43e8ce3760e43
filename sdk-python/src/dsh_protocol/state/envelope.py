"""The envelope of an event: its members, its number, its type and its surface metadata.

Rules `envelope/*`, `surface/op-*` and `surface/sources-*`. A row whose envelope the reader has proven (`well_formed`) is asked
for its number and its type only; any other row is looked at member by member.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dsh_protocol.dialect import Dialect
from dsh_protocol.jsonvalue import MAX_SAFE_INTEGER, is_count
from dsh_protocol.rows import CitedRanges, encoding_problem

from ._losses import Losses
from ._report import Report
from ._values import member

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Standing: TypeAlias = Literal["known", "opaque", "refused"]
"""What an event's type makes of it: interpreted, kept as it is, or no part of the format."""
Operation: TypeAlias = "str | Mapping[str, int]"

APPEND = "append"
ASSISTANT = "assistant/message"
_MEMBERS = frozenset({"type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable"})
_OPERATION = "surfaceOp"
_SOURCES = "sourceEventSeqs"
_REPLACE = "replace"
_RETIRED_KEYS = frozenset({"op", "start", "end"})
_STORED_SOURCES = b'"sourceEventSeqs"'
_ABSENT = object()
_UNREADABLE = object()
"""Stands for cited events that could not be decoded, which the reader of the row has reported."""
_FIRST_LINE = 2
"""The line of the event with number 0, behind the header."""


def own_seq(event: Event) -> int | None:
    """The number that a row gives itself, null when it has none that counts."""
    return event.seq if event.well_formed or is_count(event.seq) else None


def counted_seq(event: Event, expected: int) -> int | None:
    """The number that a row takes up where `expected` comes next: a reader counts minus zero as zero there."""
    if expected == 0 and not event.well_formed and _is_minus_zero(event.value.get("seq")):
        return 0
    return own_seq(event)


def check_members(report: Report, value: Mapping[str, Any], *, is_first: bool) -> None:
    """Look at the members of a row that is not known to be well-formed, its surface metadata excepted."""
    for name in value:
        if name not in _MEMBERS:
            report.add("envelope/unknown-member", name, member=name)
    if not isinstance(value.get("type"), str):
        report.add("envelope/type", *member(value, "type"))
    if not is_count(value.get("seq")):
        _check_seq(report, value, is_first)
    time = value.get("time")
    if type(time) is not int or abs(time) > MAX_SAFE_INTEGER:
        report.add("envelope/time", *member(value, "time"), found=time)
    if "data" not in value:
        report.add("envelope/data")
    if value.get("ignorable", True) is not True:
        report.add("envelope/ignorable", "ignorable", found=value["ignorable"])


def _check_seq(report: Report, value: Mapping[str, Any], is_first: bool) -> None:
    seq = value.get("seq")
    if is_first and _is_minus_zero(seq) and report.holds("envelope/seq-minus-zero"):
        report.add("envelope/seq-minus-zero", "seq")
    else:
        report.add("envelope/seq", *member(value, "seq"), found=seq)


def _is_minus_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0


def check_type(report: Report, dialect: Dialect, event: Event) -> Standing:
    """What to make of the event, by its type."""
    if event.type in dialect.event_types:
        return "known"
    if event.ignorable:
        return "opaque"
    if report.findings and _is_reported(event):
        return "refused"
    if event.type in dialect.retired_types:
        report.add("envelope/retired-type", "type", type=event.type)
    else:
        report.add("envelope/unknown-type", "type", type=event.type, version=dialect.version)
    return "refused"


def _is_reported(event: Event) -> bool:
    """Whether an ill-formed type or ignorable member is what makes the type unknown."""
    value = event.value
    return not isinstance(value.get("type"), str) or "ignorable" in value


def check_metadata(
    report: Report, dialect: Dialect, event: Event, seq: int | None
) -> tuple[Operation | None, Collection[int] | None]:
    """The surface operation and the cited events of an event of a known type and number `seq`.

    Without a number (null) nothing can be said about what is earlier, and nothing can be replaced.
    The operation is null when there is none, or none that can be carried out. Cited events are null when they are
    malformed; an event that cites none has an empty list.
    """
    operation, sources = _metadata(event)
    if event.type not in dialect.surface_types:
        if operation is not _ABSENT:
            report.add("surface/op-forbidden", _OPERATION, type=event.type)
        if sources is not _ABSENT and sources is not _UNREADABLE:
            _forbid_sources(report, event, seq, sources, "surface/sources-forbidden")
        return None, ()
    return (
        _check_operation(report, dialect, event.type, seq, operation),
        _check_sources(report, event, seq, sources),
    )


def is_citing(event: Event) -> bool:
    """Whether a row has citations at all, readable or not."""
    return _metadata(event)[1] is not _ABSENT


def _forbid_sources(
    report: Report, event: Event, seq: int | None, sources: Any, rule_id: str
) -> None:
    """Refuse citations where none belong; a stored row's are decoded before its type is looked at."""
    problem = None
    if event.raw and not isinstance(sources, CitedRanges):
        problem = encoding_problem(sources, MAX_SAFE_INTEGER if seq is None else seq)
    if problem is None:
        report.add(rule_id, _SOURCES, type=event.type)
    else:
        report.add("envelope/source-seqs-encoding", _SOURCES, detail=problem)


def _metadata(event: Event) -> tuple[Any, Any]:
    if not event.well_formed:
        sources: Any = event.value.get(_SOURCES, _ABSENT)
        if sources is _ABSENT and _STORED_SOURCES in event.raw:
            sources = _UNREADABLE
        return event.value.get(_OPERATION, _ABSENT), sources
    operation, sources = event.surface_op, event.citations
    return (
        _ABSENT if operation is None else operation,
        _ABSENT if sources is None else sources,
    )


def _check_operation(
    report: Report, dialect: Dialect, event_type: str, seq: int | None, operation: Any
) -> Operation | None:
    if operation == APPEND:
        return APPEND
    if operation is _ABSENT:
        report.add("surface/op-missing", type=event_type)
        return None
    start_key, end_key = dialect.replace_keys
    if not isinstance(operation, Mapping) or not _is_replace(operation, start_key, end_key):
        retired = isinstance(operation, Mapping) and operation.keys() == _RETIRED_KEYS
        rule = "surface/op-retired-keys" if retired else "surface/op-shape"
        report.add(rule, _OPERATION, found=operation)
        return None
    start, end = operation[start_key], operation[end_key]
    if seq is None or max(start, end) >= seq:
        if seq is not None:
            report.add("surface/op-earlier", _OPERATION, start=start, end=end)
        return None
    return operation


def _is_replace(operation: Mapping[str, Any], start_key: str, end_key: str) -> bool:
    return (
        len(operation) == 3
        and operation.get("op") == _REPLACE
        and is_count(operation.get(start_key))
        and is_count(operation.get(end_key))
    )


def _check_sources(
    report: Report, event: Event, seq: int | None, sources: Any
) -> Collection[int] | None:
    if sources is _ABSENT:
        return ()
    if sources is _UNREADABLE:
        return None
    if event.type == ASSISTANT:
        _forbid_sources(report, event, seq, sources, "surface/sources-on-assistant")
        return None
    if isinstance(sources, CitedRanges):
        # What was decoded from ranges ascends and is earlier than the event.
        return sources
    if not isinstance(sources, list) or not all(map(is_count, sources)):
        report.add("surface/sources-shape", _SOURCES)
        return None
    if not sources:
        report.add("surface/sources-empty", _SOURCES)
        return None
    if len(set(sources)) != len(sources):
        place, source = _first_repeated(sources)
        report.add("surface/sources-unique", _SOURCES, place, found=source)
    if seq is not None and sources and max(sources) >= seq:
        place, source = next((i, source) for i, source in enumerate(sources) if source >= seq)
        report.add("surface/sources-earlier", _SOURCES, place, found=source)
    return sources


def _first_repeated(sources: Sequence[int]) -> tuple[int, int]:
    """The first place that cites what an earlier place cites, and what that is."""
    seen: set[int] = set()
    for place, source in enumerate(sources):
        if source in seen:
            return place, source
        seen.add(source)
    raise ValueError("nothing is cited twice")


def check_row(
    report: Report, dialect: Dialect, event: Event, numbering: Numbering, losses: Losses
) -> tuple[Standing, int | None]:
    """Look at an event as the next one: its members, its type and its number.

    Gives what to make of it, and its number if that is the right one.
    """
    seq = own_seq(event)
    if not event.well_formed:
        check_members(report, event.value, is_first=numbering.expected == 0)
    standing = check_type(report, dialect, event)
    before = len(report.findings)
    if seq is not None:
        numbering.check(report, seq, event.line, losses)
    return standing, seq if len(report.findings) == before else None


class Numbering:
    """The numbers of a log's events: which is next, and which line each is in."""

    __slots__ = (
        "_base",
        "_bases",
        "_misplaced",
        "_otherwise",
        "_run",
        "_starts",
        "_steady",
        "expected",
    )

    def __init__(self) -> None:
        self.expected = 0
        # Whether the latest row was in sequence, so that the next three members say nothing.
        self._steady = True
        # Rows since the last one in sequence with no number or an old one: each may have had the next.
        self._misplaced = 0
        # The first and the last of an unbroken run of old numbers.
        self._run: tuple[int, int] | None = None
        # Right after a gap: what is next when nothing is missing and that one number is wrong.
        self._otherwise: int | None = None
        # From event _starts[i] on, an event's line is its number plus _bases[i]; _base is the last.
        self._starts: list[int] = []
        self._bases: list[int] = []
        self._base: int | None = None

    def is_next(self, seq: int, line: int | None) -> bool:
        """Whether an event comes right after the last one, in the file as in number."""
        if seq != self.expected or not self._steady:
            return False
        base = self._base
        return line is None if base is None else line == base + seq

    def check(self, report: Report, seq: int, line: int | None, losses: Losses) -> None:
        """Compare an event's number with the one that is next."""
        if seq > self.expected + self._unnumbered_rows(line):
            report.add("envelope/seq-gap", "seq", found=seq, expected=self.expected)
        elif seq < self.expected and seq != self._otherwise:
            run = self._run_of(seq)
            report.add(
                "envelope/seq-repeated",
                "seq",
                because=losses.blame_gap(seq) if run is None else run,
                found=seq,
                first_line=self._line_of(seq),
                expected=self.expected,
            )

    def note(self, seq: int | None, line: int | None, losses: Losses) -> int | None:
        """Go on behind this row, and give back the number that it takes up, null when it has none of its own."""
        if seq is None or (seq < self.expected and seq != self._otherwise):
            self._steady = False
            self._misplaced += 1
            if seq is not None:
                first = self._run_of(seq)
                self._run = (seq if first is None else first, seq)
            return None
        if seq > self.expected:
            self._skip_to(seq, line, losses)
        else:
            if seq == self._otherwise:
                self._go_back(seq, losses)
            self._otherwise = None
        self._steady = self._otherwise is None
        self.expected = seq + 1
        self._misplaced = 0
        self._run = None
        if line is not None and line - seq != self._base:
            self._base = line - seq
            self._starts.append(seq)
            self._bases.append(self._base)
        return seq

    def _run_of(self, seq: int) -> int | None:
        """Where the run of old numbers began that this one continues; null when it continues none."""
        return self._run[0] if self._run is not None and seq == self._run[1] + 1 else None

    def _skip_to(self, seq: int, line: int | None, losses: Losses) -> None:
        explained = seq <= self.expected + self._unnumbered_rows(line)
        losses.skip(self.expected, seq, None if explained else seq)
        self._otherwise = None if explained else self.expected + 1

    def _go_back(self, seq: int, losses: Losses) -> None:
        """The number that made the gap was wrong: only that one row's own number is missing."""
        losses.unskip(seq)
        while self._starts and self._starts[-1] >= seq:
            self._starts.pop()
            self._bases.pop()

    def _unnumbered_rows(self, line: int | None) -> int:
        """How many rows since the last one in sequence may have had the numbers missing here."""
        if line is None:
            return self._misplaced
        base = _FIRST_LINE if self._base is None else self._base
        return line - base - self.expected

    def _line_of(self, seq: int) -> int | None:
        found = bisect_right(self._starts, seq) - 1
        return None if found < 0 else seq + self._bases[found]
