"""Random schemas, declarations and values: the same answer as the official library's, to the letter and in the same order."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from official_tools import Official
from tool_strategies import AUTHOR_NODES, NAMES, SCHEMAS, VALUES, WRONG_SCHEMAS

from dsh_protocol.jsonvalue import dumps, loads
from dsh_protocol.tools import (
    JsonSchemaError,
    assert_object_schema,
    assert_supported,
    parameter_schema,
    schema_violations,
    value_schema,
    value_violations,
)

asked = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def as_read(value: Any) -> Any:
    """The value as it is read from JSON, which is what the other side gets."""
    return loads(json.dumps(value).replace("Infinity", "1e999"))


def our_answer(ask: Callable[[Any], Any], question: Any) -> Any:
    try:
        answer = ask(question)
    except JsonSchemaError as error:
        return list(error.violations)
    return None if answer is None else dumps(answer)


def their_answer(official: Official, ask: str, **question: Any) -> Any:
    answer = official.ask(ask, **question)
    assert answer.get("code", "UNSUPPORTED_SCHEMA") == "UNSUPPORTED_SCHEMA", answer
    return answer["violations"] if "violations" in answer else answer["answer"]


@asked
@given(schema=SCHEMAS | WRONG_SCHEMAS)
def test_the_subset(official: Official, schema: Any) -> None:
    expected = their_answer(official, "subset", schema=schema)
    assert our_answer(assert_supported, as_read(schema)) == expected
    expected = their_answer(official, "object", schema=schema)
    assert our_answer(assert_object_schema, as_read(schema)) == expected


@asked
@given(node=AUTHOR_NODES | WRONG_SCHEMAS)
def test_the_typed_form_of_a_value(official: Official, node: Any) -> None:
    expected = their_answer(official, "value", node=node)
    assert our_answer(value_schema, as_read(node)) == expected


@asked
@given(properties=st.dictionaries(NAMES, AUTHOR_NODES, max_size=4))
def test_the_typed_form_of_parameters(official: Official, properties: Any) -> None:
    expected = their_answer(official, "parameters", node=properties)
    assert our_answer(parameter_schema, as_read(properties)) == expected


@st.composite
def near(draw: st.DrawFn, schema: Any) -> Any:
    """A value that is often what the schema wants."""
    if "oneOf" in schema:
        return draw(near(draw(st.sampled_from(schema["oneOf"]))))
    if draw(st.integers(0, 9)) == 0:
        return draw(VALUES)
    if schema.get("type") == "object":
        members = {n: draw(near(s)) for n, s in schema["properties"].items() if draw(st.booleans())}
        return {**members, **draw(st.dictionaries(NAMES, VALUES, max_size=1))}
    if schema.get("type") == "array":
        return draw(st.lists(near(schema.get("items", {})), max_size=3))
    if "const" in schema:
        return schema["const"]
    return draw(st.sampled_from(schema["enum"])) if "enum" in schema else draw(VALUES)


@st.composite
def schema_and_value(draw: st.DrawFn) -> tuple[Any, Any]:
    schema = draw(SCHEMAS.filter(lambda schema: not schema_violations(as_read(schema))))
    return schema, draw(near(schema))


@asked
@given(pair=schema_and_value(), path=st.sampled_from(["", "value"]))
def test_values(official: Official, pair: tuple[Any, Any], path: str) -> None:
    schema, value = pair
    expected = their_answer(official, "validate", schema=schema, value=value, path=path)
    found = value_violations(as_read(schema), as_read(value), path)
    assert found == expected
