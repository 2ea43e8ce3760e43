"""A new log appears whole or not at all: a temporary file, a hard link to its name, a synced directory."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from ._files import NEW, Files, sync_directory, write_all

_TEMPORARY = re.compile(r"\.[0-9a-f]{12}\.tmp")


def publish(files: Files, path: Path, content: bytes) -> os.stat_result:
    """Make a new file with this content, durably, and say which file it is. Its directory exists.

    Raises:
        FileExistsError: the name is taken, and was left as it is.
        OSError: the file is not there.
    """
    temporary = path.with_name(f"{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        state = _write_synced(files, temporary, content)
        files.link(temporary, path)
    except BaseException:
        _remove(files, temporary)
        raise
    try:
        sync_directory(files, path.parent)
    except BaseException:
        # Whether the name survives is unknown, so it must not be taken for written.
        files.unlink(path)
        _remove(files, temporary)
        raise
    _remove(files, temporary)
    return state


def _write_synced(files: Files, path: Path, content: bytes) -> os.stat_result:
    fd = files.open(path, NEW)
    try:
        write_all(files, fd, content)
        files.sync(fd)
        return files.fstat(fd)
    finally:
        files.close(fd)


def _remove(files: Files, path: Path) -> None:
    with suppress(OSError):
        files.unlink(path)


def remove_leftovers(files: Files, path: Path) -> None:
    """Remove temporary files that a writer of this log left behind when it died. Only under its lock."""
    with suppress(OSError):
        for name in files.names(path.parent):
            if name.startswith(path.name) and _TEMPORARY.fullmatch(name[len(path.name) :]):
                _remove(files, path.with_name(name))
