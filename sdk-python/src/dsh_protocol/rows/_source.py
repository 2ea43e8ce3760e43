"""Where the bytes of a log come from: a regular file, or bytes in memory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ._report import storage_error

CHUNK = 1 << 20


def file_chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a regular file, a chunk at a time.

    Raises:
        StorageError: `storage/unreadable`. A pipe or a device is refused before anything waits for it.
    """
    try:
        _require_regular(os.stat(path).st_mode)
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb", buffering=0) as file:
            _require_regular(os.fstat(file.fileno()).st_mode)
            while chunk := file.read(CHUNK):
                yield chunk
    except (OSError, ValueError) as error:
        detail = error.strerror if isinstance(error, OSError) else str(error)
        raise storage_error("storage/unreadable", detail=detail) from None


def _require_regular(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise storage_error("storage/unreadable", detail="it is a directory")
    if not stat.S_ISREG(mode):
        raise storage_error("storage/unreadable", detail="it is not a regular file")


def memory_chunks(data: bytes) -> Iterator[bytes]:
    """Bytes in memory, a chunk at a time."""
    for start in range(0, len(data), CHUNK):
        yield data[start : start + CHUNK]
