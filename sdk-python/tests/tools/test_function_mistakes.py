"""What authors of tools get wrong: refused where the tool is made, or a result that says what happened."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Annotated, Any

import anyio
import pytest
from pydantic import BaseModel, Field

from dsh_protocol import (
    AbortController,
    Owner,
    RegistrationError,
    ToolCall,
    ToolRegistry,
    UsageError,
    tool,
)

pytestmark = pytest.mark.anyio


class Opaque:
    pass


class Point(BaseModel):
    x: int = 0


async def run(function: Callable[..., Any], arguments: Any = None, **options: Any) -> Any:
    """The JSON result of one call of a tool of its own."""
    tools = ToolRegistry()
    tools.register(tool(name="mine", **options)(function))
    call = ToolCall("c", "mine", arguments or {}, AbortController().signal)
    return (await tools.execute(call)).to_json()


# ---- Refused where it is made --------------------------------------------------------------------


def opaque_parameter(given: Opaque) -> int:
    return 1


def function_parameter(given: Callable[[], int]) -> int:
    return 1


def opaque_result() -> Opaque:
    return Opaque()


def missing_name(given: Missing) -> int:  # type: ignore[name-defined]  # noqa: F821
    return 1


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (opaque_parameter, "opaque_parameter: the parameter 'given'"),
        (function_parameter, "function_parameter: the parameter 'given'"),
        (opaque_result, "opaque_result: what it returns"),
        (missing_name, "missing_name: its annotations"),
    ],
)
def test_a_type_without_a_schema(function: Callable[..., Any], what: str) -> None:
    with pytest.raises(UsageError, match=what) as refused:
        tool(function)
    assert refused.value.code == "tools/function-type"


def yields() -> Iterator[int]:
    yield 1


async def yields_later() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize("given", [partial(len, ()), Opaque, "text", yields, yields_later])
def test_what_is_no_function(given: Any) -> None:
    with pytest.raises(UsageError) as refused:
        tool(given)
    assert refused.value.code == "tools/no-function"


def test_a_plain_function_is_no_tool_yet() -> None:
    given: Any = opaque_parameter
    with pytest.raises(RegistrationError, match="is no tool") as refused:
        ToolRegistry().register(given)
    assert refused.value.code == "tools/no-tool"


@pytest.mark.parametrize("which", ["allow", "deny"])
def test_a_restriction_is_a_list_of_names(which: str) -> None:
    names: Any = {which: "bash"}
    with pytest.raises(RegistrationError, match="one text") as refused:
        ToolRegistry().of(Owner("x", scope=object())).restrict(**names)
    assert refused.value.code == "tools/restrict-type"


# ---- Defaults ------------------------------------------------------------------------------------


async def test_each_call_gets_defaults_of_its_own() -> None:
    kept = object()

    def grow(
        plain: list[int] = [],  # noqa: B006
        model: Point = Point(),  # noqa: B008
        made: list[int] = Field(default_factory=list),  # noqa: B008
        identical: Any = kept,
    ) -> list[Any]:
        model.x += 1
        for each in (plain, made):
            each.append(1)
        return [plain, model.x, made, identical is kept]

    tools = ToolRegistry()
    tools.register(tool(grow))
    for _ in range(3):
        result = await tools.execute(ToolCall("c", "grow", {}, AbortController().signal))
        assert result.to_json()["value"] == [[1], 1, [1], True]


async def test_a_default_in_the_annotation() -> None:
    def ask(
        limit: Annotated[int, Field(default=3)],
        *,
        words: Annotated[list[str], Field(default_factory=list)],
    ) -> list[Any]:
        words.append("x")
        return [limit, words]

    made = tool(ask)
    assert made.parameters["properties"]["limit"]["default"] == 3
    assert "required" not in made.parameters
    assert (await run(ask))["value"] == [3, ["x"]]
    assert (await run(ask))["value"] == [3, ["x"]]


# ---- Results -------------------------------------------------------------------------------------


async def test_a_value_that_json_does_not_have() -> None:
    result = await run(lambda: b"\xff")
    assert result["error"]["info"]["code"] == "INVALID_TOOL_OUTPUT"
    result = await run(lambda: Opaque())
    assert result["error"]["info"]["code"] == "INVALID_TOOL_OUTPUT"


@pytest.mark.parametrize("shown", ["text", None, {"type": "text", "text": "x"}, ["text"], 5])
async def test_render_gives_a_list_of_blocks(shown: Any) -> None:
    result = await run(lambda: 1, render=lambda _arguments, _value: shown)
    assert result["error"] == {
        "message": 'tool "mine" returned invalid output: output.render returned no list of content blocks',
        "info": {"name": "ToolOutputError", "code": "INVALID_TOOL_OUTPUT"},
    }


async def test_a_plain_function_may_return_a_coroutine() -> None:
    async def later() -> int:
        await anyio.sleep(0)
        return 5

    assert (await run(lambda: later()))["value"] == 5


async def test_a_function_that_wants_to_end_the_program_ends_its_call() -> None:
    result = await run(lambda: sys.exit("usage: ..."))
    assert result["error"] == {"message": "the tool wanted to end the program: usage: ..."}


# ---- Cancellation --------------------------------------------------------------------------------


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_tool_that_waits_for_a_cancelled_task_fails_and_nothing_else_does() -> None:
    async def mine() -> None:
        task = asyncio.ensure_future(asyncio.sleep(9))
        asyncio.get_running_loop().call_soon(task.cancel)
        await task

    result = await run(mine)
    assert result["error"] == {"message": "the tool waited for work that was cancelled"}


async def test_a_cancellation_of_the_caller_goes_through_a_tool() -> None:
    reached = []

    async def mine() -> None:
        try:
            await anyio.sleep(9)
        finally:
            reached.append("ended")

    with anyio.move_on_after(0.05) as scope:
        await run(mine)
        reached.append("went on")
    assert scope.cancelled_caught
    assert reached == ["ended"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancelled_task_of_the_caller_ends() -> None:
    task = asyncio.ensure_future(run(lambda: asyncio.sleep(9)))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
