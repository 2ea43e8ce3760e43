"""One writer per session: the lock file that the released runtime locks, too."""

from __future__ import annotations

from pathlib import Path

from ._errors import StoreError
from ._files import LOCK, Files, is_same_file

LOCK_NAME = "session.lock"
_ATTEMPTS = 3


class SessionLock:
    """An exclusive lock of a session directory, held until `release` or the end of the process.

    The file is empty and is never deleted: whoever locks it next compares what it has locked with what the path
    names. A child made by fork shares the lock, so it is free only when both have let go of it.
    """

    def __init__(self, files: Files, fd: int) -> None:
        self._files = files
        self._fd: int | None = fd

    @classmethod
    def acquire(cls, files: Files, directory: Path, session_id: str) -> SessionLock:
        """Lock the directory of a session, at once or not at all.

        Raises:
            StoreError: `store/already-owned`, `store/unsupported-platform`.
        """
        if not files.has_locks:
            # The released runtime uses a named semaphore there; a lock that it does not see would be none.
            raise StoreError("store/unsupported-platform")
        path = directory / LOCK_NAME
        for _ in range(_ATTEMPTS):
            fd = cls._open(files, path)
            try:
                files.lock(fd)
                if cls._is_current(files, fd, path):
                    return cls(files, fd)
            except BlockingIOError:
                files.close(fd)
                raise StoreError("store/already-owned", id=session_id) from None
            except BaseException:
                files.close(fd)
                raise
            files.close(fd)
        raise StoreError("store/already-owned", id=session_id)

    @staticmethod
    def _open(files: Files, path: Path) -> int:
        try:
            return files.open(path, LOCK)
        except OSError as error:
            # Whoever reads it must not look for the fault in the log.
            raise OSError(error.errno, f"{LOCK_NAME}: {error.strerror}") from None

    @staticmethod
    def _is_current(files: Files, fd: int, path: Path) -> bool:
        try:
            return is_same_file(files.fstat(fd), files.stat(path))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let the next writer in. Releasing twice is fine."""
        fd, self._fd = self._fd, None
        if fd is not None:
            self._files.close(fd)
