"""Whether a value keeps to a schema of the subset, and what to tell the model where it does not."""

from __future__ import annotations

from typing import Any, TypeAlias

from dsh_protocol.jsonvalue import dumps, ordered

from ._json import is_integer, is_lossless, is_number
from ._walk import Walk, run
from .subset import one_of

Schema: TypeAlias = dict[str, Any]

_NAMES = {
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "a boolean",
    "null": "null",
}


def value_violations(schema: Schema, value: object, path: str = "value") -> list[str]:
    """Everything in a value that breaks a schema of the subset (`assert_supported`), in the order of a walk.

    `path` names the root in the texts; with `""` it is called `arguments` and its members have no prefix. The texts are
    protocol constants: they become the content of a tool result.
    """
    return run(_check(schema, value, path, is_lossless(value)))


def _check(schema: Schema, value: object, path: str, lossless: bool) -> Walk[list[str]]:
    """`lossless`: the value has been looked at as a whole and is JSON, so nothing below has to be looked at again."""
    type_ = schema.get("type")
    found: list[str] = []
    if "oneOf" in schema:
        found = yield _branches(schema["oneOf"], value, path, lossless)
    elif type_ == "object":
        found = yield _object(schema, value, path, lossless)
    elif type_ == "array":
        found = yield _array(schema, value, path, lossless)
    elif type_ is not None:
        found = _scalar(schema, type_, value, path)
    elif not (lossless or is_lossless(value)):
        found = [f'"{_root(path)}" must be a lossless JSON value']
    return found


def _branches(branches: list[Schema], value: object, path: str, lossless: bool) -> Walk[list[str]]:
    matched = 0
    for branch in branches:
        violations = yield _check(branch, value, path, lossless)
        matched += not violations
    if matched == 1:
        return []
    return [f'"{_root(path)}" must match exactly one oneOf branch (matched {matched})']


def _object(schema: Schema, value: object, path: str, lossless: bool) -> Walk[list[str]]:
    if not isinstance(value, dict):
        return [f'"{_root(path)}" must be an object']
    properties = schema.get("properties", {})
    found = [
        f'missing required property "{_member(path, name)}"'
        for name in schema.get("required", [])
        if name not in value
    ]
    for name, below in ordered(properties).items():
        if name in value:
            found += yield _check(below, value[name], _member(path, name), lossless)
    if schema.get("additionalProperties") is False:
        undeclared = (name for name in _names(value) if name not in properties)
        found += [
            f'"{_member(path, name)}" is not a declared property (additionalProperties: false)'
            for name in undeclared
        ]
    if found or lossless or is_lossless(value):
        return found
    return [f'"{_root(path)}" must be a lossless JSON object']


def _array(schema: Schema, value: object, path: str, lossless: bool) -> Walk[list[str]]:
    if not isinstance(value, list):
        return [f'"{_root(path)}" must be an array']
    found: list[str] = []
    if "items" in schema:
        for index, element in enumerate(value):
            found += yield _check(schema["items"], element, f"{path}[{index}]", lossless)
    if found or lossless or is_lossless(value):
        return found
    return [f'"{_root(path)}" must be a dense lossless JSON array']


def _scalar(schema: Schema, type_: str, value: object, path: str) -> list[str]:
    where = f'"{_root(path)}" must be'
    if not _has_type(type_, value):
        return [f"{where} {_NAMES[type_]}"]
    if type_ == "number" and not is_number(value):
        return [f"{where} a finite JSON number"]
    if "enum" in schema and not one_of(value, schema["enum"]):
        return [f"{where} one of {dumps(schema['enum'])}"]
    if "const" in schema and not one_of(value, [schema["const"]]):
        return [f"{where} {dumps(schema['const'])}"]
    return []


def _has_type(type_: str, value: object) -> bool:
    if type_ == "string":
        return isinstance(value, str)
    if type_ == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if type_ == "integer":
        return is_integer(value)
    if type_ == "boolean":
        return isinstance(value, bool)
    return value is None


def _names(value: dict[Any, Any]) -> list[str]:
    names = [name for name in value if isinstance(name, str)]
    return list(ordered(dict.fromkeys(names)))


def _root(path: str) -> str:
    return path or "arguments"


def _member(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
