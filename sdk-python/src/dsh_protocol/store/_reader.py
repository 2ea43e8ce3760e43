"""Read a log that may still grow: each complete row once, a bounded piece at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dsh_protocol.dialect import CURRENT, dialect
from dsh_protocol.findings import Finding, StorageError
from dsh_protocol.jsonvalue import is_count
from dsh_protocol.rows import (
    ROW_COST,
    Event,
    FrameError,
    Layout,
    Lines,
    LineSplitter,
    LogName,
    ReadLimits,
    RowDecoder,
    RowFindings,
    decompress,
    parse_log_name,
    read_head,
    require_version,
    scan_frames,
)

from ._cursor import ANCHOR, Cursor, anchor_of
from ._ending import last_frames, last_rows
from ._errors import StoreError, refusal, unreadable
from ._files import FILES, Files, is_same_file, open_regular

CHUNK = 1 << 20
"""How many bytes of the file are taken at a time; a row or frame that is larger is taken as a whole."""
_ENOUGH = 4 << 20
"""A batch of frames is complete when their content costs this much."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a log: their events, what is wrong with their bytes, and the place behind them.

    `more` says that more can be read at once. An event whose row is not JSON is in `findings` only.
    """

    events: list[Event]
    findings: list[Finding]
    cursor: Cursor
    more: bool


class LogReader:
    """An incremental reader of one log. A torn row or frame at the end waits until it is complete."""

    def __init__(
        self,
        path: Path,
        *,
        cursor: Cursor | None = None,
        limits: ReadLimits | None = None,
        files: Files = FILES,
    ) -> None:
        """Open a log at its first row, or where `cursor` says.

        Raises:
            UnsupportedFormatError: the log has a format that is not read here.
            StoreError: `cursor/*`, when the cursor does not fit this log.
            StorageError: the file is no log.
        """
        self.path = path
        self.name = parse_log_name(path.name)
        self._files = files
        self._limits = limits or ReadLimits()
        self._fd: int | None = open_regular(files, path)
        try:
            compressed = None if self.name is None else self.name.compressed
            head = read_head(self.read_at, compressed=compressed, limits=self._limits)
            require_version(path.name, head.header)
            self.header = head.header
            self.dialect = dialect(head.header.version)
            self.compressed = head.compressed
            self._head_end = head.end
            self._report = RowFindings(self._limits.max_findings)
            self._decoder = RowDecoder(head.header.version, self._limits, self._report)
            self._start(cursor or Cursor(head.end, 0, 1, 0, self._anchor_at(head.end)))
        except BaseException:
            self.close()
            raise
        self._report.findings.extend(() if cursor else head.findings)

    def _start(self, cursor: Cursor) -> None:
        if cursor.offset < self._head_end or cursor.rows > max(cursor.line - 1, 0):
            raise StoreError("cursor/invalid", detail="it is a place in no log")
        if cursor.rows and not self.compressed:
            raise StoreError("cursor/invalid", detail="it is a place in a compressed log")
        self.cursor = cursor
        self._at = self._boundary = cursor.offset
        self._anchor = cursor.anchor
        self._skip = cursor.rows
        self._line = self._boundary_line = cursor.line - cursor.rows
        self._next_seq = cursor.seq
        self._searched = 0
        self._settled: tuple[int, int] | None = None
        """The size and time of the file when there was nothing more to read in it."""
        self._damage: StorageError | None = None
        self._splitter = LineSplitter(self._limits.max_row_bytes)
        self._require_same()
        self._load(0)

    # ---- Reading -----------------------------------------------------------------------------------

    def read(self) -> Batch:
        """The next rows; none when no complete row is there yet.

        Raises:
            StoreError: `cursor/truncated`, `cursor/changed`, `cursor/replaced`: the log is not the one that was read.
            StorageError: `storage/frame-corrupt`, `storage/log-limit`, `storage/unreadable`.
        """
        state = self._require_same()
        if self._damage is not None:
            raise self._damage
        before, seen = self._at, (state.st_size, state.st_mtime_ns)
        events: list[Event] = []
        if seen != self._settled:
            if state.st_size > self._at:
                take = self._take_frames if self.compressed else self._take_rows
                take(events, state.st_size)
            else:
                # Written to, and as long as before: then perhaps not with the same bytes.
                self._load(0)
        progress = before < self._at
        if progress:
            self._note_place()
        more = progress and self._at < state.st_size
        self._settled = None if more else seen
        return Batch(events, self._report.drain(), self.cursor, more)

    def read_all(self) -> Iterator[Batch]:
        """Batches up to the present end of the log."""
        more = True
        while more:
            batch = self.read()
            more = batch.more
            yield batch
            # Nobody may need it any more while the next one is read.
            del batch

    def follow(self, wait: Callable[[], None]) -> Iterator[Batch]:
        """Batches for ever: `wait` is called when there is nothing to read for now.

        Raises:
            StoreError: as `read`; `cursor/superseded` when the session goes on in a newer generation.
            StorageError: as `read`.
        """
        while True:
            batch = self.read()
            if batch.events or batch.findings:
                yield batch
            if not batch.more:
                self._require_latest()
                wait()

    def skip_to_last(self, rows: int) -> None:
        """Go on at the last so many complete rows, or a few more, without reading those in front of them.

        Lines are counted from the number of the first of them, as in a log without defects. When the place cannot be
        found (few rows, a row without a number) reading begins at the first row, as it would have.
        """
        find = last_frames if self.compressed else last_rows
        found = find(self.read_at, self._head_end, self.size(), max(rows, 1))
        if found is not None:
            offset, seq = found
            self._start(Cursor(offset, 0, seq + 1, seq, self._anchor_at(offset)))

    def close(self) -> None:
        """Let go of the file. Closing twice is fine."""
        fd, self._fd = self._fd, None
        if fd is not None:
            self._files.close(fd)

    def __enter__(self) -> LogReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def end(self) -> int:
        """The byte behind the last complete row or frame that was read."""
        return self._at

    @property
    def is_inside_row(self) -> bool:
        """Whether the last complete frame that was read ends inside a row."""
        return self._splitter.has_begun

    def rest(self) -> bytes:
        """The bytes behind `end`: a torn row or frame, when everything else was read."""
        return self._load(max(self.size() - self._at, 0))

    # ---- Plain -------------------------------------------------------------------------------------

    def _take_rows(self, events: list[Event], size: int) -> None:
        data = self._load(CHUNK)
        end = data.rfind(b"\n") + 1
        if end:
            self._decode(self._split(data[:end]), events)
            self._move_to(self._at + end)
        elif len(data) == CHUNK:
            self._take_long_row(events, size)

    def _take_long_row(self, events: list[Event], size: int) -> None:
        """Take a row of more than a chunk, once its end is there; one beyond the limit is not loaded."""
        searched = self._searched if self._searched <= size else 0
        position = max(self._at + CHUNK, searched)
        found = -1
        while found < 0 and (chunk := self.read_at(CHUNK, position)):
            found = chunk.find(b"\n")
            position += len(chunk) if found < 0 else found
        self._searched = position
        length = position + 1 - self._at
        if found < 0:
            return
        if length - 1 > self._limits.max_row_bytes:
            self._decode(Lines([None], True), events)
        else:
            row = self._load(length)
            if not row.endswith(b"\n"):
                return
            self._decode(self._split(row), events)
        self._move_to(position + 1)

    def _split(self, rows: bytes) -> Lines:
        return LineSplitter(self._limits.max_row_bytes).feed(rows)

    # ---- Compressed --------------------------------------------------------------------------------

    def _take_frames(self, events: list[Event], _size: int) -> None:
        data, layout = self._load_frames()
        start, cost = self._at, 0
        for frame in layout.frames:
            inside: list[Event] = []
            try:
                cost = self._take_frame(decompress(data, frame), inside, cost)
            except FrameError as damage:
                self._stop(start, damage, delivered=self._at > start)
                return
            events += inside
            self._move_to(start + frame.end)
            if cost > _ENOUGH:
                return
        if layout.damage is not None:
            self._stop(start, layout.damage, delivered=self._at > start)

    def _load_frames(self) -> tuple[bytes, Layout]:
        """The bytes from here on, until a frame is complete in them."""
        want = CHUNK
        data = self._load(want)
        layout = scan_frames(data)
        while not layout.frames and layout.damage is None and len(data) == want:
            self._require_below(want)
            want *= 2
            data = self._load(want)
            layout = scan_frames(data)
        return data, layout

    def _take_frame(self, pieces: Iterator[bytes], events: list[Event], cost: int) -> int:
        """Take the rows in a frame; nothing of a damaged one counts."""
        before = self._line, self._next_seq, self._skip, len(self._report.findings)
        try:
            for piece in pieces:
                lines = self._splitter.feed(piece)
                cost += len(piece) + ROW_COST * len(lines.lines)
                self._require_below(cost)
                self._decode(lines, events)
        except FrameError:
            self._line, self._next_seq, self._skip, findings = before
            del self._report.findings[findings:]
            raise
        return cost

    def _stop(self, start: int, damage: FrameError, *, delivered: bool) -> None:
        """No reading goes on behind damage; what stands in front of it is delivered first."""
        offset, detail = start + damage.offset, damage.detail
        self._damage = refusal(
            "storage/frame-corrupt", line=self._line + 1, offset=offset, detail=detail
        )
        if not delivered:
            raise self._damage

    def _require_below(self, cost: int) -> None:
        limit = self._limits.max_log_bytes
        if cost > limit:
            raise refusal("storage/log-limit", line=self._line + 1, limit=limit)

    # ---- Places ------------------------------------------------------------------------------------

    def _decode(self, lines: Lines, events: list[Event]) -> None:
        known = min(self._skip, len(lines.lines))
        if known:
            del lines.lines[:known]
            self._skip -= known
            self._line += known
        before = len(events)
        self._decoder.decode(lines, self._line + 1, events.append)
        self._line += len(lines.lines)
        for event in reversed(events[before:]):
            if is_count(event.seq):
                self._next_seq = event.seq + 1
                break

    def _move_to(self, offset: int) -> None:
        self._at = offset
        if not self._splitter.has_begun:
            self._boundary, self._boundary_line = offset, self._line

    def _note_place(self) -> None:
        self._anchor = anchor = self._anchor_at(self._at)
        if self._boundary != self._at:
            anchor = self._anchor_at(self._boundary)
        rows = self._line - self._boundary_line
        self.cursor = Cursor(self._boundary, rows, self._line, self._next_seq, anchor)

    def _anchor_at(self, offset: int) -> str:
        start = max(offset - ANCHOR, 0)
        return anchor_of(self.read_at(offset - start, start))

    def _load(self, size: int) -> bytes:
        """Up to `size` bytes from the present place, if what is in front of it is still the same."""
        start = max(self._at - ANCHOR, 0)
        known = self._at - start
        block = self.read_at(known + size, start)
        if anchor_of(block[:known]) != self._anchor:
            raise StoreError("cursor/changed", offset=self._at)
        # A file that was cut while it was read gives nothing this time.
        return block[known:] if self.size() >= start + len(block) else b""

    def _require_same(self) -> os.stat_result:
        """Look whether the path still names the file that was opened, and give its state."""
        try:
            opened = self._files.fstat(self._descriptor())
            same = is_same_file(opened, self._files.stat(self.path))
        except FileNotFoundError:
            same = False
        except OSError as error:
            raise unreadable(error) from None
        if not same:
            raise StoreError("cursor/replaced")
        if opened.st_size < self._at:
            raise StoreError("cursor/truncated", found=opened.st_size, expected=self._at)
        return opened

    def _require_latest(self) -> None:
        if self.name is None:
            return
        for version in range(self.name.version + 1, CURRENT + 1):
            name = str(LogName(version, self.name.compressed))
            if self.path.with_name(name).exists():
                raise StoreError("cursor/superseded", name=name)

    def state(self) -> os.stat_result:
        """The state of the file that is being read."""
        return self._files.fstat(self._descriptor())

    def size(self) -> int:
        """The bytes of the file."""
        return self.state().st_size

    def read_at(self, size: int, offset: int) -> bytes:
        """Up to `size` bytes of the file from `offset`, as they are."""
        try:
            return self._files.read_at(self._descriptor(), size, offset)
        except OSError as error:
            raise unreadable(error) from None

    def _descriptor(self) -> int:
        if self._fd is None:
            raise StoreError("store/handle-closed", id=self.header.id)
        return self._fd
