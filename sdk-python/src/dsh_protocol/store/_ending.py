"""Find the last rows of a log without reading those in front of them."""

from __future__ import annotations

from collections import deque

from dsh_protocol.findings import JsonError
from dsh_protocol.jsonvalue import is_count, loads
from dsh_protocol.rows import FrameError, ReadAt, decompress, scan_frames

_STEP = 1 << 16
_CHUNK = 1 << 20
_MOST = 1 << 20
"""A row of more bytes is not looked into for its number."""


def last_rows(read_at: ReadAt, start: int, size: int, rows: int) -> tuple[int, int] | None:
    """The byte where the last so many complete rows of a plain log begin, whose first row begins at `start`, and the
    number of the first of them. Null when they are to be found by reading everything.
    """
    missing, position = rows + 1, size
    while missing and position > start:
        block = read_at(min(_STEP, position - start), max(position - _STEP, start))
        found = block.count(b"\n")
        if found >= missing:
            tail = block.rsplit(b"\n", missing)
            position += -len(block) + len(tail[0]) + 1
            return _numbered(position, read_at(_MOST, position))
        missing -= found
        position -= len(block)
    return None


def last_frames(read_at: ReadAt, start: int, size: int, rows: int) -> tuple[int, int] | None:
    """The same of a compressed log whose rows begin with the frame at `start`: as many frames, of a row or more each.

    Frames are told apart by their headers, from the first one on; only the last ones are decompressed.
    """
    starts: deque[int] = deque(maxlen=rows + 1)
    position, want = start, _CHUNK
    while position < size:
        layout = scan_frames(read_at(want, position))
        if layout.damage is not None and not layout.frames:
            break
        if not layout.frames and position + want >= size:
            break
        want = _CHUNK if layout.frames else 2 * want
        starts.extend(position + frame.start for frame in layout.frames[-rows - 1 :])
        position += layout.frames[-1].end if layout.frames else 0
    if len(starts) <= rows:
        return None
    before = _content(read_at, starts[0])
    content = _content(read_at, starts[1])
    if before is None or content is None or not before.endswith(b"\n"):
        return None
    return _numbered(starts[1], content)


def _content(read_at: ReadAt, start: int) -> bytes | None:
    """The content of the frame at this byte, unless it is large or damaged."""
    data = read_at(_CHUNK, start)
    layout = scan_frames(data)
    if not layout.frames or layout.frames[0].bound > _MOST:
        return None
    try:
        return b"".join(decompress(data, layout.frames[0]))
    except FrameError:
        return None


def _numbered(position: int, data: bytes) -> tuple[int, int] | None:
    """The place together with the number of the row that begins there, null when it has none."""
    row, _, _ = data.partition(b"\n")
    try:
        value = loads(row)
    except JsonError:
        return None
    seq = value.get("seq") if isinstance(value, dict) else None
    return (position, seq) if is_count(seq) else None
