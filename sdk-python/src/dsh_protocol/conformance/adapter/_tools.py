"""Ops about tools: the registry, step by step, as the one tool provider of a prompt service; and its schemas."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from dsh_protocol.abort import AbortController
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.tools import (
    ApprovalRequest,
    JsonSchemaError,
    ToolCall,
    ToolDefinition,
    ToolExecution,
    ToolFailure,
    ToolOutput,
    ToolRegistry,
    ToolResult,
    Tools,
    ToolSuccess,
    assert_object_schema,
    assert_supported,
    parameter_schema,
    typed_tool,
    value_schema,
    value_violations,
)

from ._answers import Json
from ._prompt import STEPS
from ._world import Step, Thrown, World, is_producer, json_text, plain, refusal

_MODEL = {"name", "description", "parameters", "output", "execute", "typed"}


def run(given: Json, _version: int) -> Json:
    """A prompt service with a tool registry, step by step."""
    return World({**STEPS, **_TOOL_STEPS}, with_tools=True).answers(given)


def schema(given: Json, _version: int) -> Json:
    """The subset of JSON Schema, the typed form, and values against schemas."""
    try:
        return {"ok": _ASKS[given["ask"]](given)}
    except JsonSchemaError as error:
        return refusal(error)


def _nothing(check: Callable[[Any], None], given: Any) -> Json:
    check(given)
    return {}


def _written(made: Json) -> Json:
    return {"schema": made, "text": dumps(made)}


def _violations(given: Json, value: Any, path: str) -> Json:
    return {"violations": value_violations(given["schema"], value, path)}


_ASKS: Mapping[str, Callable[[Json], Json]] = {
    "subset": lambda given: _nothing(assert_supported, given["schema"]),
    "object": lambda given: _nothing(assert_object_schema, given["schema"]),
    "parameters": lambda given: _written(parameter_schema(given["parameters"])),
    "value": lambda given: _written(value_schema(given["value"])),
    "validate": lambda given: _violations(given, given["value"], given["path"]),
    "arguments": lambda given: _violations(given, given["arguments"], ""),
}


# ---- Definitions -------------------------------------------------------------------------------------


def _definition(world: World, given: Json) -> ToolDefinition:
    """A tool in which functions stand for what a case says that they do."""
    made = ToolDefinition(
        name=given["name"],
        description=given["description"],
        # Without parameters there is something that is no JSON.
        parameters=given.get("parameters", NotImplemented),
        output=_output(world, given.get("output")),
        execute=_body(world, given.get("execute", {})),
        project_content=_returning(world, given, "projectContent"),
        finalize_content=_returning(world, given, "finalizeContent"),
        timeout_ms=given.get("timeoutMs"),
        is_concurrency_safe=_returning(world, given, "isConcurrencySafe"),
        defer_loading=given.get("deferLoading", False),
    )
    for name in given.keys() - _MODEL:
        # Members of nobody; the model must not see them.
        made.__dict__.setdefault(name, given[name])
    return typed_tool(made) if given.get("typed") else made


def _output(world: World, given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    render = _returning(world, given, "render") if "render" in given else _as_text
    return ToolOutput(given.get("schema"), render, _returning(world, given, "presentationMeta"))  # type: ignore[arg-type]


def _as_text(_arguments: Any, value: Any) -> list[Json]:
    return [{"type": "text", "text": value if isinstance(value, str) else dumps(value)}]


def _returning(world: World, given: Json, name: str) -> Any:
    """The function that a member describes; null where there is none."""
    described = given.get(name)
    if described is None:
        return None
    if is_producer(described):
        return world.function(described)
    return lambda *_: copy.deepcopy(described)


def _body(world: World, given: Json) -> Callable[[Any, ToolExecution], Awaitable[Any]]:
    async def execute(arguments: Any, execution: ToolExecution) -> Any:
        world.note(given.get("as"))
        for message in given.get("defers", ()):
            execution.defer_context(message)
        if given.get("concludes"):
            execution.conclude_turn()
        if given.get("aborts"):
            world.controller.abort({"kind": "user"})
        if given.get("waits"):
            await execution.signal.wait()
        if "throws" in given:
            raise Thrown(given["throws"])
        return arguments if given.get("echo") else given.get("returns", NotImplemented)

    return execute


# ---- Steps -------------------------------------------------------------------------------------------


def _registry(world: World) -> ToolRegistry:
    assert world.registry is not None
    return world.registry


def _tools(world: World, step: Json) -> Tools:
    return _registry(world).of(world.owner(step.get("owner")))


def _register(world: World, step: Json) -> None:
    world.keep(step, _tools(world, step).register(_definition(world, step["tool"])))


def _restrict(world: World, step: Json) -> None:
    dispose = _tools(world, step).restrict(allow=step.get("allow"), deny=step.get("deny"))
    world.keep(step, dispose)


def _schemas(world: World, step: Json) -> Json:
    schemas = _registry(world).schemas(world.key(step.get("scope")))
    return {"schemas": plain(schemas), "text": json_text(schemas)}


def _provide(world: World, step: Json) -> Json:
    context = world.context({"scope": step.get("scope")})
    return dict(_registry(world).provider(context))


def _mode(world: World, step: Json) -> Json:
    return {"kind": _registry(world).execution_mode(_call(world, step))}


def _call(world: World, step: Json) -> ToolCall:
    call = step["call"]
    agent = world.key(step.get("scope"))
    return ToolCall(call["callId"], call["name"], call["arguments"], world.controller.signal, agent)


async def _execute(world: World, step: Json) -> Json:
    world.controller = AbortController()
    if step.get("signal") == "aborted":
        world.controller.abort({"kind": "user"})
    result = await _registry(world).execute(_call(world, step))
    value: Json = plain(result.to_json())
    return value


def _guard(world: World, step: Json) -> None:
    world.keep(step, _tools(world, step).guard(lambda _execution: step["reason"]))


def _on(world: World, step: Json, event: Any, listener: Callable[..., Any]) -> None:
    dispose = _tools(world, step).on(
        event, listener, prepend=step.get("prepend", False), is_global=step.get("global", False)
    )
    world.keep(step, dispose)


def _decides(world: World, step: Json) -> Callable[..., Awaitable[Any]]:
    """A listener that decides about a call or a result; the last argument of both kinds is `next`."""

    async def decide(*arguments: Any) -> Any:
        world.note(step.get("as"))
        if step.get("aborts"):
            world.controller.abort({"kind": "user"})
        decision = step["decision"]
        if decision == "next":
            return await arguments[-1]()
        if "throws" in decision:
            raise Thrown(decision["throws"])
        return copy.deepcopy(decision)

    return decide


def _pre(world: World, step: Json) -> None:
    _on(world, step, "tools/pre-execute", _decides(world, step))


def _post(world: World, step: Json) -> None:
    _on(world, step, "tools/post-execute", _decides(world, step))


def _around(world: World, step: Json) -> None:
    async def around(
        _execution: ToolExecution, further: Callable[[], Awaitable[ToolResult]]
    ) -> ToolResult:
        world.note(step.get("as"))
        if "throws" in step:
            raise Thrown(step["throws"])
        return _result(step["result"]) if "result" in step else await further()

    _on(world, step, "tools/execute", around)


def _result(given: Json) -> ToolResult:
    if not given["isError"]:
        return ToolSuccess(given["value"], given["content"])
    more = {"meta": given["meta"]} if "meta" in given else {}
    error = given["error"]
    return ToolFailure(error["message"], given["content"], error.get("info"), **more)


def _on_result(world: World, step: Json) -> None:
    _on(world, step, "tools/result", lambda *_: world.note(step["as"]))


def _approval(world: World, step: Json) -> None:
    async def approver(_request: ApprovalRequest) -> Any:
        return step["outcome"]

    _registry(world).approver = approver


_TOOL_STEPS: Mapping[str, Step] = {
    "register": _register,
    "restrict": _restrict,
    "schemas": _schemas,
    "provide": _provide,
    "mode": _mode,
    "guard": _guard,
    "pre": _pre,
    "post": _post,
    "around": _around,
    "on-result": _on_result,
    "approval": _approval,
    "execute": _execute,
}
