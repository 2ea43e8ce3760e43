"""Where the next append to a stored log goes, found in one pass in memory that does not grow with the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from dsh_protocol.findings import Finding, RefusedError
from dsh_protocol.rows import (
    Event,
    Header,
    Lines,
    LineSplitter,
    ReadLimits,
    RowDecoder,
    RowFindings,
    decompress_torn,
    path_findings,
)
from dsh_protocol.rules import refuse, rule
from dsh_protocol.state.payload import row_findings
from dsh_protocol.state.seeds import END_SEED, is_inherited_marker
from dsh_protocol.state.sequence import EventSequence

from ._cursor import Cursor
from ._reader import LogReader

_TURN_END = "turn/end"
_FIRST_ROW = 2
"""The line of the event with seq 0."""
_MAX_REFUSALS = 100


@dataclass(frozen=True, slots=True)
class Position:
    """The end of the part of a log that its reader takes.

    `count` events stand in the first `end` of the file's `size` bytes. `recovered` are the rows, counted as well, that
    stand in a torn last frame only: the next writer writes them again. `dropped` is how many complete rows the reader drops.
    """

    count: int
    end: int
    size: int
    recovered: tuple[bytes, ...] = ()
    dropped: int = 0

    @property
    def is_torn(self) -> bool:
        """Whether the file has to be cut before anything is written."""
        return self.end != self.size


def find_position(reader: LogReader, limits: ReadLimits) -> Position:
    """Read a log to its end, as the released reader would: envelopes and numbers are checked, and of what events say only what
    makes a reader drop their rows.

    Raises:
        RefusedError: the released reader refuses the log, for one of these reasons.
        StorageError: the bytes are no log.
    """
    scan = _Scan(reader)
    scan.take([], list(path_findings(reader.path, reader.header)))
    batch_start = cut_start = reader.cursor
    for batch in reader.read_all():
        was_cut = scan.cut is not None
        scan.take(batch.events, batch.findings)
        if scan.cut is not None and not was_cut:
            cut_start = batch_start
        batch_start = batch.cursor
    complete = reader.cursor.line
    recovered: tuple[bytes, ...] = ()
    if reader.is_inside_row:
        offset = reader.end
        scan.refusals.append(refuse("storage/frame-boundary", line=complete + 1, offset=offset))
    elif reader.compressed:
        recovered = _recovered(reader, scan, limits)
    scan.finish(complete if reader.compressed else None)
    end, lines, dropped = reader.end, complete + len(recovered), 0
    if scan.cut is not None:
        dropped = lines - scan.cut + 1
        recovered = recovered[: max(scan.cut - complete - 1, 0)]
        if not reader.compressed:
            end = _offset_of(reader, cut_start, scan.cut)
    return Position(lines - dropped - 1, end, reader.size(), recovered, dropped)


def _recovered(reader: LogReader, scan: _Scan, limits: ReadLimits) -> tuple[bytes, ...]:
    """The complete rows in a torn last frame, up to one that is beyond the limits."""
    report = RowFindings(limits.max_findings)
    decoder = RowDecoder(reader.header.version, limits, report)
    splitter = LineSplitter(limits.max_row_bytes)
    events: list[Event] = []
    rows: list[bytes] = []
    for piece in decompress_torn(reader.rest(), 0):
        lines = splitter.feed(piece)
        whole = [line for line in takewhile(_is_whole, lines.lines) if line is not None]
        stopped = len(whole) < len(lines.lines) or splitter.is_overlong
        decoder.decode(
            Lines([*whole], lines.is_utf8), reader.cursor.line + len(rows) + 1, events.append
        )
        rows += whole
        if stopped:
            break
    scan.take(events, report.findings)
    return tuple(rows)


def _is_whole(line: bytes | None) -> bool:
    return line is not None


def _offset_of(reader: LogReader, before: Cursor, line: int) -> int:
    """The byte where a line of a plain log begins that stands behind a place."""
    offset, missing = before.offset, line - before.line - 1
    while missing and (block := reader.read_at(1 << 16, offset)):
        parts = block.split(b"\n", missing)
        missing -= len(parts) - 1
        offset += len(block) - (0 if missing else len(parts[-1]))
    return offset


class _Scan:
    """What the released reader makes of rows as they come by: which it drops, and why it refuses the log."""

    def __init__(self, reader: LogReader) -> None:
        self._header: Header = reader.header
        self._version = reader.header.version
        self._dialect = reader.dialect
        self._sequence = EventSequence(reader.dialect, reader.header)
        self._has_marker = False
        self._committed_by: int | None = None
        self.cut: int | None = None
        """The line of the first row that is dropped, and all later ones with it."""
        self.refusals: list[Finding] = []

    def take(self, events: Sequence[Event], found: list[Finding]) -> None:
        """Take the next events, and what is wrong with the bytes of their rows."""
        findings = list(found)
        advance = self._sequence.advance
        for event in events:
            findings += advance(event)
        findings += row_findings(self._dialect, events)
        # What only follows from another finding says nothing about the reader.
        errors = [f for f in findings if f.severity == "error" and f.because is None]
        if errors:
            self._judge(events, errors)
        if self.cut is not None or self._header.is_seeded:
            self._look_at(events)

    def _judge(self, events: Sequence[Event], errors: list[Finding]) -> None:
        types = {event.line: event.type for event in events}
        effects = [self._effect(f, types.get(f.line, "")) for f in errors]
        if self.cut is None:
            dropped = (
                f.line for f, effect in zip(errors, effects, strict=True) if effect == "drop-tail"
            )
            self.cut = min((line for line in dropped if line is not None), default=None)
        for finding, effect in zip(errors, effects, strict=True):
            hard = rule(finding.rule).is_hard(self._version, types.get(finding.line, ""))
            inside = self.cut is None or finding.line is None or finding.line < self.cut
            if (hard or (inside and effect == "refuse")) and (len(self.refusals) < _MAX_REFUSALS):
                self.refusals.append(finding)

    def _look_at(self, events: Sequence[Event]) -> None:
        """Look for markers in front of the cut, and for the end of a turn behind it."""
        for event in events:
            if self.cut is not None and (event.line or 0) >= self.cut:
                if event.type == _TURN_END and self._committed_by is None:
                    self._committed_by = event.line
            elif event.type == END_SEED and is_inherited_marker(event.data):
                self._has_marker = True

    def _effect(self, finding: Finding, event_type: str) -> str:
        return rule(finding.rule).read_effect(self._version, event_type)

    def finish(self, complete_lines: int | None) -> None:
        """Judge the log as a whole; of a compressed one, `complete_lines` stand in complete frames.

        Raises:
            RefusedError: the log is refused.
        """
        because = None if self.cut is None else self.cut - _FIRST_ROW
        if self.cut is not None and complete_lines is not None and self.cut <= complete_lines:
            self.refusals.append(refuse("storage/committed-frame", line=self.cut, because=because))
        elif self._committed_by is not None:
            end_line = self._committed_by
            self.refusals.append(
                refuse(
                    "storage/committed-history", line=self.cut, because=because, end_line=end_line
                )
            )
        elif self._header.is_seeded and not self._has_marker:
            self.refusals.append(
                refuse("seed/marker-missing", line=1, path="/isSeeded", because=because)
            )
        if self.refusals:
            reason = self.refusals[0].message
            raise RefusedError(f"the log cannot be continued: {reason}", self.refusals)
