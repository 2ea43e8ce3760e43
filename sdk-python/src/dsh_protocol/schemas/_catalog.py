"""Which schemas exist, what they are called, and each as one self-contained document."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import dsh_protocol_data
from dsh_protocol.findings import UsageError

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MOST_SUGGESTIONS = 5

_SESSION_NAMES = {
    "event": "SessionEvent",
    "header": "SessionHeader",
    "stored-event": "StoredEventRow",
    "stored-header": "StoredSessionHeader",
}
_WIRE_NAMES = {
    "deepseek-chat": "ChatRequest",
    "deepseek-messages": "MessagesRequest",
    "generate-options": "GenerateOptions",
    "route": "Route",
}


@dataclass(frozen=True)
class _Family:
    """The schemas of one bundle: its definitions, and short names of the entry points."""

    bundle: str
    short_names: Mapping[str, str]


_FAMILIES = {
    "session/v3": _Family("session-v3", _SESSION_NAMES),
    "session/v4": _Family("session-v4", _SESSION_NAMES),
    "wire": _Family("wire", _WIRE_NAMES),
}


@dataclass(frozen=True)
class Target:
    """A definition of a bundle: what a schema name stands for."""

    bundle: str
    definition: str

    @property
    def definitions(self) -> Mapping[str, Schema]:
        """Every definition of the bundle by name."""
        return definitions(self.bundle)


def schema_names() -> list[str]:
    """Every schema name: of each family the entry points first (`session/v4/event`)."""
    return [
        f"{prefix}/{name}"
        for prefix, family in _FAMILIES.items()
        for name in (*family.short_names, *definitions(family.bundle))
    ]


def schema(name: str) -> Schema:
    """The named schema as one JSON Schema 2020-12 document without outward references.

    The caller owns the result.

    Raises:
        UsageError: `schemas/unknown-name`, no schema has this name.
    """
    target = find(name)
    known = target.definitions
    document = {"$schema": _DIALECT, "title": target.definition, **known[target.definition]}
    inner = {other: known[other] for other in sorted(reachable(target))}
    return copy.deepcopy(document | ({"$defs": inner} if inner else {}))


def find(name: str) -> Target:
    """What a schema name stands for.

    Raises:
        UsageError: `schemas/unknown-name`, no schema has this name; the remedy lists similar names.
    """
    prefix, _, last = name.rpartition("/")
    family = _FAMILIES.get(prefix)
    if family is not None:
        definition = family.short_names.get(last, last)
        if definition in definitions(family.bundle):
            return Target(family.bundle, definition)
    near = difflib.get_close_matches(name, schema_names(), n=_MOST_SUGGESTIONS, cutoff=0.5)
    raise UsageError(
        "schemas/unknown-name",
        f"no schema is called {name[:120]!r}",
        fix=f"Similar names: {', '.join(near)}." if near else "List the names with schema_names().",
    )


def definitions(bundle: str) -> Mapping[str, Schema]:
    """Every definition of a bundle by name."""
    document: Schema = dsh_protocol_data.load(f"schemas/{bundle}")
    found: Mapping[str, Schema] = document["$defs"]
    return found


@cache
def reachable(target: Target) -> frozenset[str]:
    """What the target refers to, directly or not; itself only when it is recursive."""
    known = target.definitions
    found: set[str] = set()
    waiting = list(_references(known[target.definition]))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(known[name])
    return frozenset(found)


def standalone(target: Target) -> Schema:
    """What engines compile: a reference to the target beside the definitions it needs."""
    known = target.definitions
    names = sorted(reachable(target) | {target.definition})
    return {
        "$schema": _DIALECT,
        "$ref": f"#/$defs/{target.definition}",
        "$defs": {name: known[name] for name in names},
    }


def reference(schema: Mapping[str, Any]) -> str | None:
    """The definition that a schema refers to, or null."""
    ref = schema.get("$ref")
    return ref.rpartition("/")[2] if isinstance(ref, str) else None


def branches(schema: Mapping[str, Any]) -> list[Schema]:
    """The alternatives of a union (of either kind), in order; none for another schema."""
    return [*schema.get("oneOf", ()), *schema.get("anyOf", ())]


@cache
def tagged(target: Target) -> Mapping[str, Target]:
    """The definitions that a tagged union chooses from, by tag; empty for another definition."""
    found: dict[str, Target] = {}
    _collect_tags(target, found)
    return found


def tag_name(target: Target) -> str | None:
    """The member that tells the branches of a tagged union apart, or null."""
    return tag_of(target.definitions[target.definition], target.definitions)


def tag_of(schema: Mapping[str, Any], known: Mapping[str, Schema]) -> str | None:
    """The tag of a union, or of a union among its branches, or null."""
    if "discriminator" in schema:
        name: str = schema["discriminator"]["propertyName"]
        return name
    for branch in branches(schema):
        inner = reference(branch)
        tag = tag_of(known[inner], known) if inner is not None else None
        if tag is not None:
            return tag
    return None


def _collect_tags(target: Target, found: dict[str, Target]) -> None:
    union = target.definitions[target.definition]
    for tag, ref in union.get("discriminator", {}).get("mapping", {}).items():
        found[tag] = Target(target.bundle, ref.rpartition("/")[2])
    for branch in union.get("anyOf", ()):
        inner = reference(branch)
        if inner is not None:
            _collect_tags(Target(target.bundle, inner), found)


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        name = reference(value)
        if name is not None:
            yield name
        for child in value.values():
            yield from _references(child)
    elif isinstance(value, list):
        for child in value:
            yield from _references(child)
