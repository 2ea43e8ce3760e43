"""Where logs are stored: `<root>/<project>/<session>/<file>`, each part a function of the header."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from dsh_protocol.findings import Finding, StorageError
from dsh_protocol.rules import is_active, refuse

from ._header import Header
from ._report import storage_error

_T = TypeVar("_T")

NO_PROJECT = "_no-cwd"
_LOG_NAME = re.compile(r"session(?:\.v([1-9][0-9]*))?\.jsonl(\.zstd)?")
_LITERAL = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_SEPARATOR = re.compile(r"[/\\:]+")
_UNIT = re.compile(r"~[0-9A-F]{4}|[A-Za-z0-9._-]|.", re.DOTALL)
_MAX_PROJECT = 251


@dataclass(frozen=True, slots=True)
class LogName:
    """What a canonical file name says: the format's version, and whether the log is compressed."""

    version: int
    compressed: bool

    def __str__(self) -> str:
        generation = f".v{self.version}" if self.version else ""
        return f"session{generation}.jsonl{'.zstd' if self.compressed else ''}"


def parse_log_name(name: str) -> LogName | None:
    """What a file name says about the log in it, null unless the name is canonical."""
    found = _LOG_NAME.fullmatch(name)
    # Python reads digits up to a limit; no generation needs more than a few.
    if found is None or len(found[1] or "") > 9:
        return None
    return LogName(int(found[1] or 0), found[2] is not None)


def encode_project(cwd: str | None) -> str:
    """The name of the project directory of a working directory (lossy: several may share one).

    Raises:
        StorageError: `storage/path-project`: the working directory is the empty string.
    """
    if cwd is None:
        return NO_PROJECT
    if not cwd:
        raise StorageError("storage/path-project", "an empty cwd has no project directory")
    encoded = _encode(_SEPARATOR.sub("-", cwd)).lstrip("-") or "root"
    return f"--{encoded[:_MAX_PROJECT]}--"


def encode_session(session_id: str) -> str:
    """The name of the directory of a session; no two ids share one.

    Raises:
        StorageError: `storage/path-session`: the id is the empty string.
    """
    if not session_id:
        raise StorageError("storage/path-session", "an empty id has no session directory")
    if session_id in (".", ".."):
        return "~002E" * len(session_id)
    return _encode(session_id)


def decode_session(name: str) -> str | None:
    """The session id whose directory has this name; null when no id has it."""
    try:
        units = b"".join(map(_units, _UNIT.findall(name)))
        session_id = units.decode("utf-16-be", "surrogatepass")
        return session_id if encode_session(session_id) == name else None
    except (ValueError, StorageError):
        return None


def _units(part: str) -> bytes:
    return bytes.fromhex(part[1:]) if part[0] == "~" else part.encode("utf-16-be")


def _encode(text: str) -> str:
    return "".join(char if char in _LITERAL else _escape(char) for char in text)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"~{units[i : i + 2].hex().upper()}" for i in range(0, len(units), 2))


def log_path(root: Path, header: Header, *, compressed: bool) -> Path:
    """Where the log with this header is stored below `root`.

    Raises:
        StorageError: the header's id or cwd is empty.
    """
    name = str(LogName(header.version, compressed))
    return root / encode_project(header.cwd) / encode_session(header.id) / name


def require_version(name: str, header: Header) -> None:
    """Compare the generation in a canonical file name with the header; other names say nothing.

    Raises:
        StorageError: `storage/name-version`.
    """
    named = parse_log_name(name)
    if named is None or named.version == header.version or not is_active("storage/name-version"):
        return
    raise storage_error("storage/name-version", named=named.version, stored=header.version)


def path_findings(path: Path, header: Header) -> Iterator[Finding]:
    """What is wrong with the place of a log with a canonical name, as far as its header says."""
    named = parse_log_name(path.name)
    if named is None:
        return
    session = Path(os.path.abspath(path)).parent
    if is_active("storage/mixed-compression") and _has_other_compression(session, named):
        yield refuse("storage/mixed-compression")
    if _is_stored_at(path, session.parent.parent, header, named):
        return
    yield from _wrong_name("storage/path-session", session.name, encode_session, header.id)
    yield from _wrong_name("storage/path-project", session.parent.name, encode_project, header.cwd)


def _wrong_name(
    rule: str, found: str, encode: Callable[[_T], str], member: _T
) -> Iterator[Finding]:
    try:
        expected = encode(member)
    except StorageError:
        expected = None
    if found != expected and is_active(rule):
        yield refuse(rule, line=1, found=found, expected=expected)


def _is_stored_at(path: Path, root: Path, header: Header, named: LogName) -> bool:
    """Whether the place that the header names is this very file, by whatever links."""
    try:
        return os.path.samefile(path, log_path(root, header, compressed=named.compressed))
    except (OSError, ValueError, StorageError):
        return False


def _has_other_compression(directory: Path, named: LogName) -> bool:
    try:
        with os.scandir(directory) as entries:
            others = [parse_log_name(entry.name) for entry in entries]
    except OSError:
        return False
    return any(other is not None and other.compressed != named.compressed for other in others)
