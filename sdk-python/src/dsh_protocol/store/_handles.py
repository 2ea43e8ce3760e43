"""Handles of one session: one that only reads, and the one that may write."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NoReturn

from dsh_protocol.reading import Accepted, accept
from dsh_protocol.rows import Event, Header, ReadLimits, open_log

from ._batches import encode_header, encode_rows, rows_of
from ._cursor import Cursor
from ._errors import StoreError, os_detail
from ._files import APPEND, Files, is_same_file, write_all
from ._lock import SessionLock
from ._position import Position
from ._publish import publish
from ._reader import LogReader


class Handle:
    """A session of a store. `path` is where its log is, or will be once there is something in it."""

    access: Literal["read", "write"] = "read"

    def __init__(self, path: Path, header: Header, files: Files, limits: ReadLimits) -> None:
        self.path = path
        self.header = header
        self._files = files
        self._limits = limits
        self._closed = False

    @property
    def id(self) -> str:
        """The session's id."""
        return self.header.id

    def read(self) -> Accepted:
        """The whole log as it is now, with the state after it.

        Raises:
            RefusedError: the released reader refuses the log.
            StorageError: the file is no log, or gone.
        """
        self._require_open()
        return accept(open_log(self.path, limits=self._limits))

    def reader(self, cursor: Cursor | None = None) -> LogReader:
        """An incremental reader of the log, from its first row or from a cursor.

        Raises:
            StorageError: as `LogReader`.
        """
        self._require_open()
        return LogReader(self.path, cursor=cursor, limits=self._limits, files=self._files)

    def close(self) -> None:
        """Let go of the session. Closing twice is fine."""
        self._closed = True

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require_open(self) -> None:
        if self._closed:
            raise StoreError("store/handle-closed", id=self.id)


class Reader(Handle):
    """A handle that only reads. It takes no lock, so the log may grow meanwhile."""

    def __enter__(self) -> Reader:
        return self

    def append(self, _events: Sequence[Event]) -> None:
        """Refused: this handle only reads.

        Raises:
            StoreError: `store/read-only`, `store/handle-closed`.
        """
        self._require_open()
        raise StoreError("store/read-only", id=self.id)

    def flush(self) -> None:
        """Refused: this handle only reads.

        Raises:
            StoreError: `store/read-only`, `store/handle-closed`.
        """
        self.append(())


class Writer(Handle):
    """The one handle that may write to a session. Each append is durable when it returns.

    The cost of an append depends on its events, never on the length of the log.
    """

    access = "write"

    def __init__(
        self,
        path: Path,
        header: Header,
        files: Files,
        limits: ReadLimits,
        *,
        compressed: bool,
        own: Callable[[], SessionLock],
        lock: SessionLock | None = None,
        position: Position | None = None,
        file: os.stat_result | None = None,
    ) -> None:
        """A writer of a new log, which calls `own` before its first write, or of one (`file`) that is locked and read."""
        super().__init__(path, header, files, limits)
        self._compressed = compressed
        self._own = own
        self._lock = lock
        self._position = position
        self._file = file
        self._fd: int | None = None
        self._broken = False

    @property
    def count(self) -> int:
        """How many events the log has, which is the number of the next one."""
        return 0 if self._position is None else self._position.count

    @property
    def position(self) -> Position | None:
        """Where the log ends, and what the first append will cut off; null while nothing is stored."""
        return self._position

    def __enter__(self) -> Writer:
        return self

    def read(self) -> Accepted:
        """The whole log as it is now, with the state after it.

        Raises:
            StoreError: `store/not-found`, while nothing is stored.
            RefusedError: the released reader refuses the log.
            StorageError: the file is no log, or gone.
        """
        if self._position is None and not self._closed:
            raise StoreError("store/not-found", id=self.id)
        return super().read()

    # ---- Writing -----------------------------------------------------------------------------------

    def append(self, events: Sequence[Event]) -> None:
        """Add events to the log: all of them, durably, or none.

        They are numbered from `count` on. Before the first append a torn end is cut off.

        Raises:
            StoreError: `store/not-contiguous`, `store/row-limit`, `store/already-owned`, `store/already-exists`,
                `store/ownership-lost`, `store/write-failed`, `store/rollback-failed`, `store/handle-closed`.
            RefusedError: an envelope breaks a rule; the log is unchanged.
            JsonError: a payload holds what is no JSON value.
        """
        self._require_writable()
        batch = list(events)
        limit = self._limits.max_row_bytes
        rows = rows_of(self.header, batch, next_seq=self.count, max_row_bytes=limit)
        if not rows:
            return
        if self._position is None:
            self._create(rows)
            return
        self._repair()
        self._write(rows)
        self._advance(len(rows))

    def flush(self) -> None:
        """Store the session even if it has no event yet, and cut off a torn end. Appended events are stored already.

        Raises:
            StoreError: as `append`.
        """
        self._require_writable()
        if self._position is None:
            self._create([])
        else:
            self._repair()

    def close(self) -> None:
        """Let go of the session and of its lock. Closing twice is fine."""
        super().close()
        fd, self._fd = self._fd, None
        lock, self._lock = self._lock, None
        try:
            if fd is not None:
                self._files.close(fd)
        finally:
            if lock is not None:
                lock.release()

    def _require_writable(self) -> None:
        self._require_open()
        if self._broken:
            detail = "an earlier write was left half done"
            raise StoreError("store/rollback-failed", id=self.id, detail=detail)

    def _create(self, rows: list[bytes]) -> None:
        content = encode_header(self.header, compressed=self._compressed)
        if rows:
            content += encode_rows(rows, compressed=self._compressed)
        try:
            if self._lock is None:
                self._lock = self._own()
            self._file = publish(self._files, self.path, content)
        except FileExistsError:
            raise StoreError("store/already-exists", id=self.id) from None
        except OSError as error:
            # Without a lock nothing was written yet.
            self._broken = self._lock is not None and self.path.exists()
            self._fail(error)
        self._position = Position(len(rows), len(content), len(content))

    def _repair(self) -> None:
        """Cut off what the reader does not take, and write recovered rows again."""
        position = self._state()
        if position.is_torn:
            self._cut(position.end)
            self._position = Position(
                position.count, position.end, position.end, position.recovered
            )
        if position.recovered:
            self._write(position.recovered)
            self._advance(0)

    def _write(self, rows: Sequence[bytes]) -> None:
        fd, position = self._require_owned(), self._state()
        content = encode_rows(rows, compressed=self._compressed)
        try:
            write_all(self._files, fd, content)
            self._files.sync(fd)
        except BaseException as error:
            self._roll_back(position.end, error)
            if isinstance(error, OSError):
                self._fail(error)
            raise
        end = position.end + len(content)
        self._position = Position(position.count, end, end, position.recovered)

    def _advance(self, events: int) -> None:
        position = self._state()
        self._position = Position(position.count + events, position.end, position.size)

    def _cut(self, end: int) -> None:
        fd = self._require_owned()
        try:
            self._files.truncate(fd, end)
            self._files.sync(fd)
        except OSError as error:
            self._broken = True
            raise StoreError(
                "store/rollback-failed", id=self.id, detail=os_detail(error)
            ) from error

    def _roll_back(self, end: int, error: BaseException) -> None:
        try:
            fd = self._descriptor()
            self._files.truncate(fd, end)
            self._files.sync(fd)
        except OSError as failure:
            self._broken = True
            detail = os_detail(failure)
            raise StoreError("store/rollback-failed", id=self.id, detail=detail) from error

    def _require_owned(self) -> int:
        """The descriptor to write with, if the file is the one at the path and as long as this handle left it.

        Raises:
            StoreError: `store/ownership-lost`.
        """
        fd, position = self._descriptor(), self._state()
        try:
            state = self._files.fstat(fd)
            same = self._is_file(state) and self._is_file(self._files.stat(self.path))
        except FileNotFoundError:
            same = False
        except OSError as error:
            self._fail(error)
        if not same:
            raise StoreError("store/ownership-lost", id=self.id, detail="its file is another one")
        if state.st_size != position.size:
            detail = f"it has {state.st_size} bytes, not {position.size}"
            raise StoreError("store/ownership-lost", id=self.id, detail=detail)
        return fd

    def _is_file(self, state: os.stat_result) -> bool:
        return self._file is not None and is_same_file(state, self._file)

    def _state(self) -> Position:
        assert self._position is not None
        return self._position

    def _descriptor(self) -> int:
        if self._fd is None:
            try:
                self._fd = self._files.open(self.path, APPEND)
            except FileNotFoundError:
                detail = "its file is gone"
                raise StoreError("store/ownership-lost", id=self.id, detail=detail) from None
            except OSError as error:
                self._fail(error)
        return self._fd

    def _fail(self, error: OSError) -> NoReturn:
        raise StoreError("store/write-failed", id=self.id, detail=os_detail(error)) from error
