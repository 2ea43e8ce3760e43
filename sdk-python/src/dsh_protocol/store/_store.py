"""A directory of sessions, laid out as the released backend does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from dsh_protocol.findings import UsageError
from dsh_protocol.jsonvalue import JsonValue
from dsh_protocol.rows import Header, ReadLimits, log_path, make_header

from ._errors import StoreError, unreadable
from ._files import FILES, Files, make_directory
from ._handles import Reader, Writer
from ._layout import Layout
from ._listing import StoredSession, list_sessions
from ._lock import SessionLock
from ._position import find_position
from ._publish import remove_leftovers
from ._reader import LogReader

Compression: TypeAlias = Literal["zstd", "none"]


class Store:
    """The sessions below a root directory, which need not exist yet. All logs of a root have one compression.

    One writer at a time holds a session, across processes; readers take no lock. A created session is in nobody's way
    until its first append or flush.
    """

    def __init__(
        self,
        root: Path | str,
        compression: Compression = "zstd",
        *,
        limits: ReadLimits | None = None,
        files: Files = FILES,
    ) -> None:
        if compression not in get_args(Compression):
            raise UsageError(
                "store/compression",
                f"there is no compression {compression!r}",
                fix='Use "zstd" or "none", as the logs of the root have it.',
            )
        self.root = Path(root).absolute()
        self.compression = compression
        self._files = files
        self._limits = limits or ReadLimits()
        self._layout = Layout(files, self.root, compression == "zstd")
        self._is_checked = False

    def create(self, header: Header | Mapping[str, JsonValue]) -> Writer:
        """A writer of a new session. Nothing is stored before its first append or flush.

        Raises:
            StoreError: `store/already-exists`, or another `store/*` code about what the root holds.
            StorageError: a member of the header is not what it has to be (`header/*`).
        """
        made = header if isinstance(header, Header) else make_header(header)
        with _reading():
            self._check_root()
            if self._layout.find(made.id) is not None:
                raise StoreError("store/already-exists", id=made.id)
        compressed = self._layout.compressed
        path = log_path(self.root, made, compressed=compressed)
        return Writer(
            path,
            made,
            self._files,
            self._limits,
            compressed=compressed,
            own=lambda: self._own_new(path, made.id),
        )

    def open_writer(self, session_id: str) -> Writer:
        """The writer of a stored session. The log is read to its end, in bounded memory, and not changed.

        What its events say together (the surface, relations) is not judged here: `Writer.read` does that.

        Raises:
            StoreError: `store/not-found`, `store/already-owned`, or another `store/*` code.
            UnsupportedFormatError: the log is of a format that is not written here.
            RefusedError: the released reader refuses the log.
            StorageError: the file is no log.
        """
        with _reading():
            path = self._find(session_id)
            lock = SessionLock.acquire(self._files, path.parent, session_id)
            try:
                # Whoever held the lock until now may have migrated the session.
                path = self._find(session_id)
                with LogReader(path, limits=self._limits, files=self._files) as reader:
                    position, file = find_position(reader, self._limits), reader.state()
                remove_leftovers(self._files, path)
            except BaseException:
                lock.release()
                raise
        return Writer(
            path,
            reader.header,
            self._files,
            self._limits,
            compressed=reader.compressed,
            own=lambda: lock,
            lock=lock,
            position=position,
            file=file,
        )

    def open_reader(self, session_id: str) -> Reader:
        """A handle that only reads a stored session.

        Raises:
            StoreError: `store/not-found`, or another `store/*` code about what the root holds.
            UnsupportedFormatError: the log is of a format that is not read here.
            StorageError: the file is no log.
        """
        with _reading():
            path = self._find(session_id)
            with LogReader(path, limits=self._limits, files=self._files) as reader:
                return Reader(path, reader.header, self._files, self._limits)

    def list(self) -> list[StoredSession]:
        """Every session below the root, by path; only headers are read. A bad session is an entry like the others.

        Raises:
            StorageError: `storage/unreadable`, for the root itself.
        """
        if not self.root.exists():
            return []
        return list_sessions(self.root).sessions

    def _find(self, session_id: str) -> Path:
        self._check_root()
        path = self._layout.find(session_id)
        if path is None:
            raise StoreError("store/not-found", id=session_id)
        return path

    def _check_root(self) -> None:
        if not self._is_checked:
            self._layout.require_one_compression()
            self._is_checked = True

    def _own_new(self, path: Path, session_id: str) -> SessionLock:
        """Make the directories of a new session and lock it, unless it has appeared meanwhile."""
        for directory in (self.root, path.parent.parent, path.parent):
            make_directory(self._files, directory)
        lock = SessionLock.acquire(self._files, path.parent, session_id)
        try:
            if self._layout.find(session_id) is not None:
                raise StoreError("store/already-exists", id=session_id)
            remove_leftovers(self._files, path)
        except BaseException:
            lock.release()
            raise
        return lock


@contextmanager
def _reading() -> Iterator[None]:
    """What the system refuses inside the block is a `StorageError`."""
    try:
        yield
    except OSError as error:
        raise unreadable(error) from error
