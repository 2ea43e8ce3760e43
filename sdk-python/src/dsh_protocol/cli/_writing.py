"""Write a log to a file of its own: whole or not at all, and never over another file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from dsh_protocol.findings import UsageError
from dsh_protocol.rows import Event, Header, compress_frame, header_bytes

from . import _output as output

_COMPRESSED = ".zstd"
_FIX = "Name a file in a directory that exists and can be written to."


def save(path: Path, header: Header, events: Iterable[Event]) -> None:
    """Write a log, compressed if the name ends in `.zstd`; leave when that cannot be done.

    Rows that were read are written as they were.
    """
    parts = [header.raw or header_bytes(header.logical), *(event.row_bytes() for event in events)]
    lines = [part + b"\n" for part in parts]
    if path.name.endswith(_COMPRESSED):
        # The header line is a frame of its own, so that a reader of headers need not decode more.
        frames = [lines[0], b"".join(lines[1:])]
        lines = [compress_frame(frame) for frame in frames if frame]
    try:
        _publish(path, b"".join(lines))
    except ValueError:
        message = "the file cannot be written: this is no name of a file"
        output.fail(UsageError("output/unwritable", message, fix=_FIX), path=str(path))
    except FileExistsError:
        fix = "Name a file that does not exist yet."
        output.fail(UsageError("output/exists", "the file exists", fix=fix), path=str(path))
    except OSError as error:
        message = f"the file cannot be written: {error.strerror}"
        output.fail(UsageError("output/unwritable", message, fix=_FIX), path=str(path))


def _publish(path: Path, content: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # A link, unlike a rename, never takes the place of what is there.
        os.link(temporary, path)
    finally:
        with suppress(OSError):
            os.unlink(temporary)
    _sync_directory(path.parent)


def _sync_directory(directory: Path) -> None:
    # Not every system lets a directory be opened; then there is nothing to sync.
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
