"""One call of one tool inside listeners, as data: the Python half of `official_tools.mjs`.

An act is an object: `{"returns": V}`, `{"throws": message}`, `{"coded": {"name", "code", "message"}}`, and for listeners
`{"passes": true}` (what `next()` gives); `"first": true` calls `next()` beforehand, `"aborts": true` aborts the call,
`"notes": label` leaves a trace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dsh_protocol.abort import AbortController
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.scopes import Disposer, Events, Scopes
from dsh_protocol.tools import (
    ToolCall,
    ToolDefinition,
    ToolError,
    ToolFailure,
    ToolOutput,
    ToolRegistry,
    ToolResult,
    ToolSuccess,
    typed_tool,
)

Json = Any


class Scenario:
    """One scenario, played once."""

    def __init__(self, scenario: Json) -> None:
        self.scenario = scenario
        self.controller = AbortController()
        self.notes: list[Json] = []

    async def play(self) -> Json:
        """`{"text", "notes", "mode"}`: the result as JSON text, the traces, the concurrency mode."""
        registry = self._registry()
        if self.scenario.get("signal") == "aborted":
            self.controller.abort({"kind": "user"})
        call = self.scenario["call"]
        made = ToolCall(call["callId"], call["name"], call["arguments"], self.controller.signal)
        mode = registry.execution_mode(made)
        result = await registry.execute(made)
        return {"text": dumps(result.to_json()), "notes": self.notes, "mode": mode}

    def _registry(self) -> ToolRegistry:
        registry = ToolRegistry(Events(Scopes()))
        if self.scenario["tool"] is not None:
            registry.register(self._definition(self.scenario["tool"]))
        for act in self.scenario.get("pre", []):
            registry.on("tools/pre-execute", self._listener(act))
        for act in self.scenario.get("guards", []):
            self._guard(registry, act)
        for act in self.scenario.get("around", []):
            registry.on("tools/execute", self._listener(act, _result))
        for act in self.scenario.get("post", []):
            registry.on("tools/post-execute", self._listener(act))
        registry.on("tools/result", self._observe)
        return registry

    def _guard(self, registry: ToolRegistry, act: Json) -> Disposer:
        return registry.guard(lambda _: self._perform(act))

    def _observe(self, execution: Any, result: ToolResult) -> None:
        self.notes.append(["result", execution.call_id, result.is_error])

    def _listener(self, act: Json, made: Callable[[Json], Any] = lambda value: value) -> Any:
        async def listener(*arguments: Any) -> Any:
            *given, further = arguments
            if len(given) == 2:
                self.notes.append(["post", given[1].is_error])
            if act.get("first"):
                await further()
            returned = self._perform(act)
            return await further() if act.get("passes") else made(returned)

        return listener

    def _definition(self, tool: Json) -> ToolDefinition:
        output, body = tool["output"], tool["body"]

        def render(arguments: Json, value: Json) -> Any:
            act = output.get("render", {"returns": [{"type": "text", "text": dumps(value)}]})
            return self._perform(act)

        async def execute(arguments: Json, execution: Any) -> Json:
            for message in body.get("defers", []):
                execution.defer_context(message)
            if body.get("concludes"):
                execution.conclude_turn()
            if body.get("waits"):
                await execution.signal.wait()
            return arguments if body.get("echo") else self._perform(body)

        meta = self._hook(output, "presentationMeta")
        definition = ToolDefinition(
            name=tool["name"],
            description=tool["description"],
            parameters=tool["parameters"],
            output=ToolOutput(output["schema"], render, meta),
            execute=execute,
            project_content=self._hook(tool, "projectContent"),
            finalize_content=self._hook(tool, "finalizeContent"),
            is_concurrency_safe=self._hook(tool, "isConcurrencySafe"),
            timeout_ms=tool.get("timeoutMs"),
        )
        return typed_tool(definition) if tool.get("typed") else definition

    def _hook(self, holder: Json, name: str) -> Any:
        return (lambda *_: self._perform(holder[name])) if name in holder else None

    def _perform(self, act: Json) -> Json:
        if "notes" in act:
            self.notes.append(act["notes"])
        if act.get("aborts"):
            self.controller.abort({"kind": "user"})
        if "throws" in act:
            raise Exception(act["throws"])
        if "coded" in act:
            raise ToolError(**act["coded"])
        return act.get("returns")


def _result(value: Json) -> ToolResult:
    """A result that a wrapper makes itself, from the form that the protocol writes."""
    more = {"meta": value["meta"]} if "meta" in value else {}
    contexts = value.get("additionalContexts", [])
    if value["isError"]:
        error = value["error"]
        return ToolFailure(
            error["message"],
            value["content"],
            error.get("info"),
            additional_contexts=contexts,
            **more,
        )
    return ToolSuccess(value["value"], value["content"], additional_contexts=contexts, **more)
