"""Which tools a scope sees, and what cannot be registered. Expected: the published reference, 8.2 to 8.4."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tool_builders import Agent, Json, call, output, registry, tool

from dsh_protocol.findings import PromptError, RegistrationError
from dsh_protocol.plugins import PluginHost
from dsh_protocol.prompt import AssembleContext, PromptConfig, PromptService
from dsh_protocol.rules import rule
from dsh_protocol.scopes import Owner
from dsh_protocol.tools import JsonSchemaError, ToolRegistry


def names(tools: ToolRegistry, scope: object | None = None) -> list[str]:
    return [schema["name"] for schema in tools.schemas(scope)]


@pytest.mark.parametrize(
    ("definition", "code", "path"),
    [
        (tool(output=None), "tools/output-missing", ""),
        (tool(output={"schema": {}}), "tools/output-missing", ""),
        (tool(timeout_ms=0), "tools/timeout", "/timeoutMs"),
        (tool(timeout_ms=-1.5), "tools/timeout", "/timeoutMs"),
        (tool(timeout_ms=math.inf), "tools/timeout", "/timeoutMs"),
        (tool(timeout_ms=math.nan), "tools/timeout", "/timeoutMs"),
        (tool("run_code"), "tools/name-reserved", "/name"),
    ],
)
def test_what_cannot_be_registered(definition: Any, code: str, path: str) -> None:
    tools = registry()
    with pytest.raises(RegistrationError) as caught:
        tools.register(definition)
    assert (caught.value.code, caught.value.path) == (code, path)
    assert caught.value.fix == rule(code).remedy
    assert names(tools) == []


def test_an_output_schema_outside_the_subset() -> None:
    schema = {"type": "object", "patternProperties": {}, "required": ["a"]}
    with pytest.raises(JsonSchemaError) as caught:
        registry().register(tool(output=output(schema)))
    assert caught.value.code == "tools/schema-subset"
    assert caught.value.path == "/output/schema"
    assert caught.value.message == (
        "unsupported JSON schema: schema.patternProperties is not a supported keyword "
        "(subset: type/oneOf/properties/required/additionalProperties/items/enum/const"
        ' + annotations); schema.required names "a" which is not in properties'
    )


def test_a_duplicate_says_where_the_first_one_was_registered() -> None:
    tools = registry()
    tools.of(Owner("files")).register(tool())
    with pytest.raises(RegistrationError, match="read") as caught:
        tools.of(Owner("other")).register(tool())
    assert caught.value.code == "tools/duplicate-name"
    assert caught.value.path == "/name"
    first = caught.value.first
    assert first.startswith("owner 'files' at ")
    assert first.rpartition(":")[0].endswith("test_registry.py")
    assert first in str(caught.value)


def test_neither_names_nor_parameters_are_checked() -> None:
    tools = registry()
    tools.register(tool("", parameters={"type": "anything", "x": [None]}))
    assert tools.schemas() == [
        {
            "name": "",
            "description": "The tool .",
            "parameters": {"type": "anything", "x": [None]},
        }
    ]


@pytest.mark.parametrize("parameters", [None, {"default": math.nan}, {1: 2}, {"a": (1,)}])
def test_parameters_that_are_no_json_fail_every_projection(parameters: Any) -> None:
    tools = registry()
    tools.register(tool(parameters={"a": object()} if parameters is None else parameters))
    for project in (tools.schemas, lambda: tools.provider(AssembleContext())):
        with pytest.raises(RegistrationError) as caught:
            project()
        assert caught.value.code == "tools/parameters-lossless"
        assert caught.value.message == (
            'tool "read" parameters must be lossless JSON before schema projection'
        )


def test_change_events_and_disposers() -> None:
    tools = registry()
    heard: list[list[str]] = []
    tools.events.on("tools/change", lambda: heard.append(names(tools)), Owner())
    dispose = tools.register(tool("a"))
    with Owner("plugin") as plugin:
        tools.of(plugin).register(tool("b"))
        tools.of(plugin).guard(lambda _: None)
    dispose()
    dispose()
    assert heard == [["a"], ["a", "b"], ["a"], []]
    with pytest.raises(RegistrationError) as caught:
        tools.of(plugin).register(tool("c"))
    assert caught.value.code == "INACTIVE_EFFECT"


# ---- Scopes and restrictions -----------------------------------------------------------------------


class World:
    """An agent below a preset, and three global tools."""

    def __init__(self) -> None:
        self.tools = registry()
        self.agent, self.preset = Agent("agent"), Agent("preset")
        self.tools.events.scopes.bind(self.agent, self.preset)
        for name in ("bash", "read", "write"):
            self.tools.register(tool(name))

    def seen(self) -> list[str]:
        return names(self.tools, self.agent)

    def restrict(self, who: Agent, **filter: Json) -> Any:
        return self.tools.of(who.owner).restrict(**filter)


def test_a_nearer_tool_takes_the_place_of_a_farther_one() -> None:
    world = World()
    world.tools.of(world.preset.owner).register(tool("bash", description="of the preset"))
    world.tools.of(world.agent.owner).register(tool("own"))
    world.tools.of(world.agent.owner).register(tool("read", description="of the agent"))
    schemas = world.tools.schemas(world.agent)
    assert [(s["name"], s["description"]) for s in schemas] == [
        ("bash", "of the preset"),
        ("read", "of the agent"),
        ("write", "The tool write."),
        ("own", "The tool own."),
    ]
    assert names(world.tools, world.preset) == ["bash", "read", "write"]
    assert names(world.tools) == ["bash", "read", "write"]
    assert names(world.tools, object()) == ["bash", "read", "write"]


def test_restrictions_along_the_chain_add_up() -> None:
    world = World()
    lift = world.restrict(world.preset, deny=["bash"])
    assert world.seen() == ["read", "write"]
    world.restrict(world.agent, allow=["bash", "read"])
    assert world.seen() == ["read"]
    assert world.tools.known_names(world.agent) == ["bash", "read", "write"]
    lift()
    assert world.seen() == ["bash", "read"]
    assert names(world.tools) == ["bash", "read", "write"]


def test_an_empty_allow_hides_everything_inherited_but_nothing_of_ones_own() -> None:
    world = World()
    world.tools.of(world.agent.owner).register(tool("own"))
    world.restrict(world.agent, allow=[])
    assert world.seen() == ["own"]
    assert world.tools.known_names(world.agent) == ["bash", "read", "write", "own"]
    assert world.tools.get("read", world.agent) is None


def test_a_tool_of_the_own_layer_is_visible_whatever_is_restricted() -> None:
    world = World()
    world.restrict(world.agent, deny=["bash"])
    world.tools.of(world.agent.owner).register(tool("bash", description="of the agent"))
    assert world.seen() == ["read", "write", "bash"]


def test_what_is_registered_later() -> None:
    world = World()
    denied = world.restrict(world.agent, deny=["bash"])
    world.tools.register(tool("late"))
    assert world.seen() == ["read", "write", "late"]
    denied()
    world.restrict(world.agent, allow=["bash"])
    world.tools.register(tool("later"))
    assert world.seen() == ["bash"]


def test_the_lists_of_a_restriction_are_copied() -> None:
    world = World()
    denied = ["bash"]
    world.restrict(world.agent, deny=denied)
    denied.append("read")
    assert world.seen() == ["read", "write"]


@pytest.mark.parametrize(
    ("filter", "code", "says"),
    [
        ({}, "tools/restrict-empty", ""),
        ({"allow": ["run_code"]}, "tools/restrict-reserved", "run_code"),
        ({"deny": ["read", "run_code", "nope"]}, "tools/restrict-reserved", "run_code"),
        ({"allow": ["raed"]}, "tools/restrict-unknown", '"raed"'),
        ({"allow": ["b", "read"], "deny": ["a"]}, "tools/restrict-unknown", '"b", "a"'),
        ({"deny": ["own"]}, "tools/restrict-unknown", '"own"'),
    ],
)
def test_restrictions_that_are_refused(filter: Json, code: str, says: str) -> None:
    world = World()
    world.tools.of(world.agent.owner).register(tool("own"))
    with pytest.raises(RegistrationError) as caught:
        world.restrict(world.agent, **filter)
    assert caught.value.code == code
    assert says in caught.value.message
    assert world.seen() == ["bash", "read", "write", "own"]


def test_nothing_is_restricted_for_everybody() -> None:
    with pytest.raises(RegistrationError) as caught:
        World().tools.restrict(deny=["bash"])
    assert caught.value.code == "tools/restrict-scope"


def test_a_tool_that_was_restricted_may_be_restricted_again() -> None:
    world = World()
    world.restrict(world.preset, deny=["bash"])
    world.restrict(world.agent, deny=["bash"])
    assert world.seen() == ["read", "write"]


# ---- The prompt --------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_hidden_tool_in_the_order_is_left_out_and_a_misspelled_one_fails() -> None:
    world = World()
    world.restrict(world.agent, deny=["bash"])
    context = AssembleContext(scope=world.agent, agent=world.agent)

    def service(*order: str) -> PromptService:
        prompt = PromptService(world.tools.events, PromptConfig(tool_order=order))
        prompt.tools(world.tools.provider)
        return prompt

    assembly = await service("write", "bash", "<unlisted-tools>").assemble(context)
    assert [each["name"] for each in assembly.tools] == ["write", "read"]
    with pytest.raises(PromptError) as caught:
        await service("basj", "<unlisted-tools>").assemble(context)
    assert caught.value.message == (
        'toolOrder lists unregistered tool "basj"; known tools: bash, read, write'
    )


@pytest.mark.anyio
async def test_a_plugin_registers_tools_and_takes_them_along_when_it_goes() -> None:
    class Files:
        name = "files"
        inject = ("tools",)

        def apply(self, ctx: Any) -> None:
            ctx.tools.register(tool("read"))
            ctx.tools.guard(lambda _: "not now")

    tools = registry()
    host = PluginHost(tools.events)
    host.provide("tools", tools.of)
    installed = host.install(Files())
    result = (await tools.execute(call())).to_json()
    assert result["error"]["message"] == "not now"
    installed.dispose()
    assert names(tools) == []
    result = (await tools.execute(call())).to_json()
    assert result["error"]["message"] == 'unknown tool "read"'
