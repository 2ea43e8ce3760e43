"""Any JSON Schema, as far as the enforced subset can say it: what comes out never refuses what the schema takes."""

from __future__ import annotations

from typing import Any

from ._json import is_lossless, is_object
from .subset import ANNOTATIONS, SCALARS, is_of_type, one_of
from .values import Schema

_REF = "#/$defs/"


def loosen(schema: Any, definitions: Schema) -> Schema:
    """The part of a schema that the subset has; `{}`, which takes any value, where it has nothing of it.

    `definitions` is what references of the form `#/$defs/name` name. A schema that refers to itself is open from there on.
    """
    return _node(schema, definitions, ())


def _node(schema: Any, definitions: Schema, above: tuple[str, ...]) -> Schema:
    if not is_object(schema):
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix(_REF)
        if name in above or name not in definitions:
            return {}
        return _node(definitions[name], definitions, (*above, name))
    branches = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(branches, list):
        loosened = [_node(branch, definitions, above) for branch in branches]
        return _either(loosened) | _annotations(schema)
    type_ = schema.get("type")
    if type_ == "object":
        return {"type": type_, **_annotations(schema), **_object(schema, definitions, above)}
    if type_ == "array":
        items = {}
        if is_object(schema.get("items")) and "prefixItems" not in schema:
            items["items"] = _node(schema["items"], definitions, above)
        return {"type": type_, **_annotations(schema), **items}
    if isinstance(type_, str) and type_ in SCALARS:
        return {"type": type_, **_annotations(schema), **_values(schema, type_)}
    return _annotations(schema)


def _either(branches: list[Schema]) -> Schema:
    """`oneOf` of branches no two of which take the same value; anything where that is not certain."""
    kinds = ["number" if b.get("type") == "integer" else b.get("type") for b in branches]
    if len(branches) < 2 or None in kinds or len(set(kinds)) < len(kinds):
        return {}
    return {"oneOf": branches}


def _object(schema: Schema, definitions: Schema, above: tuple[str, ...]) -> Schema:
    loosened: Schema = {}
    properties = schema.get("properties")
    declared = properties if is_object(properties) else {}
    if schema.get("additionalProperties") is False and "patternProperties" not in schema:
        loosened["additionalProperties"] = False
    if declared:
        loosened["properties"] = {
            name: _node(below, definitions, above) for name, below in declared.items()
        }
    required = [name for name in schema.get("required", ()) if name in declared]
    return loosened | ({"required": required} if required else {})


def _values(schema: Schema, type_: str) -> Schema:
    loosened: Schema = {}
    allowed = schema.get("enum")
    if isinstance(allowed, list) and allowed:
        if not all(is_of_type(type_, entry) for entry in allowed):
            return {}
        loosened["enum"] = allowed
    if "const" in schema and is_of_type(type_, schema["const"]):
        if "enum" in loosened and not one_of(schema["const"], loosened["enum"]):
            return {}
        loosened["const"] = schema["const"]
    return loosened


def _annotations(schema: Schema) -> Schema:
    kept = {key: schema[key] for key in ANNOTATIONS if key in schema}
    wrong = [key for key in ("description", "title") if not isinstance(kept.get(key, ""), str)]
    return {key: note for key, note in kept.items() if key not in wrong and is_lossless(note)}
