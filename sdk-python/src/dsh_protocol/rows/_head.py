"""The head of a stored log, read without its body: which session it is, and where its rows begin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dsh_protocol.findings import Finding, StorageError

from . import _frames
from ._frames import FrameError
from ._header import Header, read_header
from ._limits import ReadLimits
from ._report import RowFindings, storage_error

ReadAt = Callable[[int, int], bytes]
"""Gives up to so many bytes (first) from an offset (second); fewer only at the end of the file."""

MAX_HEAD = 1 << 20
"""How many bytes are read, at most, to find the end of the head."""
_STEP = 8 << 10


@dataclass(frozen=True, slots=True)
class Head:
    """The header of a log; `end` is the byte behind it, where the first row or the first frame with rows begins."""

    header: Header
    compressed: bool
    end: int
    findings: tuple[Finding, ...]


def read_head(
    read_at: ReadAt, *, compressed: bool | None = None, limits: ReadLimits | None = None
) -> Head:
    """Read the first line of a log. Whether it is compressed is seen from its bytes when it is not known.

    Raises:
        UnsupportedFormatError: `header/newer-format`, `header/older-format`.
        StorageError: `storage/empty-file`, `storage/row-limit`, `storage/frame-header`, `storage/frame-corrupt`,
            `storage/byte-order-mark`, or another `header/*` rule.
    """
    data = read_at(_STEP, 0)
    if not data:
        raise storage_error("storage/empty-file")
    if compressed is None:
        compressed = data.startswith(_frames.MAGIC)
    split = _first_frame if compressed else _first_line
    found, size = split(data), _STEP
    while found is None and len(data) == size and size < MAX_HEAD:
        size *= 2
        data = read_at(size, 0)
        found = split(data)
    if found is None:
        raise _endless(compressed) if len(data) == size else _missing()
    line, end = found
    report = RowFindings(1)
    header = read_header(line, limits or ReadLimits(), report)
    return Head(header, compressed, end, tuple(report.findings))


def _missing() -> StorageError:
    return storage_error("header/missing", line=1, detail="the line is not complete")


def _endless(compressed: bool) -> StorageError:
    if compressed:
        return storage_error("storage/frame-header", line=1)
    return storage_error("storage/row-limit", line=1, limit=MAX_HEAD)


def _first_line(data: bytes) -> tuple[bytes, int] | None:
    """The first line and the byte behind its LF; null when it is not complete."""
    end = data.find(b"\n")
    return None if end < 0 else (data[:end], end + 1)


def _first_frame(data: bytes) -> tuple[bytes, int] | None:
    """The line that the first frame holds, and the byte behind the frame; null when it is not complete."""
    content = b""
    try:
        frame = _frames.frame_at(data, 0)
        if frame is None:
            return None
        for piece in _frames.decompress(data, frame):
            content += piece
            if len(content) > MAX_HEAD:
                raise _endless(True)
    except FrameError as damage:
        rule, offset, detail = "storage/frame-corrupt", damage.offset, damage.detail
        raise storage_error(rule, offset=offset, detail=detail) from None
    if not content.endswith(b"\n") or content.count(b"\n") != 1:
        raise storage_error("storage/frame-header", line=1)
    return content[:-1], frame.end
