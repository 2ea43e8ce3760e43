"""From the bytes of a log to its header and events."""

from __future__ import annotations

from collections.abc import Iterator

from dsh_protocol.dialect import CURRENT, Dialect, dialect

from . import _frames
from ._decoder import RowDecoder
from ._event import Event
from ._frames import FrameError, Layout
from ._header import Header, read_header
from ._limits import ROW_COST, ReadLimits
from ._lines import LineSplitter
from ._report import RowFindings, storage_error

_BATCH = 1 << 18


class Reader:
    """Reads one log, once. What it has found is in its attributes."""

    def __init__(self, limits: ReadLimits) -> None:
        self.report = RowFindings(limits.max_findings)
        self.events: list[Event] = []
        self.dialect: Dialect = dialect(CURRENT)
        self.compressed = False
        self.bytes = 0
        self.file_bytes = 0
        self.torn_bytes = 0
        self.frames = 0
        self.complete_lines: int | None = None
        self._limits = limits
        self._lines = LineSplitter(limits.max_row_bytes)
        self._header: Header | None = None
        self._decoder: RowDecoder | None = None

    @property
    def line_count(self) -> int:
        """How many complete lines the log has, the header included."""
        return self._lines.count

    def read(self, chunks: Iterator[bytes], *, compressed: bool | None) -> Header:
        """Read everything. Whether the bytes are compressed is seen from them if it is not known.

        Raises:
            StorageError: the bytes are no log, or beyond a limit.
        """
        first = next(chunks, b"")
        if not first:
            raise storage_error("storage/empty-file")
        if compressed is None:
            compressed = first.startswith(_frames.MAGIC)
        self.compressed = compressed
        if compressed:
            self._read_frames(self._whole_file(first, chunks))
        else:
            self._read_plain(first, chunks)
        if self._header is None:
            raise storage_error("header/missing", line=1, detail="the line is not complete")
        return self._header

    # ---- Plain -------------------------------------------------------------------------------------

    def _read_plain(self, first: bytes, chunks: Iterator[bytes]) -> None:
        self._take(first)
        for chunk in chunks:
            self._take(chunk)
        self.file_bytes = self.bytes
        self._end_plain()

    def _end_plain(self) -> None:
        line = self._lines.count + 1
        if self._lines.is_overlong:
            self._refuse_overlong(line)
        self.torn_bytes = self._lines.finish()
        self.bytes -= self.torn_bytes
        overlong = self.torn_bytes > self._limits.max_row_bytes
        if self.torn_bytes and not overlong and self._header is not None:
            self.report.add("storage/torn-tail", line=line, bytes=self.torn_bytes)

    # ---- Compressed --------------------------------------------------------------------------------

    def _whole_file(self, first: bytes, chunks: Iterator[bytes]) -> bytes:
        pieces = [first]
        self.file_bytes = len(first)
        for chunk in chunks:
            pieces.append(chunk)
            self.file_bytes += len(chunk)
            self._require_below(self.file_bytes)
        return b"".join(pieces)

    def _read_frames(self, data: bytes) -> None:
        layout = _frames.scan(data)
        try:
            self._read_complete(data, layout)
            if layout.damage is not None:
                raise layout.damage
        except FrameError as damage:
            self._refuse_frame(damage)
            return
        if layout.torn is not None and self._header is not None:
            self._read_torn(data, layout.torn)

    def _refuse_frame(self, damage: FrameError) -> None:
        rule, offset, detail = "storage/frame-corrupt", damage.offset, damage.detail
        if self._header is None:
            raise storage_error(rule, offset=offset, detail=detail)
        self.report.add(rule, line=self._lines.count + 1, offset=offset, detail=detail)
        self.torn_bytes = self.file_bytes - offset

    def _read_complete(self, data: bytes, layout: Layout) -> None:
        pending: list[bytes] = []
        waiting = 0
        try:
            for frame in layout.frames:
                for piece in _frames.decompress(data, frame):
                    pending.append(piece)
                    waiting += len(piece)
                    if not self.frames or waiting >= _BATCH:
                        self._take_all(pending)
                        waiting = 0
                self.frames += 1
                if self.frames == 1 and (self._lines.count != 1 or self._lines.has_begun):
                    self.report.add("storage/frame-header", line=1)
        finally:
            # The rows in front of a damaged frame are good.
            self._take_all(pending)
        self._end_complete(layout)

    def _take_all(self, pending: list[bytes]) -> None:
        chunk = b"".join(pending)
        pending.clear()
        if chunk:
            self._take(chunk)

    def _end_complete(self, layout: Layout) -> None:
        line = self._lines.count + 1
        if self._lines.is_overlong:
            self._refuse_overlong(line)
        elif self._lines.has_begun:
            offset = layout.frames[-1].start
            self.report.add("storage/frame-boundary", line=line, offset=offset)
        self.bytes -= self._lines.finish()
        self.complete_lines = self._lines.count

    def _read_torn(self, data: bytes, start: int) -> None:
        before = self._lines.count
        for piece in _frames.decompress_torn(data, start):
            self._take(piece)
        self.bytes -= self._lines.finish()
        self.torn_bytes = len(data) - start
        rows = self._lines.count - before
        self.report.add("storage/torn-frame", line=before + 1, offset=start, rows=rows)

    # ---- Rows --------------------------------------------------------------------------------------

    def _take(self, chunk: bytes) -> None:
        self.bytes += len(chunk)
        lines = self._lines.feed(chunk)
        self._require_below(self.bytes + ROW_COST * self._lines.count)
        first = self._lines.count - len(lines.lines) + 1
        if self._header is None:
            if self._lines.is_overlong and not lines.lines:
                self._refuse_overlong(1)
            if lines.lines:
                self._take_header(lines.lines.pop(0))
                first += 1
        if self._decoder is not None:
            self._decoder.decode(lines, first, self.events.append)

    def _require_below(self, cost: int) -> None:
        limit = self._limits.max_log_bytes
        if cost > limit:
            raise storage_error("storage/log-limit", line=self._lines.count + 1, limit=limit)

    def _take_header(self, line: bytes | None) -> None:
        self._header = read_header(line, self._limits, self.report)
        self.dialect = dialect(self._header.version)
        self._decoder = RowDecoder(self._header.version, self._limits, self.report)

    def _refuse_overlong(self, line: int) -> None:
        if self._header is None:
            raise storage_error("storage/row-limit", line=line, limit=self._limits.max_row_bytes)
        self.report.add("storage/row-limit", line=line, limit=self._limits.max_row_bytes)
