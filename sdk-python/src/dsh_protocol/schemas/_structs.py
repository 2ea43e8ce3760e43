"""Struct types made from schemas, for payloads that are too many and too large to be validated as dicts.

A type takes a part of what its schema takes, and nothing else: the first choice of an open union, members whose values it can
describe, no recursion. So a value that it takes is known to be valid, and any other has to be validated. There are two things
that it does not see: the minus of a zero, and anything at all in a member that may be any JSON value, which stays undecoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Union

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from dsh_protocol.findings import UsageError

from ._catalog import Schema, definitions, find, reference
from ._sites import Site

_SAYS_NOTHING = {"description", "title", "tsType"}
_KINDS: Mapping[str, tuple[set[str], set[str]]] = {
    "$ref": ({"$ref"}, set()),
    "discriminator": ({"discriminator", "oneOf"}, set()),
    "anyOf": ({"anyOf"}, set()),
    "const": ({"const"}, set()),
    "enum": ({"enum"}, {"type"}),
    "object": ({"type", "properties", "additionalProperties"}, {"required", "propertyNames"}),
    "array": ({"type", "items"}, {"minItems", "maxItems"}),
    "integer": ({"type", "minimum", "maximum"}, set()),
    "string": ({"type"}, {"minLength", "pattern"}),
    "boolean": ({"type"}, set()),
    "any": (set(), set()),
}
"""Per kind of schema what it says, and what it may say; what says more or less has no type."""


@cache
def struct_type(name: str, *, unchecked: frozenset[str] = frozenset()) -> Any:
    """The struct type of the named schema. Texts of the members named in `unchecked` may be any: the caller looks at them.

    Members that may be any JSON value are `msgspec.Raw`, optional members that are absent `msgspec.UNSET`. A tag is no
    attribute, but selects the class.

    Raises:
        UsageError: `schemas/unknown-name`, no schema has this name; `schemas/no-struct`, it has no such type.
    """
    target = find(name)
    try:
        return _Maker(definitions(target.bundle), unchecked, Raw).named(target.definition)
    except _NoTypeError as error:
        message = f"{name} cannot be read into structs: {error}"
        raise UsageError("schemas/no-struct", message, fix="Use a Validator.") from None


@cache
def closed_type(site: Site) -> Any:
    """The type of what stands at a site, without members that may be any JSON value; null when there is none."""
    try:
        return _Maker(definitions(site.bundle), frozenset(), None).of(site.schema, site.definition)
    except _NoTypeError:
        return None


class _NoTypeError(Exception):
    """No struct type takes a part of what a schema takes."""


class _Maker:
    """Makes the types of one bundle, each definition once."""

    def __init__(
        self, known: Mapping[str, Schema], unchecked: frozenset[str], any_value: Any
    ) -> None:
        self._known = known
        self._unchecked = unchecked
        self._any_value = any_value
        self._made: dict[str, Any] = {}
        self._open: set[str] = set()

    def named(self, name: str) -> Any:
        """The type of a definition."""
        if name in self._open:
            raise _NoTypeError(f"{name} contains itself")
        if name not in self._made:
            self._open.add(name)
            try:
                self._made[name] = self.of(self._known[name], name)
            finally:
                self._open.remove(name)
        return self._made[name]

    def of(self, schema: Schema, name: str) -> Any:
        """The type of a schema; `name` is what an object is called."""
        match _kind(schema, name):
            case "$ref":
                return self.named(str(reference(schema)))
            case "discriminator":
                return self._tagged(schema["discriminator"])
            case "anyOf":
                return self.of(schema["anyOf"][0], name)
            case "const":
                return _literal([schema["const"]])
            case "enum":
                return _literal(schema["enum"])
            case "object":
                return self._struct(schema, name)
            case "array":
                limits = Meta(min_length=schema.get("minItems"), max_length=schema.get("maxItems"))
                return Annotated[list[self.of(schema["items"], name)], limits]  # type: ignore[misc]
            case "integer":
                return Annotated[int, Meta(ge=schema["minimum"], le=schema["maximum"])]
            case "string":
                if name in self._unchecked:
                    return str
                shape = Meta(min_length=schema.get("minLength"), pattern=schema.get("pattern"))
                return Annotated[str, shape]
            case "boolean":
                return bool
            case _ if self._any_value is not None:
                return self._any_value
            case _:
                raise _NoTypeError(f"{name} may be anything")

    def _tagged(self, discriminator: dict[str, Any]) -> Any:
        """A union of structs: those branches that can be described."""
        branches = []
        for value, path in discriminator["mapping"].items():
            name = path.rpartition("/")[2]
            tag = (discriminator["propertyName"], value)
            if name not in self._open and (branch := self._part(self._known[name], name, tag)):
                branches.append(branch)
        if not branches:
            raise _NoTypeError("no branch of a union can be described")
        return Union[tuple(branches)]  # noqa: UP007  (made at run time)

    def _struct(self, schema: Schema, name: str, tag: tuple[str, str] = ("", "")) -> Any:
        if _kind(schema, name) != "object":
            raise _NoTypeError(f"{name} is no object")
        fields: list[Any] = []
        for member, inner in schema["properties"].items():
            if member == tag[0]:
                continue
            if member in schema.get("required", ()):
                fields.append((member, self.of(inner, member)))
            elif (type_ := self._part(inner, member)) is not None:
                fields.append((member, Union[type_, UnsetType], UNSET))  # noqa: UP007
        fields.sort(key=len)  # What has a default stands last.
        return msgspec.defstruct(
            name,
            fields,
            tag_field=tag[0] or None,
            tag=tag[1] or None,
            forbid_unknown_fields=True,
            gc=False,
        )

    def _part(self, schema: Schema, name: str, tag: tuple[str, str] | None = None) -> Any:
        """The type of what may be left out: null when there is none, so that a value that has it is not taken."""
        try:
            return self.of(schema, name) if tag is None else self._struct(schema, name, tag)
        except _NoTypeError:
            return None


def _kind(schema: Schema, name: str) -> str:
    """What kind of schema this is, one that says nothing beyond it."""
    kind = next((k for k in _KINDS if k in schema), schema.get("type", "any"))
    if isinstance(kind, str) and kind in _KINDS:
        says, may_say = _KINDS[kind]
        if says <= schema.keys() <= says | may_say | _SAYS_NOTHING and _allows_members(schema):
            return kind
    raise _NoTypeError(f"{name} has another shape")


def _allows_members(schema: Schema) -> bool:
    """Whether the condition on member names, if there is one, is met by those that are declared."""
    names = schema.get("propertyNames", {"type": "string", "pattern": ""})
    if names.keys() != {"type", "pattern"}:
        return False
    return all(re.search(names["pattern"], member) for member in schema.get("properties", ()))


def _literal(values: list[Any]) -> Any:
    if not all(isinstance(value, str) for value in values):
        raise _NoTypeError("a constant is no string")
    return Literal[tuple(values)]
