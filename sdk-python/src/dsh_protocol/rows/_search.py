"""Find the logs below a directory: the highest generation of each session, and what was left out."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from ._paths import LogName, parse_log_name
from ._report import storage_error

MAX_ENTRIES = 1_000_000
"""How many directory entries are looked at, at most."""


class Neighbours(TypedDict):
    """What stands beside a chosen log: older generations by name, other entries by reason."""

    superseded: list[str]
    skipped: dict[str, int]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A directory entry that is no log to read, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class LogSearch:
    """Every entry below a directory, in order of path: each is in exactly one of the three lists."""

    directory: Path
    chosen: tuple[Path, ...]
    superseded: tuple[Path, ...]
    skipped: tuple[Skipped, ...]

    def neighbours(self, chosen: Path) -> Neighbours:
        """What else the directory of this log holds."""
        folder = chosen.parent
        return {
            "superseded": [path.name for path in self.superseded if path.parent == folder],
            "skipped": _reasons(skip for skip in self.skipped if skip.path.parent == folder),
        }

    def skipped_elsewhere(self) -> dict[str, int]:
        """Why entries were left out, with their number, in directories without a chosen log."""
        folders = {path.parent for path in self.chosen}
        return _reasons(skip for skip in self.skipped if skip.path.parent not in folders)


def _reasons(skipped: Iterator[Skipped]) -> dict[str, int]:
    return dict(sorted(Counter(skip.reason for skip in skipped).items()))


def find_logs(directory: Path, *, max_entries: int = MAX_ENTRIES) -> LogSearch:
    """Every session below a directory, or in it, as `search_logs` has it; a directory without any is an error.

    Raises:
        StorageError: `storage/no-logs`, or `storage/unreadable` for the directory itself.
    """
    search = search_logs(directory, max_entries=max_entries)
    if not search.chosen:
        raise storage_error("storage/no-logs", skipped=len(search.skipped))
    return search


def search_logs(directory: Path, *, max_entries: int = MAX_ENTRIES) -> LogSearch:
    """Every session below a directory, or in it.

    Links to directories are not followed. Only regular files with a canonical name (`session.jsonl`,
    `session.v<N>.jsonl`, optionally with `.zstd`) are logs.

    Raises:
        StorageError: `storage/unreadable`, for the directory itself.
    """
    search = _Search(max_entries)
    try:
        search.look_into(directory)
    except OSError as error:
        raise storage_error("storage/unreadable", detail=error.strerror) from None
    while search.pending:
        folder = search.pending.pop()
        try:
            search.look_into(folder)
        except OSError:
            search.skip(folder, "unreadable directory")
    return LogSearch(
        directory=directory,
        chosen=tuple(sorted(search.chosen)),
        superseded=tuple(sorted(search.superseded)),
        skipped=tuple(sorted(search.skipped, key=lambda skip: skip.path)),
    )


class _Search:
    """A walk under way."""

    def __init__(self, max_entries: int) -> None:
        self.pending: list[Path] = []
        self.chosen: list[Path] = []
        self.superseded: list[Path] = []
        self.skipped: list[Skipped] = []
        self._left = max_entries

    def skip(self, path: Path, reason: str) -> None:
        self.skipped.append(Skipped(path, reason))

    def look_into(self, folder: Path) -> None:
        logs: list[tuple[LogName, Path]] = []
        with os.scandir(folder) as entries:
            for entry in entries:
                self._left -= 1
                if self._left < 0:
                    self.pending.clear()
                    self.skip(folder, "beyond the limit of directory entries")
                    break
                name = self._classify(entry)
                if name is not None:
                    logs.append((name, folder / entry.name))
        self._choose(logs)

    def _classify(self, entry: os.DirEntry[str]) -> LogName | None:
        path = Path(entry.path)
        try:
            if entry.is_dir(follow_symlinks=False):
                self.pending.append(path)
                return None
            if entry.is_symlink() and entry.is_dir():
                self.skip(path, "linked directory, not followed")
                return None
            name = parse_log_name(entry.name)
            if name is None:
                self.skip(path, _why_no_log(entry.name))
            elif not stat.S_ISREG(entry.stat().st_mode):
                self.skip(path, "not a regular file")
            else:
                return name
        except OSError:
            self.skip(path, "broken link" if path.is_symlink() else "unreadable")
        return None

    def _choose(self, logs: list[tuple[LogName, Path]]) -> None:
        """Keep the highest generation; of two compressions of it, the plain one."""
        logs.sort(key=lambda log: (log[0].version, not log[0].compressed), reverse=True)
        self.chosen.extend(path for _, path in logs[:1])
        self.superseded.extend(path for _, path in logs[1:])


def _why_no_log(name: str) -> str:
    if name.endswith(".tmp"):
        return "temporary file"
    if name == "session.lock":
        return "lock file"
    if name.removesuffix(".zstd").endswith(".jsonl"):
        return "not a canonical log name"
    return "not a log"
