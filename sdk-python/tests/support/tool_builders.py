"""Tools and calls for tests, as short as a table row."""

from __future__ import annotations

from typing import Any

from dsh_protocol.abort import AbortController, AbortSignal
from dsh_protocol.scopes import Owner
from dsh_protocol.tools import ToolCall, ToolDefinition, ToolOutput, ToolRegistry

Json = Any


def registry() -> ToolRegistry:
    return ToolRegistry()


def output(schema: Json | None = None) -> ToolOutput:
    return ToolOutput({} if schema is None else schema, lambda _, value: [text(str(value))])


def text(value: str) -> Json:
    return {"type": "text", "text": value}


def tool(name: str = "read", returns: Json = "done", **more: Any) -> ToolDefinition:
    fields = {
        "description": f"The tool {name}.",
        "parameters": {"type": "object"},
        "output": output(),
        "execute": lambda arguments, execution: returns,
        **more,
    }
    return ToolDefinition(name=name, **fields)


def call(
    name: str = "read",
    arguments: Json | None = None,
    *,
    signal: AbortSignal | None = None,
    agent: object | None = None,
) -> ToolCall:
    signal = AbortController().signal if signal is None else signal
    return ToolCall("c1", name, {} if arguments is None else arguments, signal, agent=agent)


class Agent:
    """A scope key with a name, and the owner that registers into its scope."""

    def __init__(self, name: str) -> None:
        self.owner = Owner(name, scope=self)
