"""Where the sessions of a store are: `<root>/<project>/<session>/<file>`, as the released backend lays them out."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dsh_protocol.rows import encode_session, parse_log_name

from ._errors import StoreError
from ._files import Files

_SUFFIXES = (".jsonl", ".jsonl.zstd")


@dataclass(frozen=True, slots=True)
class Layout:
    """A root directory and the one compression of its logs."""

    files: Files
    root: Path
    compressed: bool

    def find(self, session_id: str) -> Path | None:
        """The highest generation of a session's log, null when the store has no such session.

        Raises:
            StoreError: `store/duplicate-id`, `store/encoding-mismatch`, `store/legacy-layout`.
            StorageError: `storage/path-session`: no session has this id.
        """
        segment = encode_session(session_id)
        found: list[Path] = []
        for project in self._entries(self.root):
            for suffix in _SUFFIXES:
                self._refuse_flat(project / f"{segment}{suffix}")
            latest = self._latest(project / segment)
            if latest is not None:
                found.append(latest)
        if len(found) > 1:
            raise StoreError("store/duplicate-id", id=session_id)
        return found[0] if found else None

    def require_one_compression(self) -> None:
        """Look into every session directory, once per store: a root has logs of one compression.

        Raises:
            StoreError: `store/encoding-mismatch`, `store/legacy-layout`.
        """
        for project in self._entries(self.root):
            for session in self._entries(project):
                if session.name.endswith(_SUFFIXES):
                    self._refuse_flat(session)
                self._latest(session)

    def _latest(self, session: Path) -> Path | None:
        best: tuple[int, Path] | None = None
        for path in self._entries(session):
            name = parse_log_name(path.name)
            if name is None:
                continue
            if name.compressed != self.compressed:
                compression = "zstd" if self.compressed else "none"
                raise StoreError("store/encoding-mismatch", compression=compression, path=path)
            if best is None or name.version > best[0]:
                best = (name.version, path)
        return None if best is None else best[1]

    def _refuse_flat(self, path: Path) -> None:
        try:
            mode = self.files.stat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return
        # An id may end like that, too: then it is a session directory.
        if stat.S_ISREG(mode):
            raise StoreError("store/legacy-layout", path=path)

    def _entries(self, directory: Path) -> Iterator[Path]:
        """What a directory holds; nothing when there is none."""
        try:
            names = self.files.names(directory)
        except (FileNotFoundError, NotADirectoryError):
            return
        for name in names:
            yield directory / name
