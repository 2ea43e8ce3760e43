"""How calls end. Expected: the tables of the published reference, section 10; `test_calls_official.py` asks about the rest."""

from __future__ import annotations

import logging
import threading
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tool_builders import Agent, Json, call, output, registry, text, tool

from dsh_protocol.abort import AbortController
from dsh_protocol.findings import UsageError
from dsh_protocol.tools import (
    ToolError,
    ToolFailure,
    ToolOutput,
    ToolRegistry,
    ToolSuccess,
    typed_tool,
)

pytestmark = pytest.mark.anyio


def error(message: str, name: str | None = None, code: str | None = None) -> Json:
    info = {} if name is None else {"info": {"name": name, "code": code}}
    return {
        "isError": True,
        "error": {"message": message, **info},
        "content": [text(f"Error: {message}")],
    }


ABORTED = error("tool call aborted", "AbortError", "ABORTED")
NOT_STARTED = error("tool call aborted before dispatch", "AbortError", "ABORTED_BEFORE_DISPATCH")


async def outcome(definition: Any, **more: Any) -> Json:
    tools = registry()
    tools.register(definition)
    return (await tools.execute(call(**more))).to_json()


async def test_a_success() -> None:
    result = await outcome(
        tool(returns={"r": "hi"}, output=ToolOutput({}, lambda _, v: [text(v["r"])]))
    )
    assert result == {"isError": False, "content": [text("hi")], "value": {"r": "hi"}}
    assert list(result) == ["isError", "content", "value"]


async def test_unknown_and_hidden_tools() -> None:
    tools, agent = registry(), Agent("agent")
    tools.register(tool("read"))
    tools.of(agent.owner).restrict(deny=["read"])
    expected = error('unknown tool "read"', "ToolNotFoundError", "UNKNOWN_TOOL")
    assert (await tools.execute(call("read", agent=agent))).to_json() == expected
    assert (await tools.execute(call("read"))).is_error is False
    assert (await tools.execute(call("zap"))).to_json() == error(
        'unknown tool "zap"', "ToolNotFoundError", "UNKNOWN_TOOL"
    )


def failing(error: BaseException) -> Any:
    async def execute(arguments: Json, execution: Any) -> Json:
        raise error

    return tool(execute=execute)


class DiskError(ToolError):
    def __init__(self) -> None:
        super().__init__("NO_SPACE", "the disk is full")


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ValueError("it broke"), error("it broke")),
        (ToolError("NO_FILE", "gone", name="FileError"), error("gone", "FileError", "NO_FILE")),
        (DiskError(), error("the disk is full", "DiskError", "NO_SPACE")),
        (
            UsageError("usage/name", "no such name"),
            error("no such name", "UsageError", "usage/name"),
        ),
        (ValueError(), error("ValueError")),
        (
            ExceptionGroup("tasks", [ExceptionGroup("tasks", [DiskError()])]),
            error("the disk is full", "DiskError", "NO_SPACE"),
        ),
    ],
    ids=["plain", "coded", "own class", "of this package", "without words", "of a task group"],
)
async def test_what_a_body_raises(raised: BaseException, expected: Json) -> None:
    assert await outcome(failing(raised)) == expected


async def test_an_error_that_cannot_say_what_it_is() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert await outcome(failing(Mute())) == error("<unprintable thrown value>")


async def test_arguments_are_frozen_copies() -> None:
    given = {"list": [1.0, {"a": 2}], "1": None}

    async def execute(arguments: Json, execution: Any) -> Json:
        given["list"].append(3)  # type: ignore[union-attr]
        changes: list[Any] = [
            lambda: arguments.update(x=1),
            lambda: arguments["list"].append(4),
            lambda: arguments["list"][1].pop("a"),
            lambda: arguments.__setitem__("x", 1),
        ]
        for change in changes:
            with pytest.raises(TypeError, match="snapshot"):
                change()
        return {**arguments, "mine": [*arguments["list"], 5]}

    result = await outcome(tool(execute=execute), arguments=given)
    assert result["value"] == {"1": None, "list": [1, {"a": 2}], "mine": [1, {"a": 2}, 5]}


@pytest.mark.parametrize("arguments", [{"a": float("inf")}, {"a": -0.0}, {"a": (1,)}, {1: 2}])
async def test_arguments_that_are_no_json(arguments: Any) -> None:
    expected = error("tool execution arguments must be losslessly JSON-serializable")
    assert await outcome(tool(), arguments=arguments) == expected


async def test_arguments_and_values_that_contain_themselves() -> None:
    loop: list[Any] = []
    loop.append(loop)
    expected = error("tool execution arguments must be losslessly JSON-serializable")
    assert await outcome(tool(), arguments={"a": loop}) == expected
    message = 'tool "read" returned invalid output: value is not lossless JSON'
    assert await outcome(tool(returns=loop)) == error(
        message, "ToolOutputError", "INVALID_TOOL_OUTPUT"
    )


async def test_a_result_is_a_copy_as_well() -> None:
    value: dict[str, Any] = {"n": 1.0}
    tools = registry()
    tools.register(tool(returns=value))
    result = await tools.execute(call())
    value["n"] = 2
    assert isinstance(result, ToolSuccess)
    assert result.value == {"n": 1}
    with pytest.raises(TypeError):
        result.value["n"] = 3


# ---- Cancellation ----------------------------------------------------------------------------------


async def test_a_call_that_is_aborted_beforehand_meets_no_policy() -> None:
    controller = AbortController()
    controller.abort({"kind": "user"})
    tools = registry()
    asked: list[str] = []
    tools.register(tool(finalize_content=lambda *_: [text("final")]))
    tools.on("tools/pre-execute", lambda execution, further: asked.append("pre"))
    tools.on("tools/post-execute", lambda execution, result, further: asked.append("post"))
    tools.on("tools/result", lambda execution, result: asked.append("result"))
    result = await tools.execute(call(signal=controller.signal))
    assert result.to_json() == NOT_STARTED | {"content": [text("final")]}
    assert asked == ["result"]


async def aborted_while_running(execute: Any, **more: Any) -> Json:
    tools, controller = registry(), AbortController()
    tools.register(tool(execute=execute, **more))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:

            async def abort() -> None:
                await anyio.lowlevel.checkpoint()
                controller.abort({"kind": "user"})

            group.start_soon(abort)
            result = await tools.execute(call(signal=controller.signal))
    return result.to_json()


async def test_a_body_is_cancelled_at_its_next_await_and_may_clean_up() -> None:
    steps: list[str] = []

    async def execute(arguments: Json, execution: Any) -> Json:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                steps.append("cleaned up")

    assert await aborted_while_running(execute) == ABORTED
    assert steps == ["cleaned up"]


async def test_a_body_that_shields_itself_sees_the_signal_and_is_awaited() -> None:
    steps: list[Any] = []

    async def execute(arguments: Json, execution: Any) -> Json:
        with anyio.CancelScope(shield=True):
            await execution.signal.wait()
            await anyio.lowlevel.checkpoint()
            steps.append(execution.signal.reason)
        return "half of it"

    assert await aborted_while_running(execute) == ABORTED
    assert steps == [{"kind": "user"}]


async def test_a_failure_of_its_own_outlasts_the_abort() -> None:
    async def execute(arguments: Json, execution: Any) -> Json:
        with anyio.CancelScope(shield=True):
            await execution.signal.wait()
        raise ToolError("PARTIAL", "stopped in the middle", name="CopyError")

    expected = error("stopped in the middle", "CopyError", "PARTIAL")
    assert await aborted_while_running(execute) == expected


async def test_contexts_of_an_aborted_call_are_kept() -> None:
    message = {"role": "user", "content": [text("mind this")]}

    async def execute(arguments: Json, execution: Any) -> Json:
        execution.defer_context(message)
        await anyio.sleep_forever()

    expected = ABORTED | {"additionalContexts": [message]}
    assert await aborted_while_running(execute) == expected


async def test_cancelling_the_surrounding_task_goes_through() -> None:
    tools = registry()

    async def execute(arguments: Json, execution: Any) -> Json:
        await anyio.sleep_forever()

    tools.register(tool(execute=execute, timeout_ms=60_000))
    finished = False
    with anyio.move_on_after(0.02) as scope:
        await tools.execute(call())
        finished = True
    assert scope.cancelled_caught
    assert not finished


# ---- Timeouts --------------------------------------------------------------------------------------

TIMED_OUT = error("tool call timed out after 20ms", "ToolTimeoutError", "TOOL_TIMEOUT")


async def test_a_call_that_takes_too_long() -> None:
    async def execute(arguments: Json, execution: Any) -> Json:
        await anyio.sleep_forever()

    with anyio.fail_after(60):
        assert await outcome(tool(execute=execute, timeout_ms=20)) == TIMED_OUT


async def test_a_timeout_replaces_whatever_comes_of_the_body_and_waits_for_it() -> None:
    steps: list[Any] = []

    async def execute(arguments: Json, execution: Any) -> Json:
        with anyio.CancelScope(shield=True):
            await execution.signal.wait()
            await anyio.sleep(0.01)
            steps.append("stopped")
        raise ToolError("PARTIAL", "too late")

    with anyio.fail_after(60):
        assert await outcome(tool(execute=execute, timeout_ms=20)) == TIMED_OUT
    assert steps == ["stopped"]


async def test_a_timeout_of_half_a_millisecond_is_written_as_javascript_does() -> None:
    async def execute(arguments: Json, execution: Any) -> Json:
        await anyio.sleep_forever()

    result = await outcome(tool(execute=execute, timeout_ms=0.5))
    assert result["error"]["message"] == "tool call timed out after 0.5ms"


async def test_a_call_in_time_is_left_alone() -> None:
    assert (await outcome(tool(timeout_ms=60_000)))["isError"] is False
    assert await outcome(
        tool(execute=failing(ValueError("it broke")).execute, timeout_ms=60_000)
    ) == error("it broke")


async def test_an_abort_before_the_timeout_is_an_abort() -> None:
    async def execute(arguments: Json, execution: Any) -> Json:
        await anyio.sleep_forever()

    assert await aborted_while_running(execute, timeout_ms=60_000) == ABORTED


async def test_wrappers_see_the_signal_of_the_timeout_and_get_their_own_back() -> None:
    tools, controller = registry(), AbortController()
    seen: list[bool] = []

    async def around(execution: Any, further: Any) -> Any:
        seen.append(execution.signal is controller.signal)
        return await further()

    tools.on("tools/execute", around, prepend=True)
    tools.on("tools/execute", around)
    tools.register(tool(timeout_ms=60_000))
    executions: list[Any] = []
    tools.on("tools/result", lambda execution, result: executions.append(execution))
    await tools.execute(call(signal=controller.signal))
    assert seen == [True, False]
    assert executions[0].signal is controller.signal


# ---- Policies --------------------------------------------------------------------------------------


async def test_listeners_and_guards_reach_their_scope_and_what_is_below_it() -> None:
    tools, preset, agent = registry(), Agent("preset"), Agent("agent")
    tools.events.scopes.bind(agent, preset)
    tools.register(tool())
    asked: list[str] = []

    def note(label: str) -> Any:
        async def listener(execution: Any, further: Any) -> Any:
            asked.append(label)
            return await further()

        return listener

    tools.on("tools/pre-execute", note("global"))
    tools.of(agent.owner).on("tools/pre-execute", note("agent"))
    tools.of(preset.owner).on("tools/pre-execute", note("preset"), prepend=True)
    tools.of(agent.owner).guard(lambda _: asked.append("guard of the agent"))
    tools.guard(lambda _: asked.append("global guard"))
    await tools.execute(call(agent=agent))
    assert asked == ["preset", "global", "agent", "global guard", "guard of the agent"]
    asked.clear()
    await tools.execute(call(agent=preset))
    assert asked == ["preset", "global", "global guard"]
    asked.clear()
    await tools.execute(call())
    assert asked == ["global", "global guard"]


async def test_no_decision_overrules_a_guard() -> None:
    tools = registry()
    tools.register(tool())
    tools.guard(lambda _: "not on a Monday")
    tools.on("tools/pre-execute", lambda execution, further: {"kind": "allow"})
    assert (await tools.execute(call())).to_json() == error("not on a Monday")


@pytest.mark.parametrize("decision", [{"kind": "perhaps"}, None, "deny", {}])
@pytest.mark.parametrize("event", ["tools/pre-execute", "tools/post-execute"])
async def test_a_decision_that_is_none(event: Any, decision: Any) -> None:
    tools = registry()
    tools.register(tool())
    tools.on(event, lambda *_: decision)
    result = (await tools.execute(call())).to_json()
    assert result["error"]["message"].startswith(
        f"a listener of {event} gave no decision of kind a"
    )


async def test_a_wrapper_that_returns_no_result() -> None:
    tools = registry()
    tools.register(tool())
    tools.on("tools/execute", lambda *_: {"isError": False})
    expected = error("a tools/execute listener returns a ToolSuccess or a ToolFailure")
    assert (await tools.execute(call())).to_json() == expected


async def test_a_wrapper_cannot_make_a_success_of_an_unknown_tool() -> None:
    tools = registry()
    tools.on("tools/execute", lambda *_: ToolSuccess("made up", [text("made up")]))
    result = await tools.execute(call("zap"))
    assert result.to_json() == error('unknown tool "zap"', "ToolNotFoundError", "UNKNOWN_TOOL")


async def test_what_a_wrapper_made_goes_through_the_output_contract() -> None:
    tools = registry()
    tools.register(tool(output=output({"type": "number"})))
    made: list[Any] = [ToolSuccess("no number"), ToolSuccess(7, [text("hidden")])]
    tools.on("tools/execute", lambda *_: made.pop(0))
    message = 'tool "read" returned invalid output: "value" must be a number'
    assert (await tools.execute(call())).to_json() == error(
        message, "ToolOutputError", "INVALID_TOOL_OUTPUT"
    )
    assert (await tools.execute(call())).to_json() == {
        "isError": False,
        "content": [text("7")],
        "value": 7,
    }


async def test_a_result_of_another_call_counts_as_made() -> None:
    tools = registry()
    tools.register(tool())
    kept = await tools.execute(call())
    tools.register(tool("other", returns=5))
    tools.on("tools/execute", lambda *_: kept)
    assert (await tools.execute(call("other"))).to_json() == {
        "isError": False,
        "content": [text("done")],
        "value": "done",
    }


async def test_an_observer_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    tools = registry()
    tools.register(tool())

    def fail(execution: Any, result: Any) -> None:
        raise ValueError("no room to write")

    told: list[Any] = []
    tools.on("tools/result", fail)
    tools.on("tools/result", lambda execution, result: told.append(result))
    with caplog.at_level(logging.WARNING, "dsh_protocol.tools"):
        result = await tools.execute(call())
    assert told == [result]
    assert "'read' (c1): no room to write" in caplog.text


async def test_an_observer_that_would_have_to_be_awaited_is_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tools = registry()
    tools.register(tool())

    async def observe(execution: Any, result: Any) -> None: ...

    tools.on("tools/result", observe)
    with caplog.at_level(logging.WARNING, "dsh_protocol.tools"):
        assert not (await tools.execute(call())).is_error
    assert "plain function" in caplog.text


# ---- Approval: the texts are those of the released registry ------------------------------------------


@pytest.mark.parametrize(
    ("decision", "approval", "message"),
    [
        ({"kind": "ask"}, None, 'tool "read" requires approval (not yet supported)'),
        ({"kind": "ask", "reason": "It writes."}, None, "It writes."),
        ({"kind": "ask"}, "rejected", 'the user rejected tool "read"'),
        ({"kind": "ask", "reason": "It writes."}, "rejected", 'the user rejected tool "read"'),
        ({"kind": "ask"}, "cancelled", 'approval for tool "read" was cancelled'),
        (
            {"kind": "ask"},
            "unavailable",
            'tool "read" requires approval, but no approval channel is available',
        ),
    ],
)
async def test_calls_that_a_person_does_not_allow(
    decision: Any, approval: Any, message: str
) -> None:
    tools, agent = registry(), Agent("agent")
    tools.register(tool())
    tools.on("tools/pre-execute", lambda *_: decision)
    tools.approver = None if approval is None else answering(approval, [])
    assert (await tools.execute(call(agent=agent))).to_json() == error(message)


def answering(outcome: Any, asked: list[Any]) -> Any:
    async def approve(request: Any) -> Any:
        asked.append(request)
        return outcome

    return approve


async def test_a_call_that_a_person_allows_still_meets_the_guards() -> None:
    tools, agent = registry(), Agent("agent")
    tools.register(tool())
    tools.on("tools/pre-execute", lambda *_: {"kind": "ask", "reason": "r", "displayReason": "d"})
    asked: list[Any] = []
    tools.approver = answering("allowed-once", asked)
    assert not (await tools.execute(call(agent=agent))).is_error
    request = asked[0]
    assert (request.tool_name, request.call_id, request.agent) == ("read", "c1", agent)
    assert (request.reason, request.display_reason) == ("r", "d")
    tools.guard(lambda _: "no")
    assert (await tools.execute(call(agent=agent))).to_json() == error("no")


async def test_without_an_agent_there_is_nobody_to_ask() -> None:
    tools = registry()
    tools.register(tool())
    tools.on("tools/pre-execute", lambda *_: {"kind": "ask", "reason": "r"})
    tools.approver = answering("allowed-once", [])
    message = 'tool "read" requires approval, but the call has no agent to route it through'
    assert (await tools.execute(call())).to_json() == error(message)


async def test_an_approval_that_was_cancelled_with_the_call() -> None:
    tools, agent, controller = registry(), Agent("agent"), AbortController()
    tools.register(tool())
    tools.on("tools/pre-execute", lambda *_: {"kind": "ask"})

    async def approve(request: Any) -> Any:
        controller.abort({"kind": "user"})
        return "cancelled"

    tools.approver = approve
    result = await tools.execute(call(agent=agent, signal=controller.signal))
    assert result.to_json() == NOT_STARTED


# ---- Concurrency and steps ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("safe", "arguments", "mode"),
    [
        (lambda _: True, {}, "parallel"),
        (lambda _: False, {}, "exclusive"),
        (lambda _: 1, {}, "exclusive"),
        (lambda arguments: arguments["x"], {}, "exclusive"),
        (lambda arguments: arguments["x"], {"x": True}, "parallel"),
        (None, {}, "exclusive"),
    ],
)
async def test_the_concurrency_mode(safe: Any, arguments: Json, mode: str) -> None:
    tools, agent = registry(), Agent("agent")
    tools.register(tool(is_concurrency_safe=safe))
    assert tools.execution_mode(call(arguments=arguments)) == mode
    assert tools.execution_mode(call("zap")) == "exclusive"
    tools.of(agent.owner).restrict(deny=["read"])
    assert tools.execution_mode(call(arguments=arguments, agent=agent)) == "exclusive"


async def test_a_typed_tool_is_only_asked_about_arguments_that_fit() -> None:
    definition = typed_tool(
        tool(
            parameters={"n": {"type": "integer", "required": True}},
            output=output({"type": "json"}),
            is_concurrency_safe=lambda arguments: arguments["n"] > 0,
            present_call=lambda arguments: f"n is {arguments['n']}",
            present_result=lambda arguments, result: f"n was {arguments['n']}",
        )
    )
    assert definition.parameters == {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
    }
    assert definition.is_concurrency_safe is not None
    assert definition.is_concurrency_safe({"n": 1})
    assert not definition.is_concurrency_safe({"n": "1"})
    assert definition.present_call is not None
    assert definition.present_result is not None
    result = ToolFailure("m", [])
    assert definition.present_call({"n": 1}) == "n is 1"
    assert definition.present_call({}) is None
    assert definition.present_result({"n": 1}, result) == "n was 1"
    assert definition.present_result({}, result) is None
    assert await outcome(definition, arguments={"n": 1.5}) == error(
        'invalid arguments: "n" must be an integer', "ToolArgsError", "INVALID_ARGS"
    )


async def in_steps(tools: ToolRegistry, *names: str) -> list[Json]:
    """What a loop does: prepare each call in order, run the bodies together, settle in order."""
    stages = [await tools.prepare(call(name)) for name in names]

    async def run(index: int) -> None:
        stages[index] = await tools.dispatch(stages[index].execution)

    async with anyio.create_task_group() as group:
        for index, stage in enumerate(stages):
            if stage.kind == "dispatch":
                group.start_soon(run, index)
    return [(await tools.settle(stage)).to_json() for stage in stages]


async def test_calls_in_steps_overlap_and_settle_in_order() -> None:
    tools = registry()
    meet = anyio.Event()
    order: list[str] = []

    async def wait(arguments: Json, execution: Any) -> Json:
        await meet.wait()
        order.append("first")
        return 1

    async def signal(arguments: Json, execution: Any) -> Json:
        order.append("second")
        meet.set()
        return 2

    tools.register(tool("first", execute=wait))
    tools.register(tool("second", execute=signal))
    tools.register(tool("denied"))
    tools.on(
        "tools/pre-execute",
        lambda execution, further: (
            {"kind": "deny", "reason": "no"} if execution.name == "denied" else further()
        ),
    )
    tools.on("tools/result", lambda execution, result: order.append(f"{execution.name} settled"))
    with anyio.fail_after(60):
        results = await in_steps(tools, "first", "denied", "second")
    assert [result.get("value") for result in results] == [1, None, 2]
    assert results[1] == error("no")
    assert order == ["second", "first", "first settled", "denied settled", "second settled"]


async def test_one_registry_serves_many_calls_at_once() -> None:
    tools = registry()
    threads: set[int] = set()

    async def execute(arguments: Json, execution: Any) -> Json:
        threads.add(threading.get_ident())
        await anyio.lowlevel.checkpoint()
        return arguments["n"]

    tools.register(tool(execute=execute, timeout_ms=60_000))
    results: dict[int, Any] = {}

    async def run(n: int) -> None:
        results[n] = (await tools.execute(call(arguments={"n": n}))).to_json()["value"]

    async with anyio.create_task_group() as group:
        for n in range(50):
            group.start_soon(run, n)
    assert results == {n: n for n in range(50)}
    assert len(threads) == 1
