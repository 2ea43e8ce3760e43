"""Stores to write to and to break: events with dense numbers, headers, and a file system that fails on demand."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import synthetic

from dsh_protocol.rows import Event, open_log
from dsh_protocol.store._files import Files

TIME = 1_700_000_000_000


def header(version: int = 4, **changes: Any) -> dict[str, Any]:
    """The logical header of a session."""
    row = synthetic.header(version, **changes)
    del row["type"]
    return row


def events(start: int, count: int, text: str = "Hi.") -> list[Event]:
    """Events in any number, of two types: a log-only one and a message on the surface."""
    return [event(seq, text) for seq in range(start, start + count)]


def event(seq: int, text: str = "Hi.") -> Event:
    """The event with this number."""
    if seq % 3:
        row = synthetic.event(seq, "todo/write", {"todos": [], "note": f"{text} {seq}"})
    else:
        data = synthetic.message("user", f"{text} {seq}", {"kind": "user"}, f"m-{seq}")
        row = synthetic.event(seq, "user/message", data, surfaceOp="append")
    return Event.from_value(row)


def rows(path: Path) -> list[bytes]:
    """The rows of the events of a stored log, as an independent reader of the file has them."""
    log = open_log(path)
    assert [e.seq for e in log.events] == list(range(len(log.events)))
    return [e.row_bytes() for e in log.events]


def encoded(batch: list[Event]) -> list[bytes]:
    """The rows of events that are not stored yet."""
    return [event.row_bytes() for event in batch]


class Killed(BaseException):
    """The process is dead: from here on nothing it calls has an effect."""


class FaultyFiles(Files):
    """Real system calls, of which one fails. `calls` has those that could change something, in order.

    `at` is the number of the call that fails, from 0; `fault` says how. With `only`, a call of another name is spared.
    """

    def __init__(self, at: int | None, fault: Callable[[FaultyFiles], None]) -> None:
        self.calls: list[str] = []
        self.opened: set[int] = set()
        self.only: str | None = None
        self.hit = False
        self._at = at
        self._fault = fault

    def _enter(self, name: str) -> None:
        self.calls.append(name)
        if self._at is not None and len(self.calls) > self._at and self.only in (None, name):
            self._fault(self)

    @property
    def is_first_fault(self) -> bool:
        """Whether this call is the one that was asked to fail."""
        return len(self.calls) - 1 == self._at

    def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
        self._enter("open")
        fd = super().open(path, flags, mode)
        self.opened.add(fd)
        return fd

    def close(self, fd: int) -> None:
        self._enter("close")
        self.really_close(fd)

    def really_close(self, fd: int) -> None:
        """What the system does with a descriptor of a dead process."""
        self.opened.discard(fd)
        super().close(fd)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._enter("write")
        return super().write(fd, data)

    def sync(self, fd: int) -> None:
        self._enter("sync")
        super().sync(fd)

    def truncate(self, fd: int, size: int) -> None:
        self._enter("truncate")
        super().truncate(fd, size)

    def lock(self, fd: int) -> None:
        self._enter("lock")
        super().lock(fd)

    def link(self, source: Path, target: Path) -> None:
        self._enter("link")
        super().link(source, target)

    def unlink(self, path: Path) -> None:
        self._enter("unlink")
        super().unlink(path)

    def mkdir(self, path: Path) -> None:
        self._enter("mkdir")
        super().mkdir(path)


def die(_files: FaultyFiles) -> None:
    """Every call from the chosen one on finds the process dead."""
    raise Killed


def full_disk(files: FaultyFiles) -> None:
    """The chosen call finds no room, once."""
    if files.is_first_fault:
        files.hit = True
        no_room()


def no_room() -> None:
    """What a full disk answers.

    Raises:
        OSError: always.
    """
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class ShortWrites(Files):
    """The system takes a few bytes at a time."""

    def __init__(self, most: int) -> None:
        self._most = most

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return super().write(fd, memoryview(data)[: self._most])
