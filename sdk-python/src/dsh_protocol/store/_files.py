"""The system calls of the store, all of them: a test puts another `Files` in their place to make one fail."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

from ._errors import refusal, unreadable

if sys.platform != "win32":
    import fcntl

_BINARY = getattr(os, "O_BINARY", 0)
# Whoever opens a pipe or a device by mistake must not wait for it.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)

READ = os.O_RDONLY | _BINARY | _NO_WAIT
APPEND = os.O_WRONLY | os.O_APPEND | _BINARY
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
LOCK = os.O_RDWR | os.O_CREAT | _BINARY


class Files:
    """One method per system call. Each raises `OSError` as the call does."""

    has_locks = sys.platform != "win32"

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        return os.open(path, flags, mode)

    def close(self, fd: int) -> None:
        os.close(fd)

    def read_at(self, fd: int, size: int, offset: int) -> bytes:
        """Up to `size` bytes from `offset`; fewer only at the end of the file."""
        os.lseek(fd, offset, os.SEEK_SET)
        pieces: list[bytes] = []
        while size > 0 and (piece := os.read(fd, size)):
            pieces.append(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """How many bytes were taken, which may be fewer than were given."""
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        os.fsync(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def lock(self, fd: int) -> None:
        """Lock the file for this descriptor, or raise `BlockingIOError` at once."""
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def fstat(self, fd: int) -> os.stat_result:
        return os.fstat(fd)

    def stat(self, path: Path) -> os.stat_result:
        return os.stat(path)

    def link(self, source: Path, target: Path) -> None:
        os.link(source, target)

    def unlink(self, path: Path) -> None:
        os.unlink(path)

    def mkdir(self, path: Path) -> None:
        os.mkdir(path, 0o700)

    def names(self, directory: Path) -> list[str]:
        """The names of the entries of a directory, sorted."""
        return sorted(os.listdir(directory))


FILES = Files()


def open_regular(files: Files, path: Path) -> int:
    """A descriptor to read a regular file with.

    Raises:
        StorageError: `storage/unreadable`.
    """
    try:
        fd = files.open(path, READ)
    except (OSError, ValueError) as error:
        raise unreadable(error) from None
    mode = files.fstat(fd).st_mode
    if stat.S_ISREG(mode):
        return fd
    files.close(fd)
    detail = "it is a directory" if stat.S_ISDIR(mode) else "it is not a regular file"
    raise refusal("storage/unreadable", detail=detail)


def write_all(files: Files, fd: int, data: bytes) -> None:
    """Write everything; the system may take it in pieces."""
    rest = memoryview(data)
    while rest:
        taken = files.write(fd, rest)
        if taken <= 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[taken:]


def sync_directory(files: Files, directory: Path) -> None:
    """Make names in a directory durable. Systems without descriptors of directories do so by themselves."""
    if sys.platform == "win32":
        return
    fd = files.open(directory, os.O_RDONLY)
    try:
        files.sync(fd)
    finally:
        files.close(fd)


def make_directory(files: Files, directory: Path) -> None:
    """Make a directory, private to its owner, and make its name durable; so with those above it that are missing."""
    try:
        files.mkdir(directory)
    except FileExistsError:
        pass
    except FileNotFoundError:
        make_directory(files, directory.parent)
        make_directory(files, directory)
        return
    sync_directory(files, directory.parent)


def is_same_file(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether two results are about one file."""
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
