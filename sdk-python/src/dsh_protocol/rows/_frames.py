"""The zstd container of a compressed log: independent frames, one after the other (RFC 8878).

Frames are found by their own headers and block sizes, never by searching for magic bytes, so that a
cut or damaged frame is named by its offset.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAGIC = b"\x28\xb5\x2f\xfd"
_RESERVED_BITS = 0b0001_1000
_BLOCK_HEADER = 3
_MAX_BLOCK = 128 * 1024
_RAW, _RLE, _COMPRESSED, _RESERVED = range(4)
_AT_ONCE = 4 * 1024 * 1024
"""A frame that cannot hold more than this is decompressed in one call."""
_STEP = 1 << 20


class FrameError(Exception):
    """A damaged frame: `offset` is the byte where it begins, `detail` says what is wrong."""

    def __init__(self, offset: int, detail: str) -> None:
        super().__init__(detail)
        self.offset = offset
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Frame:
    """One complete frame: its bytes are `[start, end)`, its content is at most `bound` bytes."""

    start: int
    end: int
    bound: int


@dataclass(frozen=True, slots=True)
class Layout:
    """The frames of a file. What follows the last complete one is torn, damaged, or nothing."""

    frames: list[Frame]
    torn: int | None
    """The byte where an incomplete last frame begins."""
    damage: FrameError | None


def scan(data: bytes) -> Layout:
    """Find the frames by their headers, decompressing nothing."""
    frames: list[Frame] = []
    start = 0
    while start < len(data):
        try:
            frame = frame_at(data, start)
        except FrameError as damage:
            return Layout(frames, None, damage)
        if frame is None:
            return Layout(frames, start, None)
        frames.append(frame)
        start = frame.end
    return Layout(frames, None, None)


def frame_at(data: bytes, start: int) -> Frame | None:
    """The frame at this offset; null when the data end inside it.

    Raises:
        FrameError: no frame begins there, or one with reserved bits set.
    """
    if len(data) - start < len(MAGIC):
        return None
    if not data.startswith(MAGIC, start):
        raise FrameError(start, "it does not begin as a frame")
    if len(data) - start == len(MAGIC):
        return None
    descriptor = data[start + 4]
    if descriptor & _RESERVED_BITS:
        raise FrameError(start, "reserved bits of its header are set")
    position = start + 5 + _header_fields(descriptor)
    bound = 0
    last = False
    while not last:
        if position + _BLOCK_HEADER > len(data):
            return None
        header = int.from_bytes(data[position : position + _BLOCK_HEADER], "little")
        last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        if kind == _RESERVED:
            raise FrameError(start, f"the block at byte {position} has the reserved type")
        bound += _MAX_BLOCK if kind == _COMPRESSED else min(size, _MAX_BLOCK)
        position += _BLOCK_HEADER + (1 if kind == _RLE else size)
    end = position + (4 if descriptor & 0b100 else 0)
    return Frame(start, end, bound) if end <= len(data) else None


def _header_fields(descriptor: int) -> int:
    """How many bytes stand between the descriptor and the first block."""
    single_segment = bool(descriptor & 0b10_0000)
    content_size = (1 if single_segment else 0, 2, 4, 8)[descriptor >> 6]
    dictionary_id = (0, 1, 2, 4)[descriptor & 3]
    return (0 if single_segment else 1) + dictionary_id + content_size


def compress(content: bytes) -> bytes:
    """One frame as the released runtime writes it: with a checksum of the content, without its size."""
    parameter = zstd.CompressionParameter
    options: dict[int, int] = {parameter.checksum_flag: 1, parameter.content_size_flag: 0}
    compressor = zstd.ZstdCompressor(options=options)
    return compressor.compress(content) + compressor.flush()


def decompress(data: bytes, frame: Frame) -> Iterator[bytes]:
    """The content of a complete frame, a bounded piece at a time.

    Raises:
        FrameError: the content is damaged, or not what its checksum says.
    """
    decompressor = zstd.ZstdDecompressor()
    body = memoryview(data)[frame.start : frame.end]
    try:
        if frame.bound <= _AT_ONCE:
            yield decompressor.decompress(body)
        else:
            yield from _pieces(decompressor, body, _STEP)
    except zstd.ZstdError:
        raise FrameError(frame.start, "its content does not decompress") from None
    if not decompressor.eof or decompressor.unused_data:
        raise FrameError(frame.start, "its content does not decompress")


def decompress_torn(data: bytes, start: int) -> Iterator[bytes]:
    """What can be decoded of an incomplete last frame."""
    decompressor = zstd.ZstdDecompressor()
    torn = memoryview(data)[start:]
    try:
        for position in range(0, len(torn), 1024):
            yield from _pieces(decompressor, torn[position : position + 1024], _MAX_BLOCK)
    except (zstd.ZstdError, EOFError):
        return


def _pieces(decompressor: zstd.ZstdDecompressor, data: memoryview, most: int) -> Iterator[bytes]:
    piece = decompressor.decompress(data, most)
    while piece:
        yield piece
        if decompressor.eof or decompressor.needs_input:
            return
        piece = decompressor.decompress(b"", most)
