"""Mistakes of plugin authors: each error names the contribution, says who made it and what to do."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from dsh_protocol import (
    Events,
    Owner,
    PromptConfig,
    PromptError,
    PromptService,
    RegistrationError,
    render_prompt,
)
from dsh_protocol.prompt import ASSEMBLE

pytestmark = pytest.mark.anyio

HERE = "test_mistakes.py:"


async def text_later(_: object) -> str:
    return "x"


@pytest.mark.parametrize("name", [5, None, b"x"])
@pytest.mark.parametrize("kind", ["section", "context", "variable"])
def test_a_name_that_is_no_text(kind: str, name: Any) -> None:
    service = PromptService()
    register: dict[str, Callable[[], object]] = {
        "section": lambda: service.section(name, order=1, text=""),
        "context": lambda: service.context(name, order=1, text=""),
        "variable": lambda: service.variable(name, lambda _: ""),
    }
    with pytest.raises(RegistrationError, match=f"the name of a prompt {kind}") as refused:
        register[kind]()
    assert refused.value.code == "prompt/name-type"


async def test_what_a_tool_provider_raises_says_who_registered_it() -> None:
    def fail(_: object) -> dict[str, Any]:
        raise KeyError("x")

    service = PromptService()
    service.of(Owner("notes")).tools(fail)
    with pytest.raises(KeyError) as raised:
        await service.assemble()
    (note,) = raised.value.__notes__
    assert note.startswith("raised by the tool provider of owner 'notes' at ")
    assert HERE in note


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        {"schemas": None},
        {"schemas": ["bash"]},
        {"schemas": "bash"},
        {"schemas": [], "knownNames": "bash"},
        {"schemas": [], "knownNames": [5]},
    ],
)
async def test_a_tool_provider_that_gives_no_tools(given: Any) -> None:
    service = PromptService()
    service.of(Owner("notes")).tools(lambda _: given)
    with pytest.raises(PromptError) as refused:
        await service.assemble()
    assert refused.value.code == "prompt/tools-result"
    assert "owner 'notes' at " in refused.value.fix
    assert HERE in refused.value.fix


async def test_asynchronous_providers() -> None:
    later: Any = text_later
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        service = PromptService()
        remove = service.section("mine", order=1, text=later)
        assembly = await service.assemble()
        with pytest.raises(PromptError, match='section "mine"') as refused:
            render_prompt(assembly)
        assert refused.value.code == "prompt/text-type"
        assert "no coroutine" in refused.value.fix
        remove()
        service.tools(later)
        with pytest.raises(PromptError, match="coroutine instead of an object") as refused:
            await service.assemble()
        assert refused.value.code == "prompt/tools-result"


async def test_a_listener_without_a_result_is_named_although_another_one_is_around_it() -> None:
    async def forgets(_assembly: object, _context: object, further: Any) -> None:
        await further()

    async def outer(_assembly: object, _context: object, further: Any) -> Any:
        assembly = await further()
        assembly.sections.clear()
        return assembly

    events = Events()
    service = PromptService(events)
    events.on(ASSEMBLE, outer, Owner("outer"))
    events.on(ASSEMBLE, forgets, Owner("inner"))
    with pytest.raises(PromptError, match="NoneType") as refused:
        await service.assemble()
    assert refused.value.code == "prompt/listener-result"
    assert "forgets" in refused.value.fix


async def test_a_listener_may_return_the_rest_without_awaiting_it() -> None:
    async def hands_on(_assembly: object, _context: object, further: Any) -> Any:
        return further()

    async def marks(_assembly: object, _context: object, further: Any) -> Any:
        assembly = await further()
        assembly.extensions["seen"] = True
        return assembly

    events = Events()
    service = PromptService(events)
    for listener in (marks, hands_on, hands_on):
        events.on(ASSEMBLE, listener, Owner("plugin"))
    assert (await service.assemble()).extensions == {"seen": True}


async def test_an_order_of_tools_may_be_a_list() -> None:
    order = ["b", "<unlisted-tools>"]
    config = PromptConfig(tool_order=order)
    service = PromptService(config=config)
    order.clear()
    service.tools(lambda _: {"schemas": [{"name": name} for name in ("a", "b")]})
    assert [tool["name"] for tool in (await service.assemble()).tools] == ["b", "a"]
    with pytest.raises(RegistrationError):
        PromptConfig(tool_order="<unlisted-tools>")
