"""Typed schemas as tool authors write them: a map of properties instead of a JSON Schema.

Every node is an object with a `type` (a scalar type, `object`, `array`, or `json` for any value) or `oneOf`; a property is
required when its node says `"required": True`. What comes out is a schema of the subset (`dsh_protocol.tools.subset`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from dsh_protocol.jsonvalue import ordered

from ._json import is_object
from ._walk import Walk, run
from .errors import JsonSchemaError
from .subset import ANNOTATIONS, SCALARS, assert_supported

Schema = dict[str, Any]


def parameter_schema(properties: object) -> Schema:
    """The JSON Schema of a tool's arguments: `{"type", "properties", "required"?}`, open to other members.

    Raises:
        JsonSchemaError: the map has something that the typed form or the subset does not have; paths start with `parameters`.
    """
    declared, required = run(_property_map(properties, "parameters", set()))
    schema: Schema = {"type": "object", "properties": declared}
    if required:
        schema["required"] = required
    assert_supported(schema)
    return schema


def value_schema(node: object) -> Schema:
    """The JSON Schema of any value, such as a tool's output.

    Raises:
        JsonSchemaError: the node has something that the typed form or the subset does not have; paths start with `schema`.
    """
    schema = run(_node(node, "schema", set(), allow_required=False))
    assert_supported(schema)
    return schema


def _property_map(properties: object, path: str, above: set[int]) -> Walk[tuple[Schema, list[str]]]:
    if not is_object(properties):
        _refuse(f"{path} must be an object of value schemas")
    _enter(properties, path, above)
    declared: Schema = {}
    required: list[str] = []
    for name, node in ordered(properties).items():
        place = f"{path}.{name}"
        if not is_object(node):
            _refuse(f"{place} must be a value schema object")
        if "required" in node:
            if node["required"] is not True:
                _refuse(f"{place}.required must be true when present")
            required.append(name)
        declared[name] = yield _node(node, place, above, allow_required=True)
    above.discard(id(properties))
    return declared, required


def _node(node: object, path: str, above: set[int], *, allow_required: bool) -> Walk[Schema]:
    if not is_object(node):
        _refuse(f"{path} must be a value schema object")
    _enter(node, path, above)
    shared = (*ANNOTATIONS, *(["required"] if allow_required else []))
    type_ = node.get("type")
    schema: Schema
    if "oneOf" in node:
        _only(node, path, (*shared, "oneOf", "type"))
        schema = yield _branches(node, path, above)
    elif type_ == "json":
        _only(node, path, (*shared, "type"))
        schema = _annotations(node)
    elif type_ == "object":
        _only(node, path, (*shared, "type", "properties", "additionalProperties"))
        schema = yield _object(node, path, above)
    elif type_ == "array":
        _only(node, path, (*shared, "type", "items"))
        schema = {"type": type_, **_annotations(node)}
        if "items" in node:
            schema["items"] = yield _node(
                node["items"], f"{path}.items", above, allow_required=False
            )
    elif type_ in SCALARS:
        _only(node, path, (*shared, "type", "enum", "const"))
        schema = _scalar(node, path)
    else:
        _refuse(
            f"{path}.type must be string/number/integer/boolean/null/array/object/json, or use oneOf"
        )
    above.discard(id(node))
    return schema


def _branches(node: Schema, path: str, above: set[int]) -> Walk[Schema]:
    if "type" in node:
        _refuse(f"{path} cannot declare both type and oneOf")
    if not isinstance(node["oneOf"], list):
        _refuse(f"{path}.oneOf must be an array of at least two value schemas")
    branches = []
    for index, branch in enumerate(node["oneOf"]):
        compiled = yield _node(branch, f"{path}.oneOf[{index}]", above, allow_required=False)
        branches.append(compiled)
    return {"oneOf": branches, **_annotations(node)}


def _object(node: Schema, path: str, above: set[int]) -> Walk[Schema]:
    if not isinstance(node.get("additionalProperties"), bool):
        _refuse(f"{path}.additionalProperties must be explicitly true or false")
    schema: Schema = {"type": "object", **_annotations(node)}
    schema["additionalProperties"] = node["additionalProperties"]
    if "properties" not in node:
        return schema
    declared, required = yield _property_map(node["properties"], f"{path}.properties", above)
    schema["properties"] = declared
    if required:
        schema["required"] = required
    return schema


def _scalar(node: Schema, path: str) -> Schema:
    schema = {"type": node["type"], **_annotations(node)}
    if "enum" in node:
        if not isinstance(node["enum"], list):
            _refuse(f"{path}.enum must be a non-empty array of scalar values")
        schema["enum"] = list(node["enum"])
    if "const" in node:
        schema["const"] = node["const"]
    return schema


def _annotations(node: Schema) -> Schema:
    return {key: node[key] for key in ANNOTATIONS if key in node}


def _only(node: Schema, path: str, allowed: Sequence[str]) -> None:
    for key in ordered(node):
        if key not in allowed:
            _refuse(f"{path}.{key} is not supported by the value schema DSL")


def _enter(node: Schema, path: str, above: set[int]) -> None:
    if id(node) in above:
        _refuse(f"{path} is circular")
    above.add(id(node))


def _refuse(message: str) -> NoReturn:
    raise JsonSchemaError([message], "tools/schema-author")
