"""What can be registered, by whom, and how it goes.

Expected values: sections 1 and 2 of the reference, asked of the official library.
"""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from dsh_protocol.findings import PromptError, RegistrationError, UsageError
from dsh_protocol.prompt import (
    CHANGE,
    AssembleContext,
    PromptAssembly,
    PromptConfig,
    PromptService,
    context_order,
    register_persona,
    section_order,
)
from dsh_protocol.scopes import Events, Owner

IDENTITY = "You are an AI agent powered by DeepSeek Harness."


def assemble(service: PromptService, scope: object | None = None) -> PromptAssembly:
    return asyncio.run(service.assemble(AssembleContext(scope=scope)))


def texts(service: PromptService, scope: object | None = None) -> dict[str, str]:
    return {section.name: section.text for section in assemble(service, scope).sections}


# ---- The service ----------------------------------------------------------------------------------------------------


def test_what_a_service_registers_by_itself() -> None:
    assembly = assemble(PromptService())
    assert [(s.name, s.text) for s in assembly.sections] == [
        ("harness:identity", IDENTITY),
        ("deployment:persona-prefix", ""),
        ("deployment:persona-suffix", ""),
    ]
    assert (assembly.contexts, assembly.tools, assembly.variables) == ([], [], {})


def test_configured() -> None:
    config = PromptConfig.from_json(
        {
            "includeHarnessIdentity": False,
            "includeRuntimeContext": False,
            "personaPrefix": "before",
            "personaSuffix": "after",
            "toolOrder": ["b", "<unlisted-tools>"],
            "unknown": 1,
        }
    )
    service = PromptService(config=config)
    service.context("c", order=1, text="gone")
    service.tools(lambda _: {"schemas": [{"name": "a"}, {"name": "b"}]})
    assembly = assemble(service)
    assert [s.text for s in assembly.sections] == ["before", "after"]
    assert assembly.contexts == []
    assert [tool["name"] for tool in assembly.tools] == ["b", "a"]


def test_null_stands_for_the_default() -> None:
    names = ["includeHarnessIdentity", "includeRuntimeContext", "personaPrefix", "personaSuffix"]
    assert PromptConfig.from_json(dict.fromkeys(names)) == PromptConfig()


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"personaPrefix": 5}, "/personaPrefix"),
        ({"personaSuffix": ["x"]}, "/personaSuffix"),
        ({"includeHarnessIdentity": "x"}, "/includeHarnessIdentity"),
        ({"includeRuntimeContext": 1}, "/includeRuntimeContext"),
        ({"toolOrder": None}, "/toolOrder"),
        ({"toolOrder": "x"}, "/toolOrder"),
        ({"toolOrder": [1]}, "/toolOrder/0"),
    ],
)
def test_settings_of_another_type(settings: dict[str, Any], path: str) -> None:
    with pytest.raises(RegistrationError) as error:
        PromptConfig.from_json(settings)
    assert (error.value.code, error.value.path) == ("prompt/config", path)


@pytest.mark.parametrize(
    ("order", "path", "message"),
    [
        (["a", "a"], "/toolOrder/1", 'toolOrder lists "a" more than once'),
        (
            ["<unlisted-tools>", "a", "<unlisted-tools>"],
            "/toolOrder/2",
            'toolOrder lists "<unlisted-tools>" more than once',
        ),
        *(
            (
                order,
                "/toolOrder",
                'toolOrder must contain the "<unlisted-tools>" rest entry '
                "(where unlisted tools are inserted)",
            )
            for order in ([], ["a"])
        ),
    ],
)
def test_no_order_of_tools(order: list[str], path: str, message: str) -> None:
    with pytest.raises(PromptError) as error:
        PromptService(config=PromptConfig(tool_order=tuple(order)))
    assert (error.value.path, error.value.message) == (path, message)


# ---- Refused registrations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["1", None, math.nan, math.inf, -math.inf, True, 10**400])
@pytest.mark.parametrize("kind", ["section", "context"])
def test_an_order_that_is_no_finite_number(kind: str, order: Any) -> None:
    service = PromptService()
    with pytest.raises(RegistrationError, match=f'prompt {kind} "n"') as error:
        getattr(service, kind)("n", order=order, text="x")
    assert (error.value.code, error.value.path) == ("prompt/order-finite", "/order")
    assert "n" not in texts(service)


@pytest.mark.parametrize("name", ["A", "1a", "", "a\n", "é", "a-b", "aé", "_a"])
def test_names_that_variables_cannot_have(name: str) -> None:
    with pytest.raises(RegistrationError) as error:
        PromptService().variable(name, lambda _: "")
    assert (error.value.code, error.value.path) == ("prompt/variable-name", "/name")


def add(contributor: Any, kind: str, name: str, text: str) -> Any:
    if kind == "variable":
        return contributor.variable(name, lambda _: text)
    return getattr(contributor, kind)(name, order=1, text=text)


@pytest.mark.parametrize("kind", ["section", "context", "variable"])
@pytest.mark.parametrize("scope", [None, object()])
def test_a_duplicate_says_where_the_first_one_is(kind: str, scope: object | None) -> None:
    service = PromptService()
    first, second = Owner("first plugin", scope=scope), Owner("second plugin", scope=scope)
    add(service.of(first), kind, "n", "1")
    with pytest.raises(RegistrationError) as error:
        add(service.of(second), kind, "n", "2")
    assert (error.value.code, error.value.path) == ("prompt/duplicate-name", "/name")
    assert f'prompt {kind} "n"' in error.value.message
    assert error.value.first.startswith("owner 'first plugin' at ")
    assert __file__ in error.value.first
    assert "first registered by owner 'first plugin' at " in str(error.value)


def test_layers_and_kinds_do_not_collide() -> None:
    service, scope = PromptService(), object()
    for kind in ("section", "context", "variable"):
        add(service, kind, "n", "1")
        add(service.of(Owner(scope=scope)), kind, "n", "2")
        add(service.of(Owner(scope=object())), kind, "n", "3")
    assert texts(service)["n"] == "1"
    assert texts(service, scope)["n"] == "2"


def test_the_empty_name_is_a_name() -> None:
    service = PromptService()
    service.section("", order=1, text="x")
    assert texts(service)[""] == "x"
    with pytest.raises(RegistrationError):
        service.section("", order=2, text="y")


# ---- Owners and disposers -------------------------------------------------------------------------------------------


def test_everything_goes_with_its_owner() -> None:
    service, scope = PromptService(), object()
    before = assemble(service, scope)
    with Owner("plugin", scope=scope) as owner:
        mine = service.of(owner)
        mine.section("s", order=1, text="s")
        mine.context("c", order=1, text="c")
        mine.variable("v", lambda _: "v")
        mine.tools(lambda _: {"schemas": [{"name": "t"}]})
        mine.suppress_runtime_context()
        assembly = assemble(service, scope)
        assert (assembly.variables, [t["name"] for t in assembly.tools]) == ({"v": "v"}, ["t"])
    assert assemble(service, scope) == before
    with pytest.raises(RegistrationError) as error:
        mine.section("s", order=1, text="s")
    assert error.value.code == "INACTIVE_EFFECT"


def test_a_disposer_undoes_its_own_registration_once() -> None:
    service = PromptService()
    dispose = service.section("s", order=1, text="1")
    dispose()
    service.section("s", order=1, text="2")
    dispose()
    assert texts(service)["s"] == "2"


def test_the_same_provider_twice_contributes_twice() -> None:
    service = PromptService()

    def provider(_: AssembleContext) -> Any:
        return {"schemas": [{"name": "t"}]}

    first = service.tools(provider)
    service.tools(provider)
    assert len(assemble(service).tools) == 2
    first()
    first()
    assert len(assemble(service).tools) == 1


def test_registrations_and_disposals_are_told() -> None:
    events, seen = Events(), list[str]()
    service = PromptService(events)
    events.on(CHANGE, lambda: seen.append("change"), Owner())
    dispose = service.variable("v", lambda _: "")
    owner = Owner(scope=object())
    service.of(owner).suppress_runtime_context()
    assert len(seen) == 2
    dispose()
    dispose()
    owner.dispose()
    assert len(seen) == 4
    with pytest.raises(RegistrationError):
        service.variable("V", lambda _: "")
    assert len(seen) == 4


def test_a_failing_change_listener_rolls_back_and_its_last_error_arrives() -> None:
    events, count = Events(), [0]
    service = PromptService(events)

    def fail() -> None:
        count[0] += 1
        raise ValueError(f"n{count[0]}")

    listener = events.on(CHANGE, fail, Owner())
    with pytest.raises(ValueError, match="n2"):  # as the official library: the one of the rollback
        service.section("s", order=1, text="x")
    assert "s" not in texts(service)
    listener()
    service.section("s", order=1, text="x")


# ---- Places and personas --------------------------------------------------------------------------------------------


def test_places_of_released_contributions() -> None:
    assert section_order("HARNESS_IDENTITY") == -1000
    assert section_order("TOOL_LSP") == 2200
    assert section_order("DEPLOYMENT_PERSONA_SUFFIX") == 10200
    assert context_order("WORKING_DIRECTORY") == 100
    assert context_order("WEB_SURFACE") == 210
    for order in (section_order, context_order):
        with pytest.raises(UsageError) as error:
            order("NOPE")
        assert error.value.code == "prompt/unknown-order"


def test_a_persona_shadows_the_one_of_the_deployment() -> None:
    service, scope = (
        PromptService(config=PromptConfig(persona_prefix="p", persona_suffix="s")),
        object(),
    )
    service.context("c", order=1, text="c")
    mine = service.of(Owner(scope=scope))
    dispose = register_persona(mine, prefix="mine", include_runtime_context=False)
    assembly = assemble(service, scope)
    assert [s.text for s in assembly.sections] == [IDENTITY, "mine", ""]
    assert assembly.contexts == []
    assert list(texts(service).values()) == [IDENTITY, "p", "s"]
    dispose()
    assert list(texts(service, scope).values()) == [IDENTITY, "p", "s"]
    register_persona(mine, prefix="only", suffix="x", complete=True)
    assert list(texts(service, scope).values()) == ["only"]


def test_a_persona_for_everybody_collides_with_the_deployment() -> None:
    service = PromptService()
    with pytest.raises(RegistrationError) as error:
        register_persona(service, prefix="mine")
    assert error.value.code == "prompt/duplicate-name"
