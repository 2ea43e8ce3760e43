"""One event type: its formats, and who refuses a bad member of its payload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import dsh_protocol_data
from dsh_protocol.findings import UsageError

from ._words import near

_Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Member:
    """One place of a payload and everything below it that has no entry of its own.

    `path` is a JSON Pointer from the payload, with `*` for every entry of a list. `by` says for each
    format that has the member which levels of released software refuse a bad one, `()` when only the
    schema does. `must` is what they want (`""` where nobody looks).
    """

    path: str
    by: Mapping[int, tuple[str, ...]]
    must: str

    @property
    def is_enforced(self) -> bool:
        """Whether any release looks at it."""
        return any(self.by.values())

    def to_json(self) -> dict[str, Any]:
        """This member as a JSON object."""
        by = {str(version): list(levels) for version, levels in self.by.items()}
        return {"path": self.path, "by": by, "must": self.must or None}


@dataclass(frozen=True, slots=True)
class MemberChange:
    """A member, or one `value` of it, that not every format has or that came with a release (`since`)."""

    path: str
    value: Any
    formats: tuple[int, ...]
    since: str | None
    note: str

    def to_json(self) -> dict[str, Any]:
        """This change as a JSON object."""
        return {
            "path": self.path,
            "value": self.value,
            "formats": list(self.formats),
            "since": self.since,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class EventType:
    """One event type. `since` and `until` are the first and last release that write it, where that is not its format's."""

    type: str
    family: str
    formats: tuple[int, ...]
    surface: bool
    since: str | None
    until: str | None
    note: str | None
    members: tuple[Member, ...]
    changes: tuple[MemberChange, ...]

    def count(self, level: str) -> int:
        """How many members this level of released software looks at, in any format; `schema` counts those that none does."""
        if level == "schema":
            return sum(not member.is_enforced for member in self.members)
        return sum(any(level in by for by in member.by.values()) for member in self.members)

    def to_json(self) -> dict[str, Any]:
        """This type as a JSON object."""
        return {
            "type": self.type,
            "family": self.family,
            "formats": list(self.formats),
            "surface": self.surface,
            "since": self.since,
            "until": self.until,
            "note": self.note,
            "members": [member.to_json() for member in self.members],
            "changes": [change.to_json() for change in self.changes],
        }


@cache
def event_types() -> Mapping[str, EventType]:
    """Every event type of the formats that are read here, in the order of the vocabulary."""
    vocabulary: list[_Entry] = dsh_protocol_data.load("vocabulary")["types"]
    enforcement: list[_Entry] = dsh_protocol_data.load("enforcement")["types"]
    history: list[_Entry] = dsh_protocol_data.load("member_history")["members"]
    enforced = {entry["type"]: entry for entry in enforcement}
    found = {}
    for entry in vocabulary:
        changes = tuple(_change(change) for change in history if change["type"] == entry["type"])
        found[entry["type"]] = EventType(
            type=entry["type"],
            family=entry["family"],
            formats=tuple(entry["formats"]),
            surface=entry["surface"],
            since=entry.get("since"),
            until=entry.get("until"),
            note=entry.get("note"),
            members=tuple(_members(enforced[entry["type"]], entry["formats"], changes)),
            changes=changes,
        )
    return MappingProxyType(found)


def event_type(name: str) -> EventType:
    """The event type with this name.

    Raises:
        UsageError: `types/unknown-type`, no format that is read here has it; `fix` lists similar names.
    """
    found = event_types().get(name)
    if found is None:
        names = near(name, event_types())
        raise UsageError(
            "types/unknown-type",
            f"no event type is called {name[:120]!r}",
            fix=f"Similar names: {', '.join(names)}."
            if names
            else "List them: dsh-protocol types.",
        )
    return found


def _members(
    entry: _Entry, formats: list[int], changes: tuple[MemberChange, ...]
) -> Iterator[Member]:
    only = {change.path: change.formats for change in changes if change.value is None}

    def have(path: str, stated: list[int]) -> list[int]:
        return [version for version in stated if version in only.get(path, stated)]

    for member in entry.get("enforced", ()):
        versions = have(member["path"], member.get("formats", formats))
        by = {v: tuple(member.get(f"by{v}", member["by"])) for v in versions}
        yield Member(member["path"], by, member["must"])
    for path in entry.get("schema_only", ()):
        yield Member(path, dict.fromkeys(have(path, formats), ()), "")


def _change(entry: _Entry) -> MemberChange:
    return MemberChange(
        path=entry["path"],
        value=entry.get("value"),
        formats=tuple(entry["formats"]),
        since=entry.get("since"),
        note=entry["note"],
    )
