"""Where in a schema a violation points: the keyword's value, and the definition around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._catalog import Schema, Target, reference
from ._engines import Path


@dataclass(frozen=True, slots=True)
class Place:
    """The schema around a keyword.

    `definition` is the innermost definition of an object, a list or a union around it:
    definitions of single numbers and texts give way to the one that uses them. `members` leads
    from there to the keyword, with `*` for list entries.
    """

    schema: Schema
    definition: str
    members: tuple[str, ...]


def locate(target: Target, schema_path: Path) -> Place:
    """The schema that holds the keyword at the end of a schema path."""
    known = target.definitions
    place = _enter(Place({"$ref": f"#/$defs/{target.definition}"}, target.definition, ()), known)
    steps = list(schema_path[:-1])
    while steps:
        step = steps.pop(0)
        inner: Any = place.schema[str(step)]
        members = place.members
        if step == "properties":
            name = str(steps.pop(0))
            inner = inner[name]
            members = (*members, name)
        elif step in ("items", "additionalProperties"):
            members = (*members, "*")
        else:
            inner = inner[steps.pop(0)]
        place = _enter(Place(inner, place.definition, members), known)
    return place


def _enter(place: Place, known: Mapping[str, Schema]) -> Place:
    """The same place behind the reference that stands there."""
    name = reference(place.schema)
    if name is None:
        return place
    schema = known[name]
    if _has_parts(schema):
        return _enter(Place(schema, name, ()), known)
    return _enter(Place(schema, place.definition, place.members), known)


def _has_parts(schema: Schema) -> bool:
    return schema.get("type") in ("object", "array") or "oneOf" in schema or "anyOf" in schema
