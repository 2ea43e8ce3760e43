"""Plugins: when they start and stop, and what goes with them (the convention of seed 004, section 5.7)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dsh_protocol.findings import RegistrationError
from dsh_protocol.plugins import MissingServiceError, Plugin, PluginContext, PluginHost
from dsh_protocol.prompt import AssembleContext, PromptService
from dsh_protocol.tools import ToolRegistry
from dsh_protocol.tools.function import tool


def plugin(apply: Callable[[Any], object], *inject: str, name: str = "mine") -> Plugin:
    return SimpleNamespace(name=name, inject=inject, apply=apply)


def host_with_prompt() -> tuple[PluginHost, PromptService]:
    host = PluginHost()
    service = PromptService(host.events)
    host.provide("system_prompt", service.of)
    return host, service


def names(service: PromptService, scope: object | None = None) -> list[str]:
    sections = asyncio.run(service.assemble(AssembleContext(scope=scope))).sections
    return [section.name for section in sections][3:]


def section(name: str) -> Callable[[Any], object]:
    return lambda ctx: ctx.system_prompt.section(name, order=20000, text="")


def test_what_a_plugin_registers_goes_with_it() -> None:
    host, service = host_with_prompt()
    one = host.install(plugin(section("one"), "system_prompt"))
    host.install(plugin(section("two"), "system_prompt"))
    assert names(service) == ["one", "two"]
    one.dispose()
    one.dispose()
    assert (names(service), one.state) == (["two"], "disposed")
    host.dispose()
    assert names(service) == []


def test_a_module_is_a_plugin() -> None:
    host, service = host_with_prompt()
    module = ModuleType("my_guidelines")
    code = """
name = "my-guidelines"
inject = ["system_prompt"]

def apply(ctx):
    ctx.system_prompt.section("my-plugin:guidelines", order=20000, text="")
"""
    exec(code, module.__dict__)
    installed = host.install(module)
    assert (installed.name, names(service)) == ("my-guidelines", ["my-plugin:guidelines"])


def test_a_plugin_waits_for_its_services_and_stops_with_them() -> None:
    with PluginHost() as host:
        service, started = PromptService(host.events), list[str]()

        def apply(ctx: PluginContext) -> None:
            started.append(ctx.other)
            ctx.system_prompt.section("s", order=20000, text="")

        waiting = host.install(plugin(apply, "system_prompt", "other"))
        assert (waiting.state, waiting.missing) == ("waiting", ["system_prompt", "other"])
        host.provide("system_prompt", service.of)
        assert (waiting.state, waiting.missing, started) == ("waiting", ["other"], [])
        withdraw = host.provide("other", lambda owner: owner.name)
        assert (waiting.state, started, names(service)) == ("active", ["mine"], ["s"])
        withdraw()
        assert (waiting.state, names(service)) == ("waiting", [])
        host.provide("other", lambda owner: "again")
        assert (started, names(service)) == (["mine", "again"], ["s"])


def test_a_plugin_can_provide_what_another_waits_for() -> None:
    host, service = host_with_prompt()
    host.install(plugin(section("user"), "system_prompt", "extra", name="user"))
    assert names(service) == []
    provider = host.install(plugin(lambda ctx: ctx.provide("extra", lambda _: 1), name="provider"))
    assert names(service) == ["user"]
    provider.dispose()
    assert names(service) == []


def test_a_plugin_that_fails_leaves_nothing_behind() -> None:
    host, service = host_with_prompt()

    def apply(ctx: PluginContext) -> None:
        ctx.system_prompt.section("s", order=20000, text="")
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        host.install(plugin(apply, "system_prompt"))
    assert names(service) == []
    host.install(plugin(section("s"), "system_prompt"))
    assert names(service) == ["s"]


def test_a_plugin_that_fails_later_is_reported_and_the_others_start() -> None:
    failures: list[tuple[str, str]] = []
    host = PluginHost(report_failure=lambda name, error: failures.append((name, str(error))))
    calls: list[str] = []

    def fail(ctx: PluginContext) -> None:
        calls.append(ctx.owner.name)
        raise ValueError(ctx.owner.name)

    installed = [host.install(plugin(fail, "service", name=name)) for name in ("a", "b")]
    host.install(plugin(lambda ctx: calls.append(ctx.owner.name), "service", name="c"))
    withdraw = host.provide("service", lambda _: 1)
    assert failures == [("a", "a"), ("b", "b")]
    assert [each.state for each in installed] == ["failed", "failed"]
    host.provide("another", lambda _: 1)  # no reason to try again
    assert calls == ["a", "b", "c"]
    withdraw()
    assert [each.state for each in installed] == ["waiting", "waiting"]


def test_failures_go_to_the_log_of_the_process(caplog: pytest.LogCaptureFixture) -> None:
    host = PluginHost()
    host.install(plugin(lambda _: [][0], "service"))
    host.provide("service", lambda _: 1)
    assert [record.getMessage() for record in caplog.records] == ["plugin 'mine' failed"]


def test_names_that_collide_say_which_plugin_was_first() -> None:
    host, _ = host_with_prompt()
    host.install(plugin(section("s"), "system_prompt", name="first"))
    with pytest.raises(RegistrationError) as error:
        host.install(plugin(section("s"), "system_prompt", name="second"))
    assert error.value.code == "prompt/duplicate-name"
    assert error.value.first.startswith(f"owner 'first' at {__file__}:")


def test_a_service_that_is_not_injected() -> None:
    host, _ = host_with_prompt()
    with pytest.raises(MissingServiceError, match="system_prompt") as error:
        host.install(plugin(section("s")))
    assert error.value.code == "plugins/not-injected"
    assert '"system_prompt"' in error.value.fix
    assert isinstance(error.value, AttributeError)


def test_a_context_of_a_plugin_that_has_stopped() -> None:
    host, _ = host_with_prompt()
    kept: list[PluginContext] = []
    host.install(plugin(kept.append, "system_prompt")).dispose()
    (ctx,) = kept
    with pytest.raises(MissingServiceError) as error:
        _ = ctx.system_prompt
    assert error.value.code == "INACTIVE_EFFECT"
    for attempt in (
        lambda: ctx.effect(lambda: None),
        lambda: ctx.on("e", lambda: None),
        lambda: ctx.install(plugin(lambda _: None)),
        lambda: ctx.provide("x", lambda _: 1),
        lambda: ctx.scoped(object()),
    ):
        with pytest.raises(RegistrationError) as refused:
            attempt()
        assert refused.value.code == "INACTIVE_EFFECT"


def test_two_services_of_one_name() -> None:
    host, _ = host_with_prompt()
    with pytest.raises(RegistrationError) as error:
        host.provide("system_prompt", lambda _: 1)
    assert error.value.code == "plugins/duplicate-service"
    assert __file__ in error.value.first


@pytest.mark.parametrize(
    "thing", [object(), SimpleNamespace(name="x"), SimpleNamespace(apply=print)]
)
def test_what_is_no_plugin(thing: Any) -> None:
    with pytest.raises(RegistrationError) as error:
        PluginHost().install(thing)
    assert error.value.code == "plugins/not-a-plugin"


def test_apply_is_a_plain_function() -> None:
    async def apply(_: PluginContext) -> None: ...

    with pytest.raises(RegistrationError) as error:
        PluginHost().install(plugin(apply))
    assert error.value.code == "plugins/async-apply"


def test_the_other_things_a_plugin_does() -> None:
    host, service = host_with_prompt()
    seen: list[str] = []
    agent = object()

    def apply(ctx: PluginContext) -> None:
        ctx.effect(lambda: seen.append("undone"))
        ctx.on("hello", lambda: seen.append("hello"))
        ctx.scoped(agent).system_prompt.section("near", order=20000, text="")
        ctx.install(plugin(section("inner"), "system_prompt", name="inner"))

    installed = host.install(plugin(apply, "system_prompt"))
    host.events.emit("hello")
    assert (names(service), names(service, agent)) == (["inner"], ["inner", "near"])
    installed.dispose()
    host.events.emit("hello")
    assert (names(service, agent), seen) == ([], ["hello", "undone"])


def test_a_tool_of_a_plugin_reaches_the_prompt_with_what_the_model_may_see() -> None:
    host, service = host_with_prompt()
    registry = ToolRegistry(host.events)
    host.provide("tools", registry.of)
    service.tools(registry.provider)

    def apply(ctx: PluginContext) -> None:
        def look_up(term: str) -> str:
            """Look up a term."""
            return term

        ctx.tools.register(tool(look_up))
        ctx.system_prompt.section("mine:look_up", order=20000, text="Look words up.")

    installed = host.install(plugin(apply, "system_prompt", "tools"))
    (schema,) = asyncio.run(service.assemble()).tools
    assert list(schema) == ["name", "description", "parameters"]
    assert (schema["name"], schema["description"]) == ("look_up", "Look up a term.")
    installed.dispose()
    assert asyncio.run(service.assemble()).tools == []


@pytest.mark.parametrize("inject", ["system_prompt", None, 5])
def test_inject_is_a_list(inject: Any) -> None:
    host, _ = host_with_prompt()
    given = SimpleNamespace(name="mine", inject=inject, apply=section("one"))
    with pytest.raises(RegistrationError, match="no list of names") as refused:
        host.install(given)
    assert refused.value.code == "plugins/not-a-plugin"
    assert host.install(plugin(section("one"), "system_prompt")).state == "active"


def test_a_misspelled_service_is_told_the_names_there_are() -> None:
    host, _ = host_with_prompt()
    with pytest.raises(MissingServiceError) as refused:
        host.install(plugin(lambda ctx: ctx.systemPrompt, "system_prompt"))
    assert refused.value.fix == "There is no such service so far, but these: system_prompt."


def test_no_key_is_no_scope() -> None:
    host, service = host_with_prompt()
    given = plugin(lambda ctx: section("one")(ctx.scoped(None)), "system_prompt")
    with pytest.raises(RegistrationError, match="scope of nothing") as refused:
        host.install(given)
    assert refused.value.code == "plugins/no-scope"
    assert names(service) == []


def test_what_apply_raises_says_which_plugin() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        PluginHost().install(plugin(lambda _: 1 / 0, name="divider"))
    assert raised.value.__notes__ == ["raised when plugin 'divider' was started"]
