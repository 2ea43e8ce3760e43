"""The header line: which session this is, and in which format its log is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dsh_protocol import jsonvalue
from dsh_protocol.dialect import CURRENT, OLDEST
from dsh_protocol.findings import JsonError, StorageError
from dsh_protocol.jsonvalue import JsonValue, is_count
from dsh_protocol.rules import is_active

from ._limits import ReadLimits
from ._report import RowFindings, format_error, storage_error

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TYPE = "session"
_RETIRED = ("sandboxMode", "approvalPolicy")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[\\/]|\\\\")
_HEADER_LINE = 1


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a stored log. `value` is the stored object as read, `raw` the line without LF.

    `is_seeded` says that the log begins with events inherited from another session;
    `created_at` counts milliseconds since 1970.
    """

    version: int
    id: str
    created_at: int
    cwd: str | None
    parent_session: str | None
    is_seeded: bool
    origin: str | None
    delegation_depth: int
    agent_preset: str | None
    value: dict[str, JsonValue]
    raw: bytes

    @property
    def logical(self) -> dict[str, JsonValue]:
        """The header without its `type`, in the released order of members."""
        return {name: self.value[name] for name in _MEMBERS if name in self.value}


def header_bytes(logical: Mapping[str, JsonValue]) -> bytes:
    """The header line (without LF) for a logical header, in the released order of members.

    Raises:
        StorageError: `header/unknown-member`, `header/retired-member`, `header/member` or `header/version`.
    """
    _check_members(logical)
    members = {name: logical[name] for name in _MEMBERS if name in logical}
    return jsonvalue.dump_bytes({"type": _TYPE, **members})


def make_header(logical: Mapping[str, JsonValue]) -> Header:
    """The header that a log with these members has once it is stored.

    Raises:
        UnsupportedFormatError: `header/newer-format`, `header/older-format`.
        StorageError: as `header_bytes`.
    """
    limits = ReadLimits()
    return read_header(header_bytes(logical), limits, RowFindings(limits.max_findings))


def read_header(line: bytes | None, limits: ReadLimits, findings: RowFindings) -> Header:
    """The header in the first line of a log.

    Raises:
        UnsupportedFormatError: `header/newer-format`, `header/older-format`.
        StorageError: any other `header/*` rule, `storage/byte-order-mark` or `storage/row-limit`.
    """
    if line is None:
        raise storage_error("storage/row-limit", line=_HEADER_LINE, limit=limits.max_row_bytes)
    if line.startswith(BYTE_ORDER_MARK):
        raise storage_error("storage/byte-order-mark", line=_HEADER_LINE)
    value = _parse(line, limits, findings)
    version = _version(value)
    if version > CURRENT:
        raise format_error("header/newer-format", version, supported=CURRENT)
    if version < OLDEST:
        raise format_error("header/older-format", version)
    _check_members({name: member for name, member in value.items() if name != "type"})
    created_at, depth = value.get("createdAt"), value.get("delegationDepth")
    return Header(
        version=version,
        id=_text(value, "id") or "",
        created_at=created_at if isinstance(created_at, int) else 0,
        cwd=_text(value, "cwd"),
        parent_session=_text(value, "parentSession"),
        is_seeded=value.get("isSeeded") is True,
        origin=_text(value, "origin"),
        delegation_depth=depth if isinstance(depth, int) else 0,
        agent_preset=_text(value, "agentPreset"),
        value=value,
        raw=line,
    )


def _parse(line: bytes, limits: ReadLimits, findings: RowFindings) -> dict[str, JsonValue]:
    offset = jsonvalue.utf8_error(line)
    text = line if offset is None else line.decode("utf-8", "replace").encode()
    try:
        value = jsonvalue.loads(text, max_depth=limits.max_depth)
    except JsonError as error:
        raise _missing(error.message) from None
    if not isinstance(value, dict):
        raise _missing("it is not an object")
    if value.get("type") != _TYPE:
        raise _missing("its type is not session")
    if offset is not None:
        findings.add("json/encoding", line=_HEADER_LINE, offset=offset)
    return value


def _missing(detail: str) -> StorageError:
    return storage_error("header/missing", line=_HEADER_LINE, detail=detail)


def _version(value: Mapping[str, JsonValue]) -> int:
    version = value.get("version")
    path = "/version" if "version" in value else ""
    # Not `is_count`: a version beyond 2^53 is that of a newer format, too.
    if type(version) is not int or version < 0:
        raise storage_error("header/version", line=_HEADER_LINE, path=path, found=version)
    return version


def _text(value: Mapping[str, JsonValue], name: str) -> str | None:
    member = value.get(name)
    return member if isinstance(member, str) else None


# ---- Members ---------------------------------------------------------------------------------------


def is_absolute(cwd: str) -> bool:
    """Whether a working directory is absolute on the system that wrote it (POSIX or Windows)."""
    return _ABSOLUTE.match(cwd) is not None


@dataclass(frozen=True, slots=True)
class _Member:
    accepts: Callable[[JsonValue], bool]
    expected: str
    required: bool = False


def _is_text(value: JsonValue) -> bool:
    return isinstance(value, str)


_COUNT = "an integer from 0 to 2^53-1"
_STRING = "a string"
_MEMBERS: Mapping[str, _Member] = {
    "version": _Member(is_count, _COUNT, required=True),
    "id": _Member(_is_text, _STRING, required=True),
    "createdAt": _Member(is_count, f"{_COUNT} (milliseconds since 1970)", required=True),
    "cwd": _Member(lambda v: isinstance(v, str) and is_absolute(v), "an absolute path"),
    "parentSession": _Member(_is_text, _STRING),
    "isSeeded": _Member(lambda v: isinstance(v, bool), "true or false", required=True),
    "origin": _Member(lambda v: v == "subagent", '"subagent" if it is present'),
    "delegationDepth": _Member(is_count, _COUNT, required=True),
    "agentPreset": _Member(_is_text, _STRING),
}
"""The declared members of a logical header, in the order in which they are stored."""


def _check_members(logical: Mapping[str, JsonValue]) -> None:
    for rule, name, details in _member_problems(logical):
        if is_active(rule):
            path = jsonvalue.pointer(name) if name in logical else ""
            raise storage_error(rule, line=_HEADER_LINE, path=path, member=name, **details)


def _member_problems(
    logical: Mapping[str, JsonValue],
) -> Iterable[tuple[str, str, dict[str, str]]]:
    for name in _RETIRED:
        if name in logical:
            yield "header/retired-member", name, {}
    for name in logical:
        if name not in _MEMBERS and name not in _RETIRED:
            yield "header/unknown-member", name, {}
    for name, member in _MEMBERS.items():
        present = name in logical
        if member.required > present or (present and not member.accepts(logical[name])):
            yield "header/member", name, {"expected": member.expected}
