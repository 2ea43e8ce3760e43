"""Tools made of typed functions: the schema, the checks on both sides, and where the function runs."""

from __future__ import annotations

import enum
import threading
from datetime import date
from typing import Annotated, Any, Literal

import anyio
import anyio.lowlevel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from tool_builders import Json, call, registry, text
from tool_strategies import NAMES, SCHEMAS

from dsh_protocol.abort import AbortController
from dsh_protocol.findings import UsageError
from dsh_protocol.tools import (
    FunctionTool,
    ToolExecution,
    schema_violations,
    tool,
    value_violations,
)
from dsh_protocol.tools._docstring import read_docstring
from dsh_protocol.tools._loosen import loosen

pytestmark = pytest.mark.anyio


class Point(BaseModel):
    x: int
    y: float = 0.5


class Unit(enum.Enum):
    METRE = "m"
    FOOT = "ft"


class Node(BaseModel):
    name: str
    children: list[Node] = []


@tool
def measure(
    start: Point,
    unit: Unit = Unit.METRE,
    *,
    note: str | None = None,
    digits: Annotated[int, Field(ge=0, le=9)] = 2,
    day: date | None = None,
    steps: int = Field(default=1, ge=1, description="How often."),
) -> dict[str, Any]:
    """Measure something.

    Takes its time.

    Args:
        start: where to begin,
            in metres
        digits (int): how exactly
        steps: not this text, the field has its own

    Returns:
        What was measured.
    """
    return {
        "x": start.x,
        "unit": unit.name,
        "day": day and day.year,
        "note": note,
        "digits": digits,
        "steps": steps,
    }


async def outcome(definition: Any, arguments: Json, **more: Any) -> Json:
    tools = registry()
    tools.register(definition)
    return (await tools.execute(call(definition.name, arguments, **more))).to_json()


async def refusal(definition: Any, arguments: Json) -> str:
    result = await outcome(definition, arguments)
    assert result["error"]["info"] == {"name": "ToolArgsError", "code": "INVALID_ARGS"}
    message: str = result["error"]["message"]
    return message.removeprefix("invalid arguments: ")


async def test_what_the_model_sees() -> None:
    assert measure.model_schema() == {
        "name": "measure",
        "description": "Measure something.\n\nTakes its time.",
        "parameters": {
            "type": "object",
            "properties": {
                "start": {"$ref": "#/$defs/Point", "description": "where to begin, in metres"},
                "unit": {"$ref": "#/$defs/Unit", "default": "m"},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                "digits": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 9,
                    "description": "how exactly",
                    "default": 2,
                },
                "day": {
                    "anyOf": [{"type": "string", "format": "date"}, {"type": "null"}],
                    "default": None,
                },
                "steps": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "How often.",
                    "default": 1,
                },
            },
            "required": ["start"],
            "$defs": {
                "Point": {
                    "title": "Point",
                    "type": "object",
                    "properties": {
                        "x": {"type": "integer"},
                        "y": {"type": "number", "default": 0.5},
                    },
                    "required": ["x"],
                },
                "Unit": {"title": "Unit", "type": "string", "enum": ["m", "ft"]},
            },
        },
    }


async def test_the_function_gets_typed_values_and_its_own_defaults() -> None:
    arguments = {"start": {"x": 3}, "unit": "ft", "day": "2026-11-30", "digits": 4.0}
    assert (await outcome(measure, arguments))["value"] == {
        "x": 3,
        "unit": "FOOT",
        "day": 2026,
        "note": None,
        "digits": 4,
        "steps": 1,
    }


async def test_undeclared_arguments_are_ignored() -> None:
    assert not (await outcome(measure, {"start": {"x": 3}, "colour": "red"}))["isError"]


@pytest.mark.parametrize(
    ("arguments", "violations"),
    [
        ({}, 'missing required property "start"'),
        ("no json", '"arguments" must be an object'),
        ({"start": {}}, 'missing required property "start.x"'),
        (
            {"start": {"x": "3"}, "digits": "2"},
            '"start.x" must be an integer; "digits" must be an integer',
        ),
        ({"start": {"x": 3}, "unit": "mile"}, '"unit" must be one of ["m","ft"]'),
        ({"start": {"x": 3}, "note": 5}, '"note" must match exactly one oneOf branch (matched 0)'),
    ],
)
async def test_arguments_are_refused_in_the_words_of_the_protocol(
    arguments: Json, violations: str
) -> None:
    assert await refusal(measure, arguments) == violations


async def test_what_the_subset_cannot_say_pydantic_says() -> None:
    found = await refusal(measure, {"start": {"x": 3}, "digits": 10, "day": "Monday"})
    first, second = found.split("; ")
    assert first == '"digits": Input should be less than or equal to 9'
    assert second.startswith('"day": Input should be a valid date')


async def test_calling_the_tool_calls_the_function() -> None:
    assert measure(Point(x=1), digits=100)["digits"] == 100
    assert isinstance(measure, FunctionTool)


# ---- What comes back -------------------------------------------------------------------------------


async def test_a_text_is_shown_as_it_is_and_anything_else_as_json() -> None:
    @tool
    def greet(name: str) -> str:
        """Greet."""
        return f"Hello {name}"

    @tool
    def point() -> Point:
        """A point."""
        return Point(x=1)

    assert (await outcome(greet, {"name": "Ada"}))["content"] == [text("Hello Ada")]
    result = await outcome(point, {})
    assert result["value"] == {"x": 1, "y": 0.5}
    assert result["content"] == [text('{"x":1,"y":0.5}')]


async def test_a_render_function_gets_arguments_and_value() -> None:
    @tool(render=lambda arguments, value: [text(f"{arguments['n']} squared is {value}")])
    def square(n: int) -> int:
        """Square."""
        return n * n

    assert (await outcome(square, {"n": 7}))["content"] == [text("7 squared is 49")]


async def test_a_value_that_is_not_what_the_annotation_says() -> None:
    @tool
    def broken() -> list[int]:
        """Broken."""
        return ["one"]  # type: ignore[list-item]

    result = await outcome(broken, {})
    assert result["error"]["info"]["code"] == "INVALID_TOOL_OUTPUT"
    assert result["error"]["message"].startswith(
        'tool "broken" returned invalid output: "value[0]": Input should be a valid integer'
    )


async def test_a_value_that_json_does_not_have() -> None:
    @tool
    def infinite() -> float:
        """Infinite."""
        return float("inf")

    message = 'tool "infinite" returned invalid output: value is not lossless JSON'
    assert (await outcome(infinite, {}))["error"]["message"] == message


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (None, {"type": "null"}),
        (Any, {}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (int | None, {"oneOf": [{"type": "integer"}, {"type": "null"}]}),
        (int | float, {}),
        (
            list[Unit],
            {"type": "array", "items": {"title": "Unit", "type": "string", "enum": ["m", "ft"]}},
        ),
        (tuple[int, str], {"type": "array"}),
        (dict[str, int], {"type": "object"}),
        (date, {"type": "string"}),
        (Point | list[int], None),
    ],
)
async def test_the_output_schema(annotation: Any, schema: Json) -> None:
    def function() -> Any: ...

    function.__annotations__["return"] = annotation
    found = tool(function).output.schema
    assert schema_violations(found) == []
    if schema is not None:
        assert found == schema


async def test_a_type_that_contains_itself_is_open_below() -> None:
    @tool
    def tree() -> Node:
        """Tree."""
        return Node(name="a", children=[Node(name="b")])

    children = tree.output.schema["properties"]["children"]
    assert children == {"type": "array", "default": [], "items": {}}
    assert not (await outcome(tree, {}))["isError"]


# ---- Where it runs -----------------------------------------------------------------------------------


async def test_a_plain_function_runs_in_a_thread_and_does_not_hold_up_the_loop() -> None:
    release = threading.Event()

    @tool
    def wait() -> str:
        """Wait."""
        assert release.wait(60)
        return threading.current_thread().name

    results: list[Json] = []

    async def run() -> None:
        results.append(await outcome(wait, {}))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await anyio.sleep(0.01)
        release.set()
    assert results[0]["value"] != threading.current_thread().name


async def test_the_execution_is_handed_in_and_is_no_parameter() -> None:
    @tool(
        concurrency_safe=True,
        defer_loading=True,
        timeout_ms=60_000,
        name="look",
        description="Look.",
    )
    async def function(term: str, execution: ToolExecution) -> str:
        """Not this."""
        execution.conclude_turn()
        await anyio.lowlevel.checkpoint()
        return f"{execution.call_id}: {term}"

    schema = function.model_schema()
    assert (schema["name"], schema["description"], schema["deferLoading"]) == (
        "look",
        "Look.",
        True,
    )
    assert list(schema["parameters"]["properties"]) == ["term"]
    result = await outcome(function, {"term": "x"})
    assert (result["value"], result["concludesTurn"]) == ("c1: x", True)
    tools = registry()
    tools.register(function)
    assert tools.execution_mode(call("look", {"term": "x"})) == "parallel"
    assert tools.execution_mode(call("look", {"term": 5})) == "exclusive"


async def test_methods() -> None:
    class Counter:
        count = 0

        def add(self, n: int) -> int:
            """Add."""
            self.count += n
            return self.count

    counter = Counter()
    added = tool(counter.add)
    assert list(added.parameters["properties"]) == ["n"]
    assert (await outcome(added, {"n": 4}))["value"] == 4
    assert counter.count == 4


@pytest.mark.parametrize("parameters", ["*args", "**kwargs", "a, /"])
def test_parameters_without_a_name_of_their_own(parameters: str) -> None:
    names: dict[str, Any] = {}
    exec(f"def function({parameters}): ...", names)
    with pytest.raises(UsageError) as caught:
        tool(names["function"])
    assert caught.value.code == "tools/function-parameter"


# ---- The parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("docstring", "description", "parameters"),
    [
        (None, "", {}),
        ("One line.", "One line.", {}),
        ("\n    Text.\n\n    More: of it.\n    ", "Text.\n\nMore: of it.", {}),
        (
            "Text.\n\n    Args:\n        a: A.\n        *rest: B.\n",
            "Text.",
            {"a": "A.", "rest": "B."},
        ),
        (
            "Args:\n    a (int, optional): On\n      two lines: yes.\n\n    b: B.\nRaises:\n    X: no.",
            "",
            {"a": "On two lines: yes.", "b": "B."},
        ),
        ("Text.\n\nReturns:\n    It.\n\nArguments:\n    c: C.", "Text.", {"c": "C."}),
    ],
)
def test_docstrings(docstring: str | None, description: str, parameters: dict[str, str]) -> None:
    assert read_docstring(docstring) == (description, parameters)


FINITE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.sampled_from([0, 1, 1.5, 2, "", "a", "b"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
UNIONS = st.lists(
    st.sampled_from(["integer", "number", "string", "null", "object"]).map(lambda t: {"type": t}),
    min_size=2,
    max_size=3,
)
MORE: dict[str, st.SearchStrategy[Json]] = {
    "format": st.just("date"),
    "minimum": st.sampled_from([0, 1]),
    "anyOf": st.lists(SCHEMAS, min_size=1, max_size=3) | UNIONS,
    "allOf": st.lists(SCHEMAS, min_size=1, max_size=2),
    "$ref": st.sampled_from(["#/$defs/one", "#/$defs/two"]),
    "patternProperties": st.dictionaries(st.sampled_from(["a", "."]), SCHEMAS, max_size=1),
    "prefixItems": st.lists(SCHEMAS, min_size=1, max_size=2),
    "type": st.sampled_from([["string", "null"], "object", "array"]),
    "required": st.lists(st.sampled_from(["a", "z"]), max_size=2, unique=True),
    "properties": st.dictionaries(NAMES, SCHEMAS, max_size=3),
    "items": st.booleans() | SCHEMAS,
}
ANY_SCHEMAS = st.builds(
    lambda schema, more: {**more, **schema},
    SCHEMAS | st.just({}),
    st.fixed_dictionaries({}, optional=MORE),
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(schema=ANY_SCHEMAS, other=SCHEMAS, values=st.lists(FINITE, min_size=5, max_size=9))
def test_a_loosened_schema_takes_all_that_the_schema_takes(
    schema: Json, other: Json, values: list[Json]
) -> None:
    definitions = {"one": schema, "two": other}
    found = loosen(schema, definitions)
    assert schema_violations(found) == []
    whole = Draft202012Validator({**schema, "$defs": definitions})
    for value in values:
        if takes(whole, value):
            assert value_violations(found, value) == []


def takes(validator: Draft202012Validator, value: Json) -> bool:
    try:
        return validator.is_valid(value)
    except RecursionError:
        return False  # A schema that is nothing but a reference to itself.


async def test_a_function_that_is_aborted_in_its_thread_is_waited_for() -> None:
    controller = AbortController()
    started, release, done = threading.Event(), threading.Event(), threading.Event()

    @tool
    def work() -> str:
        """Work."""
        started.set()
        release.wait(60)
        done.set()
        return "done"

    async def abort() -> None:
        await anyio.to_thread.run_sync(started.wait, 60)
        controller.abort({"kind": "user"})
        release.set()

    async with anyio.create_task_group() as group:
        group.start_soon(abort)
        result = await outcome(work, {}, signal=controller.signal)
    assert done.is_set()
    assert result["error"]["info"]["code"] == "ABORTED"
