"""Lines to events: the one place that knows how a stored row is read, and how it is passed over."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from dsh_protocol import jsonvalue
from dsh_protocol.dialect import dialect
from dsh_protocol.findings import JsonError
from dsh_protocol.jsonvalue import JsonValue, is_deeper, utf8_error

from ._event import Event, common_decoder, decode_exactly, decode_loose, replace_citations
from ._limits import ReadLimits
from ._lines import Lines
from ._report import RowFindings
from ._seqs import RULE as SEQS_RULE
from ._seqs import encoding_problem, has_ranges, salvage, size

_SPARE_CITATIONS = 1 << 16
"""How many more events a row may cite than there are rows before it (rows may be missing)."""
_SOURCES = "sourceEventSeqs"
_ABSENT = object()
_JSON_SPACE = b" \t\r"


class RowDecoder:
    """Reads the rows of a log of one format. What is wrong with them goes to `report`."""

    def __init__(self, version: int, limits: ReadLimits, report: RowFindings) -> None:
        self._dialect = dialect(version)
        self._limits = limits
        self._report = report
        self._decode: Callable[[bytes], Event] = common_decoder(version)

    def decode(self, lines: Lines, first: int, keep: Callable[[Event], None]) -> None:
        """Give the events in these lines, of which the first is line `first` of the log, to `keep`.

        A line that is no JSON object gives no event.
        """
        decode = self._decode if lines.is_utf8 else self._decode_utf8
        depth = self._limits.max_depth
        for line, raw in enumerate(lines.lines, first):
            try:
                event: Event | None = decode(raw)  # type: ignore[arg-type]
            except (msgspec.MsgspecError, RecursionError, TypeError):
                event = self._other_row(raw, line)
            else:
                if len(raw) > 2 * depth and is_deeper(raw, depth):  # type: ignore[arg-type]
                    event = self._other_row(raw, line)
            if event is not None:
                event.line = line
                event.raw = raw  # type: ignore[assignment]
                keep(event)

    def _decode_utf8(self, raw: bytes | None) -> Event:
        """The common decoder for rows of which some are not UTF-8 (it does not look by itself)."""
        if raw is not None and utf8_error(raw) is not None:
            raise msgspec.DecodeError
        return self._decode(raw)  # type: ignore[arg-type]

    def _other_row(self, raw: bytes | None, line: int) -> Event | None:
        """The event in a row that the common decoder does not take, or null and a finding."""
        if raw is None:
            self._report.add("storage/row-limit", line=line, limit=self._limits.max_row_bytes)
            return None
        depth = self._limits.max_depth
        if is_deeper(raw, depth):
            self._report.add("json/depth", line=line, limit=depth)
            return None
        offset = utf8_error(raw)
        event = None if offset is not None else decode_loose(self._dialect.version, raw)
        if event is not None:
            event.raw = raw
            stored = _ABSENT if event.encoded_seqs is None else event.encoded_seqs
            return self._with_citations(event, stored, line)
        value = self._parse(raw, line)
        if not isinstance(value, dict):
            return None
        event = decode_exactly(self._dialect.version, value)
        if offset is not None:
            self._report.add("json/encoding", seq=event.seq, line=line, offset=offset)
        return self._with_citations(event, value.get(_SOURCES, _ABSENT), line)

    def _parse(self, raw: bytes, line: int) -> JsonValue:
        """The value in a row, as a reader that replaces what is not UTF-8 sees it."""
        if not raw.strip(_JSON_SPACE):
            self._report.add("storage/blank-row", line=line)
            return None
        depth = self._limits.max_depth
        try:
            value = jsonvalue.loads(raw.decode("utf-8", "replace"), max_depth=depth)
        except JsonError as error:
            self._report.add(error.code, line=line, detail=error.message, limit=depth)
            return None
        if not isinstance(value, dict):
            self._report.add("envelope/object", line=line)
        return value

    def _with_citations(self, event: Event, stored: object, line: int) -> Event:
        """Refuse citations that cannot be decoded.

        Plain lists of an event whose type is known are left to the rules about its citations.
        """
        pairs = isinstance(stored, list) and has_ranges(stored)
        opaque = event.ignorable and event.type not in self._dialect.event_types
        if stored is _ABSENT or not (pairs or opaque):
            return event
        most = line + _SPARE_CITATIONS
        seq = event.seq if jsonvalue.is_count(event.seq) else None
        problem = None if seq is None else encoding_problem(stored, seq)
        if seq is not None and problem is None and pairs and size(stored) > most:  # type: ignore[arg-type]
            problem = "it names more events than the log has"
        if problem is not None:
            self._report.add(SEQS_RULE, seq=seq, line=line, path=f"/{_SOURCES}", detail=problem)
        if problem is not None or seq is None:
            replace_citations(event, salvage(stored, line if seq is None else seq, most))
        return event
