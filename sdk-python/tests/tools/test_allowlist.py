"""What the model sees of a tool is an explicit list; a private field of a definition reaches no header, no wire and no log."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from sessions import begin, new_session, stored
from tool_builders import call, output, registry

from dsh_protocol.jsonvalue import dumps
from dsh_protocol.prompt import AssembleContext, PromptService
from dsh_protocol.tools import ToolDefinition, ToolRegistry
from dsh_protocol.wire import serialize

SECRET = "s3cret-token"
PARAMETERS = {"type": "object", "b": 1, "properties": {"x": {"type": "string"}, "10": {}}}
SEEN = {"name": "read", "description": "Reads.", "parameters": PARAMETERS, "deferLoading": True}


@dataclass(eq=False)
class PrivateTool(ToolDefinition):
    api_key: str = ""


def private(**more: Any) -> ToolDefinition:
    definition = PrivateTool(
        name="read",
        description="Reads.",
        parameters=PARAMETERS,
        output=output(),
        execute=lambda arguments, execution: "done",
        api_key=SECRET,
        **more,
    )
    definition.also = {"token": SECRET}  # type: ignore[attr-defined]
    return definition


def tools_of_a_prompt(tools: ToolRegistry) -> list[dict[str, Any]]:
    prompt = PromptService(tools.events)
    prompt.tools(tools.provider)
    return anyio.run(prompt.assemble, AssembleContext()).tools


def test_the_projection_has_exactly_four_members_in_order() -> None:
    tools = registry()
    tools.register(private(defer_loading=True, timeout_ms=5, present_call=lambda _: SECRET))
    for schemas in (tools.schemas(), tools_of_a_prompt(tools)):
        # Members with a number as their name come first, as they do in JavaScript.
        expected = json.dumps(
            SEEN | {"parameters": {**PARAMETERS, "properties": {"10": {}, "x": {"type": "string"}}}}
        )
        assert [json.dumps(schema) for schema in schemas] == [expected]


@pytest.mark.parametrize("defer", [False, None, 1, "yes"])
def test_only_true_defers_loading(defer: Any) -> None:
    assert set(private(defer_loading=defer).model_schema()) == {"name", "description", "parameters"}


def test_what_the_model_sees_is_a_copy() -> None:
    tools = registry()
    tools.register(private())
    tools.schemas()[0]["parameters"]["properties"].clear()
    assert tools.schemas()[0]["parameters"]["properties"] == PARAMETERS["properties"]


@pytest.mark.parametrize("wire", ["deepseek-messages", "deepseek-chat"])
def test_a_private_field_reaches_neither_header_nor_wire_nor_log(
    wire: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    tools = registry()
    tools.register(private())
    session = new_session()
    begin(session)
    header: Any = {"config": {"provider": "p", "model": "m"}, "tools": tools_of_a_prompt(tools)}
    session.append("request/header", {"header": header, "reason": "change"})

    options = {
        "provider": "p",
        "model": "m",
        "messages": list(session.messages()),
        "tools": header["tools"],
    }
    body = serialize(wire, options, {})

    session.append_message(
        session.make.assistant_message(
            [{"type": "tool-call", "id": "c1", "name": "read", "arguments": "{}"}],
            provider="p",
            model="m",
        )
    )
    started = {"turn": 1, "step": 1, "callId": "c1", "name": "read", "arguments": "{}"}
    session.append("tool/call", started)
    result = anyio.run(tools.execute, call())
    session.append_message(session.make.tool_result("c1", [*result.content]))

    logged = stored(session).decode()
    for written in (dumps(header), dumps(body), logged, dumps(result.to_json()), caplog.text):
        assert SECRET not in written
    assert "Reads." in dumps(body)
    assert "Reads." in logged
    assert SECRET not in "".join(capsys.readouterr())
