"""The sessions below a directory, by their headers alone: one bad session is an entry, never the end of the list."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dsh_protocol.dialect import CURRENT
from dsh_protocol.findings import StorageError, UnsupportedFormatError
from dsh_protocol.rows import (
    Header,
    LogName,
    LogSearch,
    decode_session,
    parse_log_name,
    path_findings,
    read_head,
    require_version,
    search_logs,
)

from ._errors import unreadable
from ._files import FILES, Files, open_regular

Verdict: TypeAlias = Literal["current", "older", "newer", "damaged"]


@dataclass(frozen=True, slots=True)
class StoredSession:
    """One session of a directory, as far as the header of its highest generation says.

    `id` is the header's, or what the name of the directory says. `size` counts the file's bytes, `modified` milliseconds
    since 1970. `verdict`: `current` is the format that the current release writes; `older` has to be migrated for it;
    `newer` and `damaged` cannot be read. `code` is the rule that makes it damaged, `message` what it says.
    """

    id: str | None
    path: Path
    version: int
    compression: Literal["zstd", "none"]
    size: int | None
    modified: int | None
    verdict: Verdict
    header: Header | None
    code: str | None = None
    message: str | None = None

    def to_json(self) -> dict[str, Any]:
        """This entry as a JSON object with all members present."""
        return {
            "id": self.id,
            "path": str(self.path),
            "formatVersion": self.version,
            "compression": self.compression,
            "bytes": self.size,
            "modified": self.modified,
            "verdict": self.verdict,
            "header": None if self.header is None else self.header.logical,
            "code": self.code,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class Listing:
    """The sessions below a directory in order of path, and what else was found there."""

    sessions: list[StoredSession]
    search: LogSearch


def list_sessions(directory: Path, *, files: Files = FILES) -> Listing:
    """List the sessions below a directory. Of each log the first line is read, and nothing else.

    Raises:
        StorageError: `storage/unreadable`, for the directory itself.
    """
    search = search_logs(directory)
    return Listing([describe(path, files=files) for path in search.chosen], search)


def describe(path: Path, *, files: Files = FILES) -> StoredSession:
    """What the header of a log with a canonical name says. Whatever is wrong with it is in the result."""
    name = parse_log_name(path.name) or LogName(0, path.name.endswith(".zstd"))
    entry = _Entry(path, name, files)
    try:
        header = entry.read()
    except UnsupportedFormatError as error:
        return entry.result("newer" if error.version > CURRENT else "older", error=error)
    except StorageError as error:
        return entry.result("damaged", error=error)
    for finding in path_findings(path, header):
        problem = StorageError(finding.rule, finding.message, fix=finding.fix)
        return entry.result("damaged", header, problem)
    return entry.result("current" if header.version == CURRENT else "older", header)


class _Entry:
    """A log that is being looked at."""

    def __init__(self, path: Path, name: LogName, files: Files) -> None:
        self._path = path
        self._name = name
        self._files = files
        self._size: int | None = None
        self._modified: int | None = None

    def read(self) -> Header:
        """The header.

        Raises:
            StorageError: there is none that is read here.
        """
        files = self._files
        fd = open_regular(files, self._path)
        try:
            state = files.fstat(fd)
            self._size, self._modified = state.st_size, state.st_mtime_ns // 1_000_000
            head = read_head(
                lambda size, offset: files.read_at(fd, size, offset),
                compressed=self._name.compressed,
            )
        except OSError as error:
            raise unreadable(error) from None
        finally:
            files.close(fd)
        require_version(self._path.name, head.header)
        return head.header

    def result(
        self,
        verdict: Verdict,
        header: Header | None = None,
        error: StorageError | None = None,
    ) -> StoredSession:
        return StoredSession(
            id=decode_session(self._path.parent.name) if header is None else header.id,
            path=self._path,
            version=self._name.version,
            compression="zstd" if self._name.compressed else "none",
            size=self._size,
            modified=self._modified,
            verdict=verdict,
            header=header,
            code=None if error is None else error.code,
            message=None if error is None else error.message,
        )
