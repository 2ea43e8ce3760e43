"""The JSON Schema subset that a tool's output schema has to keep to, because every keyword of it is enforced.

Keywords: `type` (one string), `oneOf`, `properties`, `required`, `additionalProperties` (a boolean), `items` (a schema),
`enum`, `const`, and the annotations `description`, `title`, `default` and `examples`. `{}` stands for any JSON value.
"""

from __future__ import annotations

from typing import Any, Final

from dsh_protocol.jsonvalue import equal, ordered

from ._json import is_integer, is_lossless, is_number, is_object
from ._walk import Walk, run
from .errors import JsonSchemaError

ANNOTATIONS: Final = ("description", "title", "default", "examples")
SCALARS: Final = ("string", "number", "integer", "boolean", "null")
TYPES: Final = ("object", "array", *SCALARS)

_BESIDE = ("properties", "required", "additionalProperties", "items", "enum", "const")
_KEYWORDS = frozenset(("type", "oneOf", *_BESIDE))
_SUPPORTED_ON = {
    "properties": ("object",),
    "required": ("object",),
    "additionalProperties": ("object",),
    "items": ("array",),
    "enum": SCALARS,
    "const": SCALARS,
}
_UNSUPPORTED = (
    "is not a supported keyword "
    "(subset: type/oneOf/properties/required/additionalProperties/items/enum/const + annotations)"
)


def schema_violations(schema: object) -> list[str]:
    """Everything in a schema that the subset does not have, in the order of a walk; `schema` is the root in the texts.

    The texts are those of the released runtime: a model may get to read them.
    """
    return run(_node(schema, "schema", set()))


def assert_supported(schema: object) -> None:
    """Do nothing for a schema of the subset.

    Raises:
        JsonSchemaError: it has something else; `violations` has everything.
    """
    violations = schema_violations(schema)
    if violations:
        raise JsonSchemaError(violations)


def assert_object_schema(schema: object) -> None:
    """Do nothing for a schema of the subset whose root is of type `object`, as structured output wants it.

    Raises:
        JsonSchemaError: it has something else; `violations` has everything.
    """
    assert_supported(schema)
    if not (is_object(schema) and schema.get("type") == "object"):
        raise JsonSchemaError(['schema.type must be "object" (structured output is object-rooted)'])


def is_of_type(type_: str, value: object) -> bool:
    """Whether a value is of a scalar type of the subset."""
    if type_ == "string":
        return isinstance(value, str)
    if type_ == "number":
        return is_number(value)
    if type_ == "integer":
        return is_integer(value)
    if type_ == "boolean":
        return isinstance(value, bool)
    return value is None


def one_of(value: object, allowed: list[Any]) -> bool:
    """Whether a scalar is one of a list of scalars."""
    return any(equal(entry, value) for entry in allowed)  # type: ignore[arg-type]


def _node(node: object, path: str, above: set[int]) -> Walk[list[str]]:
    if not is_object(node):
        return [f"{path} must be a schema object"]
    if id(node) in above:
        return [f"{path} is circular"]
    above.add(id(node))
    violations = _keywords(node, path)
    more: list[str] = yield _constraints(node, path, above)
    above.discard(id(node))
    return violations + more


def _keywords(node: dict[str, Any], path: str) -> list[str]:
    found = []
    for key in ordered(node):
        if key in ANNOTATIONS:
            if not is_lossless(node[key]):
                found.append(f"{path}.{key} annotation must be lossless JSON data")
        elif key not in _KEYWORDS:
            found.append(f"{path}.{key} {_UNSUPPORTED}")
    texts = (key for key in ("description", "title") if key in node)
    wrong = (key for key in texts if not isinstance(node[key], str))
    return found + [f"{path}.{key} must be a string" for key in wrong]


def _constraints(node: dict[str, Any], path: str, above: set[int]) -> Walk[list[str]]:
    if "type" in node and "oneOf" in node:
        return [f"{path} cannot declare both type and oneOf"]
    beside = [key for key in _BESIDE if key in node]
    if "oneOf" in node:
        found: list[str] = yield _branches(node["oneOf"], path, above)
        return found + [f"{path}.{key} is not supported beside oneOf" for key in beside]
    if "type" not in node:
        return [f"{path}.{key} requires type or oneOf" for key in beside]
    type_ = node["type"]
    if isinstance(type_, list):
        return [f"{path}.type must be a single type string (type arrays are not supported)"]
    if type_ not in TYPES:
        return [f"{path}.type must be one of {'/'.join(TYPES)}"]
    misplaced = [key for key in beside if type_ not in _SUPPORTED_ON[key]]
    found = [f'{path}.{key} is not supported on type "{type_}"' for key in misplaced]
    if type_ == "object":
        inside: list[str] = yield _object(node, path, above)
    elif type_ != "array":
        inside = _values(node, type_, path)
    elif "items" in node:
        inside = yield _node(node["items"], f"{path}.items", above)
    else:
        inside = []
    return found + inside


def _branches(branches: object, path: str, above: set[int]) -> Walk[list[str]]:
    if not isinstance(branches, list) or len(branches) < 2:
        return [f"{path}.oneOf must be an array of at least two schemas"]
    found: list[str] = []
    for index, branch in enumerate(branches):
        found += yield _node(branch, f"{path}.oneOf[{index}]", above)
    return found


def _object(node: dict[str, Any], path: str, above: set[int]) -> Walk[list[str]]:
    properties = node.get("properties")
    declared = properties if is_object(properties) else {}
    found: list[str] = []
    if "properties" in node and not is_object(properties):
        found.append(f"{path}.properties must be an object of schemas")
    for key, schema in ordered(declared).items():
        found += yield _node(schema, f"{path}.properties.{key}", above)
    required = node.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        found.append(f"{path}.required must be an array of strings")
    else:
        unknown = (name for name in required if name not in declared)
        found += [f'{path}.required names "{name}" which is not in properties' for name in unknown]
    if not isinstance(node.get("additionalProperties", True), bool):
        found.append(f"{path}.additionalProperties must be a boolean")
    return found


def _values(node: dict[str, Any], type_: str, path: str) -> list[str]:
    allowed = node.get("enum")
    listed = (
        isinstance(allowed, list)
        and bool(allowed)
        and all(is_of_type(type_, entry) for entry in allowed)
    )
    found = []
    if "enum" in node and not listed:
        found.append(f"{path}.enum must be a non-empty array of {type_} values")
    if "const" not in node:
        return found
    if not is_of_type(type_, node["const"]):
        found.append(f"{path}.const must be a {type_} value")
    elif isinstance(allowed, list) and listed and not one_of(node["const"], allowed):
        found.append(f"{path}.const must be one of {path}.enum when both are declared")
    return found
