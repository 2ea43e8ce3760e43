"""Every constraint that the schemas of a bundle state, as an example has to break it.

A constraint is (definition, members from there, keyword, member that the keyword names). A branch
of a tagged union is looked at only for values with its tag: its tag, its type and the presence of
the tag are constraints of the union.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Constraint = tuple[str, tuple[str, ...], str, str]
Definitions = Mapping[str, dict[str, Any]]

PLAIN = (
    "type",
    "const",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "propertyNames",
)
UNTAGGED = "<no tag>"


@dataclass
class Walk:
    """Collects the constraints that are reachable from some definitions of one bundle."""

    known: Definitions
    found: set[Constraint] = field(default_factory=set)
    _seen: set[tuple[str, str | None]] = field(default_factory=set)

    def definition(self, name: str, tag: str | None = None) -> None:
        """Walk a definition; `tag` when it is a branch of a union (its tag, or `UNTAGGED`)."""
        if (name, tag) not in self._seen:
            self._seen.add((name, tag))
            self.schema(self.known[name], name, (), tag)

    def schema(
        self, schema: dict[str, Any], name: str, members: tuple[str, ...], tag: str | None
    ) -> None:
        if "$ref" in schema:
            inner = schema["$ref"].rpartition("/")[2]
            if _has_parts(self.known[inner]):
                self.definition(inner, tag)
            else:
                self.schema(self.known[inner], name, members, tag)
            return
        for keyword, member in _stated(schema):
            if not _belongs_to_the_union(keyword, member, tag):
                self.found.add((name, members, keyword, member))
        for member, inner in schema.get("properties", {}).items():
            if member != tag or "pattern" in inner:
                self.schema(inner, name, (*members, member), None)
        if "items" in schema:
            self.schema(schema["items"], name, (*members, "*"), None)
        if "oneOf" in schema or "anyOf" in schema:
            self.union(schema, name, members, inside=tag not in (None, UNTAGGED))

    def union(
        self, schema: dict[str, Any], name: str, members: tuple[str, ...], *, inside: bool
    ) -> None:
        tag = tag_of(schema, self.known)
        branches = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
        by_type = all("const" not in branch for branch in branches)
        if not inside and by_type:
            self.found.add((name, members, "type", ""))
        if not inside and tag is not None:
            self.found.add((name, members, "required", tag))
            if "oneOf" in schema:
                self.found.add((name, members, "enum", ""))
        for branch in branches:
            self.schema(branch, name, members, tag or UNTAGGED)


def _stated(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for keyword in PLAIN:
        # A value of another type is outside the list too: that type cannot be broken alone.
        if keyword in schema and not (keyword == "type" and "enum" in schema):
            yield keyword, ""
    for member in schema.get("required", ()):
        yield "required", member
    for needed in schema.get("dependentRequired", {}).values():
        for member in needed:
            yield "dependentRequired", member
    if schema.get("additionalProperties") is False:
        yield "additionalProperties", ""


def _belongs_to_the_union(keyword: str, member: str, tag: str | None) -> bool:
    return tag is not None and (keyword == "type" or (keyword, member) == ("required", tag))


def _has_parts(schema: dict[str, Any]) -> bool:
    return schema.get("type") in ("object", "array") or "oneOf" in schema or "anyOf" in schema


def tag_of(schema: dict[str, Any], known: Definitions) -> str | None:
    """The member that tells the branches of a union apart, or null."""
    if "discriminator" in schema:
        name: str = schema["discriminator"]["propertyName"]
        return name
    for branch in schema.get("anyOf", ()):
        inner = branch.get("$ref", "").rpartition("/")[2]
        tag = tag_of(known[inner], known) if inner else None
        if tag is not None:
            return tag
    return None
