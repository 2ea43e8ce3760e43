"""Compressed logs as the released runtime writes them: frames with a checksum and without a content size."""

from __future__ import annotations

import sys
from collections.abc import Iterable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def frame(content: bytes, *, checksum: bool = True) -> bytes:
    """One zstd frame."""
    parameter = zstd.CompressionParameter
    compressor = zstd.ZstdCompressor(
        options={parameter.checksum_flag: checksum, parameter.content_size_flag: False}
    )
    return compressor.compress(content) + compressor.flush()


def big_frame(pieces: Iterable[bytes]) -> bytes:
    """One zstd frame whose content need not fit into memory."""
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.checksum_flag: True})
    return b"".join([compressor.compress(piece) for piece in pieces]) + compressor.flush()


def frames(log: bytes, rows_per_frame: int = 3) -> list[bytes]:
    """A log as frames: the header line, then a few rows each."""
    lines = log.splitlines(keepends=True)
    batches = [lines[:1]]
    batches += [lines[i : i + rows_per_frame] for i in range(1, len(lines), rows_per_frame)]
    return [frame(b"".join(batch)) for batch in batches]


def content(data: bytes) -> bytes:
    """Everything in a sequence of frames."""
    return zstd.decompress(data)
