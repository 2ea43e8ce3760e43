"""Random schemas, typed declarations and values, most of them nearly right."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dsh_protocol.tools.subset import SCALARS

Json = Any

NAMES = st.sampled_from(
    ["a", "b", "c", "10", "2", "__proto__", "constructor", "x y", "\ud83d", "é"]
)
NUMBERS = st.sampled_from([0, 1, 2, -1, 1.5, -0.0, 1e21, 1e-7, 2**53, float("inf")])
TEXTS = st.sampled_from(["", "a", "b", "\ud83d\ude00", "\ude00", 'q"', "1"])
SCALAR_VALUES: st.SearchStrategy[Json] = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALAR_VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)
_BY_TYPE: dict[str, st.SearchStrategy[Json]] = {
    "string": TEXTS,
    "number": NUMBERS,
    "integer": st.sampled_from([0, 1, 2, 1.5]),
    "boolean": st.booleans(),
    "null": st.none(),
}
_ANNOTATIONS = {
    "description": TEXTS | st.just(5),
    "title": TEXTS | st.none(),
    "default": VALUES,
    "examples": st.lists(VALUES, max_size=2),
}
_NOT_A_SCHEMA: st.SearchStrategy[Json] = st.sampled_from([None, True, 5, "string", [], [{}]])


def _annotated(node: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    notes = st.fixed_dictionaries({}, optional=_ANNOTATIONS)
    return st.one_of(node, st.builds(lambda n, a: {**n, **a}, node, notes))


def _scalar(type_: str) -> st.SearchStrategy[Json]:
    values = _BY_TYPE[type_]
    limits = {"enum": st.lists(values, min_size=1, max_size=3), "const": values}
    return st.fixed_dictionaries({"type": st.just(type_)}, optional=limits)


SCALAR_NODES = st.one_of(*map(_scalar, SCALARS))


def _containers(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner}),
        st.builds(_object, st.dictionaries(NAMES, inner, max_size=3), st.data(), st.booleans()),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=2, max_size=3)}),
    )


def _object(properties: Json, data: st.DataObject, closed: bool) -> Json:
    names = list(properties)
    required = data.draw(st.lists(st.sampled_from(names), max_size=3)) if names else []
    node: Json = {"properties": properties, "type": "object"}
    if required:
        node["required"] = required
    return {**node, "additionalProperties": False} if closed else node


SCHEMAS = st.recursive(
    _annotated(SCALAR_NODES | st.just({})),
    lambda inner: _annotated(_containers(inner)),
    max_leaves=6,
)
"""Schemas of which most keep to the subset."""

_KEYWORDS: dict[str, st.SearchStrategy[Json]] = {
    "type": st.sampled_from(["object", "array", "any", 5, ["string"], *SCALARS]),
    "oneOf": st.lists(SCHEMAS, max_size=3) | _NOT_A_SCHEMA,
    "properties": st.dictionaries(NAMES, SCHEMAS | _NOT_A_SCHEMA, max_size=2) | _NOT_A_SCHEMA,
    "required": st.lists(NAMES, max_size=2) | _NOT_A_SCHEMA,
    "additionalProperties": st.booleans() | SCHEMAS,
    "items": SCHEMAS | _NOT_A_SCHEMA,
    "enum": st.lists(SCALAR_VALUES, max_size=3) | _NOT_A_SCHEMA,
    "const": SCALAR_VALUES,
    "format": TEXTS,
    "7": st.none(),
    **_ANNOTATIONS,
}
WRONG_SCHEMAS = st.recursive(
    st.fixed_dictionaries({}, optional=_KEYWORDS),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            **_KEYWORDS,
            "type": st.sampled_from(["object", "array"]),
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "items": inner,
        },
    ),
    max_leaves=5,
)
"""Schemas of which most do not."""

_AUTHOR: dict[str, st.SearchStrategy[Json]] = {
    **_KEYWORDS,
    "type": st.sampled_from(["object", "array", "json", "json", "any", None, *SCALARS]),
    "required": st.sampled_from([True, True, False, "yes"]),
    "additionalProperties": st.booleans() | st.none(),
}
_AUTHOR_LEAVES = st.one_of(
    SCALAR_NODES,
    st.just({"type": "json"}),
    st.builds(lambda node: {**node, "required": True}, SCALAR_NODES),
    st.fixed_dictionaries({}, optional=_AUTHOR),
)
AUTHOR_NODES = st.recursive(
    _annotated(_AUTHOR_LEAVES),
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("object"), "additionalProperties": st.booleans()},
            optional={
                "properties": st.dictionaries(NAMES, inner, max_size=3),
                "required": st.just(True),
            },
        ),
        st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner}),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=3)}),
    ),
    max_leaves=6,
)
"""Nodes of the typed form."""
