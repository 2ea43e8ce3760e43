"""One assembly, step by step. Expected values: sections 3, 4, 7 and 11 of the reference, asked of the official library."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from dsh_protocol.abort import AbortController
from dsh_protocol.findings import PromptError
from dsh_protocol.prompt import (
    ASSEMBLE,
    AssembleContext,
    PromptAssembly,
    PromptConfig,
    PromptService,
    PromptText,
    assemble_context_for,
    render_prompt,
)
from dsh_protocol.scopes import Disposer, Events, Next, Owner


class Key:
    """A scope key."""


def make(**config: Any) -> PromptService:
    """A service whose two persona sections are its only own ones."""
    return PromptService(Events(), PromptConfig(include_harness_identity=False, **config))


def assemble(service: PromptService, scope: object | None = None) -> PromptAssembly:
    return asyncio.run(service.assemble(AssembleContext(scope=scope)))


def noted(seen: list[Any], what: object, value: Any) -> Any:
    """The value, with `what` written down."""
    seen.append(what)
    return value


def names(entries: list[PromptText]) -> list[str]:
    return [entry.name for entry in entries if not entry.name.startswith("deployment:")]


def pairs(entries: list[PromptText]) -> list[tuple[str, str]]:
    return [(e.name, e.text) for e in entries if not e.name.startswith("deployment:")]


def tools(*tool_names: str, known: list[str] | None = None) -> Any:
    result: dict[str, Any] = {"schemas": [{"name": name} for name in tool_names]}
    if known is not None:
        result["knownNames"] = known
    return lambda _: result


# ---- Order ----------------------------------------------------------------------------------------------------------


def test_sections_go_by_order_then_by_code_units_of_the_name() -> None:
    service = make()
    for name, order in [
        *(("\ufffd", 5), ("\U0001f600", 5), ("b", 5), ("B", 5), ("a", 5.5), ("c", -1), ("d", -0.0)),
        ("e", 2**53 + 1),
    ]:
        service.section(name, order=order, text="")
    assert names(assemble(service).sections) == [
        "c",
        "d",
        "B",
        "b",
        "\U0001f600",
        "\ufffd",
        "a",
        "e",
    ]


def test_contexts_of_one_order_keep_the_order_of_their_first_names() -> None:
    service, agent = make(), Key()
    near = service.of(Owner(scope=agent))
    near.context("z", order=1, text="z near")
    near.context("b", order=1, text="b near")
    service.context("b", order=1, text="b")
    service.context("a", order=1, text="a")
    service.context("first", order=0, text="0")
    assert pairs(assemble(service, agent).contexts) == [
        ("first", "0"),
        ("b", "b near"),
        ("a", "a"),
        ("z", "z near"),
    ]


def test_interpolate_is_there_where_it_was_set() -> None:
    service = make()
    service.section("a", order=1, text="", interpolate=False)
    service.section("b", order=2, text="", interpolate=True)
    service.section("c", order=3, text="")
    shown = [section.to_json() for section in assemble(service).sections[1:-1]]
    assert [entry.get("interpolate") for entry in shown] == [False, True, None]
    assert "interpolate" not in shown[2]


# ---- Scopes ---------------------------------------------------------------------------------------------------------


def test_the_nearest_entry_of_a_name_wins_whole_and_others_are_not_evaluated() -> None:
    service, agent, preset = make(), Key(), Key()
    service.events.scopes.bind(agent, preset)

    def fail(_: AssembleContext) -> str:
        raise AssertionError("shadowed")

    service.section("n", order=1, text=fail, complete=True)
    service.of(Owner(scope=preset)).section("n", order=1, text=fail, interpolate=False)
    service.of(Owner(scope=agent)).section("n", order=20000, text="near")
    sections = assemble(service, agent).sections
    assert sections[-1] == PromptText("n", "near")
    assert len(sections) == 3


def test_variables_of_all_layers_are_evaluated_in_the_order_of_first_names() -> None:
    service, agent, preset = make(), Key(), Key()
    service.events.scopes.bind(agent, preset)
    seen: list[str] = []

    def value(label: str) -> Any:
        return lambda _: noted(seen, label, label)

    service.of(Owner(scope=agent)).variable("a", value("agent"))
    service.of(Owner(scope=preset)).variable("b", value("preset"))
    service.variable("a", value("global"))
    service.variable("none", lambda _: None)
    assembly = assemble(service, agent)
    assert seen == ["global", "preset", "agent"]
    assert list(assembly.variables.items()) == [("a", "agent"), ("none", None), ("b", "preset")]
    assert assemble(service).variables == {"a": "global", "none": None}


def test_a_failing_shadowed_variable_still_fails() -> None:
    service, agent = make(), Key()

    def fail(_: AssembleContext) -> str:
        raise ValueError("mine")

    service.variable("a", fail)
    service.of(Owner(scope=agent)).variable("a", lambda _: "1")
    with pytest.raises(ValueError, match="mine"):
        assemble(service, agent)


def test_tool_providers_of_all_layers_contribute() -> None:
    service, agent, preset = make(), Key(), Key()
    service.events.scopes.bind(agent, preset)
    service.of(Owner(scope=agent)).tools(lambda _: {"schemas": [{"name": "t", "description": "3"}]})
    service.of(Owner(scope=preset)).tools(
        lambda _: {"schemas": [{"name": "t", "description": "2"}]}
    )
    service.tools(lambda _: {"schemas": [{"name": "t", "description": "1"}]})
    assert [tool["description"] for tool in assemble(service, agent).tools] == ["1", "2", "3"]
    assert len(assemble(service).tools) == 1


@pytest.mark.parametrize("place", ["global", "preset", "agent", "other"])
def test_runtime_context_is_suppressed_by_any_layer_of_the_chain(place: str) -> None:
    service, agent, preset = make(), Key(), Key()
    service.events.scopes.bind(agent, preset)

    def fail(_: AssembleContext) -> str:
        raise AssertionError("suppressed")

    scope = {"global": None, "preset": preset, "agent": agent, "other": Key()}[place]
    dispose = service.of(Owner(scope=scope)).suppress_runtime_context()
    service.context("must", order=2, text="must", required=True)
    service.context("may", order=1, text="may" if place == "other" else fail)
    expected = ["may", "must"] if place == "other" else ["must"]
    assert names(assemble(service, agent).contexts) == expected
    dispose()
    if place == "other":
        assert names(assemble(service).contexts) == ["may", "must"]


def test_the_context_reaches_providers_and_listeners_as_it_is() -> None:
    service, agent, seen = make(), Key(), list[object]()
    context = AssembleContext(
        scope=agent, signal=AbortController().signal, agent=agent, extensions={"k": 1}
    )
    service.variable("v", lambda given: noted(seen, given, None))
    service.section("s", order=1, text=lambda given: noted(seen, given, ""))
    service.context("c", order=1, text=lambda given: noted(seen, given, ""))
    service.tools(lambda given: noted(seen, given, {"schemas": []}))
    service.events.on(ASSEMBLE, lambda value, given, _: noted(seen, given, value), Owner())
    asyncio.run(service.assemble(context))
    assert len(seen) == 5
    assert all(given is context for given in seen)


def test_the_context_for_an_agent() -> None:
    agent = Key()
    signal = AbortController().signal
    context = assemble_context_for(agent, signal)
    assert context.scope is context.agent is agent
    assert context.signal is signal
    assert assemble_context_for(agent).signal is None


def test_an_aborted_signal_changes_nothing() -> None:
    controller = AbortController()
    controller.abort({"kind": "user"})
    context = AssembleContext(signal=controller.signal)
    assert len(asyncio.run(make().assemble(context)).sections) == 2


# ---- Tools ----------------------------------------------------------------------------------------------------------


def test_only_allowed_members_of_a_schema_are_kept_and_parameters_are_copied() -> None:
    service = make()
    parameters = {"type": "object", "x": [{"b": 1, "a": 2}], "$y": None}
    schema = {
        "secret": "s",
        "parameters": parameters,
        "execute": print,
        "description": "d",
        "name": "t",
        "deferLoading": True,
    }
    service.tools(lambda _: {"schemas": [schema, {**schema, "name": "u", "deferLoading": 1}]})
    first, second = assemble(service).tools
    assert list(first.items()) == [
        ("name", "t"),
        ("description", "d"),
        ("parameters", parameters),
        ("deferLoading", True),
    ]
    assert list(first["parameters"]["x"][0]) == ["b", "a"]
    assert "deferLoading" not in second
    first["parameters"]["x"][0]["b"] = 5
    assert parameters["x"] == [{"b": 1, "a": 2}]


def test_parameters_that_are_no_json_are_refused() -> None:
    service = make()
    service.tools(lambda _: {"schemas": [{"name": "t", "parameters": {"default": print}}]})
    with pytest.raises(PromptError, match='"t"') as error:
        assemble(service)
    assert error.value.code == "tools/parameters-lossless"


def test_tools_are_sorted_by_code_units_and_duplicates_stay() -> None:
    service = make()
    service.tools(
        lambda _: {"schemas": [{"name": n, "description": str(i)} for i, n in enumerate("bAab")]}
    )
    found = [(tool["name"], tool["description"]) for tool in assemble(service).tools]
    assert found == [("A", "1"), ("a", "2"), ("b", "0"), ("b", "3")]


@pytest.mark.parametrize(
    ("order", "visible", "known", "expected"),
    [
        (["b", "<unlisted-tools>"], "abcb", None, "bbac"),
        (["<unlisted-tools>", "b"], "abca", "abc", "aacb"),
        (["a", "<unlisted-tools>"], "b", "ab", "b"),
        (["<unlisted-tools>"], "", None, ""),
    ],
)
def test_a_configured_order(
    order: list[str], visible: str, known: str | None, expected: str
) -> None:
    service = make(tool_order=tuple(order))
    service.tools(tools(*visible, known=None if known is None else list(known)))
    assert "".join(tool["name"] for tool in assemble(service).tools) == expected


@pytest.mark.parametrize(
    ("order", "visible", "known", "message"),
    [
        (["basj"], ["read"], ["read", "bash"], 'tool "basj"; known tools: bash, read'),
        (["q", "z"], ["a"], None, 'tools "q", "z"; known tools: a'),
        (["q"], [], None, 'tool "q"; known tools: (none)'),
        (["a"], ["a"], ["b"], 'tool "a"; known tools: b'),
        (
            ["x"],
            ["a"],
            ["\U0001f600", "\ufffd", "Z"],
            'tool "x"; known tools: Z, \U0001f600, \ufffd',
        ),
    ],
)
def test_an_order_with_names_that_nobody_knows(
    order: list[str], visible: list[str], known: list[str] | None, message: str
) -> None:
    service = make(tool_order=(*order, "<unlisted-tools>"))
    service.tools(tools(*visible, known=known))
    with pytest.raises(PromptError) as error:
        assemble(service)
    assert error.value.code == "prompt/tool-order-unknown"
    assert error.value.message == f"toolOrder lists unregistered {message}"


@pytest.mark.parametrize("order", [None, ("<unlisted-tools>",)])
def test_the_name_of_the_rest_is_reserved(order: tuple[str, ...] | None) -> None:
    service = make(tool_order=order)
    service.tools(tools("<unlisted-tools>"))
    with pytest.raises(PromptError) as error:
        assemble(service)
    assert error.value.message == (
        'tool provider returned reserved tool name "<unlisted-tools>" '
        "(reserved for toolOrder's rest entry)"
    )


# ---- The complete section -------------------------------------------------------------------------------------------


def test_two_complete_sections_fail_before_any_text_is_asked_for() -> None:
    service, seen = make(), list[str]()
    service.variable("v", lambda _: noted(seen, "v", None))
    for name in ('a"2', "c1\ud83d", "b"):
        service.section(name, order=1, text=lambda _: noted(seen, "text", ""), complete=True)
    with pytest.raises(PromptError) as error:
        assemble(service)
    assert error.value.code == "prompt/multiple-complete"
    assert error.value.message == (
        r'multiple complete prompt sections are active: "a\"2", "b", "c1\ud83d"'
    )
    assert seen == ["v"]


def test_a_complete_section_is_the_only_one_whatever_listeners_do() -> None:
    service = make()
    service.section("whole", order=1, text="x {{v}}", complete=True, interpolate=True)
    service.section("other", order=2, text="other")
    service.variable("v", lambda _: None)

    async def change(
        assembly: PromptAssembly, _: AssembleContext, further: Next[PromptAssembly]
    ) -> PromptAssembly:
        assembly.sections[1].text = "changed"
        result = await further()
        result.sections.append(PromptText("late", "late"))
        result.contexts.append(PromptText("q", "t"))
        result.variables["v"] = "V"
        result.extensions["more"] = 1
        return result

    service.events.on(ASSEMBLE, change, Owner())
    assembly = assemble(service)
    assert assembly.sections == [PromptText("whole", "x {{v}}", True)]
    assert render_prompt(assembly) == "x V"
    assert (assembly.contexts, assembly.extensions) == ([PromptText("q", "t")], {"more": 1})


def test_a_nearer_section_of_the_same_name_cancels_complete() -> None:
    service, agent = make(), Key()
    service.section("whole", order=1, text="x", complete=True)
    service.of(Owner(scope=agent)).section("whole", order=1, text="y")
    assert len(assemble(service, agent).sections) == 3
    assert len(assemble(service).sections) == 1


# ---- The waterfall --------------------------------------------------------------------------------------------------


def test_listeners_see_the_object_that_the_innermost_next_gives() -> None:
    service, seen = make(), list[PromptAssembly]()

    async def keep(
        assembly: PromptAssembly, _: AssembleContext, further: Next[PromptAssembly]
    ) -> PromptAssembly:
        seen.extend([assembly, await further(), await further()])
        return assembly

    service.events.on(ASSEMBLE, keep, Owner())
    result = assemble(service)
    assert all(each is result for each in seen)


def test_what_the_outermost_listener_returns_counts_and_nothing_is_checked_again() -> None:
    service = make()
    mine = PromptAssembly(tools=[{"name": "z", "secret": 1}, {"name": "a"}])

    def replace(*_: Any) -> Awaitable[PromptAssembly]:
        async def later() -> PromptAssembly:
            return mine

        return later()

    service.events.on(ASSEMBLE, lambda *_: 1 / 0, Owner())
    service.events.on(ASSEMBLE, replace, Owner(), prepend=True)
    assert assemble(service) is mine


def test_suppression_holds_against_listeners() -> None:
    service = make(include_runtime_context=False)
    service.context("must", order=1, text="m", required=True)

    async def add(
        assembly: PromptAssembly, _: AssembleContext, further: Next[PromptAssembly]
    ) -> PromptAssembly:
        result = await further()
        result.contexts.insert(0, PromptText("listener", "l"))
        result.contexts.append(PromptText("must", "again"))
        return result

    service.events.on(ASSEMBLE, add, Owner())
    assert pairs(assemble(service).contexts) == [("must", "m"), ("must", "again")]


def test_listeners_are_routed_up_the_chain() -> None:
    service, agent, preset, seen = make(), Key(), Key(), list[str]()
    service.events.scopes.bind(agent, preset)

    def listen(label: str, scope: object | None, **options: Any) -> None:
        def listener(value: PromptAssembly, _: Any, further: Any) -> Any:
            seen.append(label)
            return further()

        service.events.on(ASSEMBLE, listener, Owner(scope=scope), **options)

    listen("untagged", None)
    listen("agent", agent)
    listen("preset", preset)
    listen("other", Key())
    listen("other global", Key(), is_global=True)
    for scope, expected in [
        (agent, ["untagged", "agent", "preset", "other global"]),
        (preset, ["untagged", "preset", "other global"]),
        (None, ["untagged", "other global"]),
    ]:
        seen.clear()
        assemble(service, scope)
        assert seen == expected


def test_changes_do_not_leak_into_later_assemblies() -> None:
    service = make()
    service.section("s", order=1, text="s")
    service.variable("v", lambda _: "v")
    schema = {"name": "t", "parameters": {"type": "object"}}
    service.tools(lambda _: {"schemas": [schema]})
    first = assemble(service)
    first.sections[1].text = "changed"
    first.variables["w"] = "w"
    first.tools[0]["parameters"]["type"] = "changed"
    second = assemble(service)
    assert second.sections[1].text == "s"
    assert second.variables == {"v": "v"}
    assert second.tools == [schema]


def test_a_listener_that_returns_nothing_is_told_so() -> None:
    service = make()
    service.events.on(ASSEMBLE, lambda *_: None, Owner())
    with pytest.raises(PromptError, match="NoneType") as error:
        assemble(service)
    assert error.value.code == "prompt/listener-result"


def test_assemblies_that_run_at_the_same_time_are_independent() -> None:
    service = make()

    async def both() -> list[PromptAssembly]:
        gate = asyncio.Event()

        async def wait(
            assembly: PromptAssembly, _: AssembleContext, further: Next[PromptAssembly]
        ) -> PromptAssembly:
            await gate.wait()
            return await further()

        service.events.on(ASSEMBLE, wait, Owner())
        one = asyncio.ensure_future(service.assemble())
        await asyncio.sleep(0)
        service.section("late", order=1, text="late")
        two = asyncio.ensure_future(service.assemble())
        await asyncio.sleep(0)
        gate.set()
        return [await one, await two]

    one, two = asyncio.run(both())
    assert (names(one.sections), names(two.sections)) == ([], ["late"])


def test_what_a_provider_raises_names_the_contribution() -> None:
    service = make()
    error = ValueError("mine")

    def fail(_: AssembleContext) -> str:
        raise error

    registrations: list[tuple[str, Callable[[], Disposer]]] = [
        ("section 'n'", lambda: service.section("n", order=1, text=fail)),
        ("context 'n'", lambda: service.context("n", order=1, text=fail)),
        ("variable 'n'", lambda: service.variable("n", fail)),
    ]
    for kind, register in registrations:
        dispose = register()
        with pytest.raises(ValueError, match="mine") as caught:
            assemble(service)
        assert caught.value is error
        assert error.__notes__.pop() == f"raised by the provider of prompt {kind}"
        dispose()


@pytest.mark.parametrize("result", [None, [], {"tools": []}])
def test_a_tool_provider_that_returns_no_tools_is_told_so(result: Any) -> None:
    service = make()
    service.tools(lambda _: result)
    with pytest.raises(PromptError, match=type(result).__name__) as error:
        assemble(service)
    assert error.value.code == "prompt/tools-result"


# ---- Registrations while an assembly runs ---------------------------------------------------------------------------


def test_what_a_variable_registers_takes_part() -> None:
    service, seen = make(), list[str]()

    def first(_: AssembleContext) -> str:
        seen.append("a")
        if len(seen) == 1:
            service.variable("b", lambda _: noted(seen, "b", "2"))
            service.section("s", order=1, text="late")
            service.context("c", order=1, text="late")
            service.tools(tools("t"))
        return "1"

    service.variable("a", first)
    assembly = assemble(service)
    assert seen == ["a", "b"]
    assert assembly.variables == {"a": "1", "b": "2"}
    assert (names(assembly.sections), names(assembly.contexts)) == (["s"], ["c"])
    assert assembly.tools == [{"name": "t"}]


def test_what_a_variable_registers_in_a_new_layer_takes_part_by_name_only() -> None:
    service, agent = make(), Key()
    near = service.of(Owner(scope=agent))
    once: list[int] = []

    def first(_: AssembleContext) -> str:
        if not once:
            once.append(1)
            near.section("s", order=1, text="late")
            near.variable("b", lambda _: "2")
            near.tools(tools("t"))
        return "1"

    service.variable("a", first)
    assembly = assemble(service, agent)
    assert (names(assembly.sections), assembly.variables) == (["s"], {"a": "1"})
    assert assembly.tools == []
    again = assemble(service, agent)
    assert (again.variables, again.tools) == ({"a": "1", "b": "2"}, [{"name": "t"}])


def test_what_a_tool_provider_registers_takes_part_the_next_time() -> None:
    service, once = make(), list[int]()

    def provider(_: AssembleContext) -> Any:
        if not once:
            once.append(1)
            service.section("s", order=1, text="late")
            service.context("c", order=1, text="late")
            service.variable("v", lambda _: "late")
            service.tools(tools("t"))
        return {"schemas": []}

    service.tools(provider)
    first, second = assemble(service), assemble(service)
    assert (names(first.sections), first.contexts, first.tools, first.variables) == ([], [], [], {})
    assert (names(second.sections), names(second.contexts)) == (["s"], ["c"])
    assert (second.tools, second.variables) == ([{"name": "t"}], {"v": "late"})


def test_a_variable_that_replaces_the_only_one_ends_the_iteration() -> None:
    service = make()

    def first(_: AssembleContext) -> str:
        dispose()
        service.variable("b", lambda _: "2")
        return "1"

    dispose = service.variable("a", first)
    assert assemble(service).variables == {"a": "1"}
    assert assemble(service).variables == {"b": "2"}


# ---- Refreshing -----------------------------------------------------------------------------------------------------


def test_refreshing_reads_registered_contexts_again() -> None:
    service, count = make(), [0]

    def counted(label: str) -> Any:
        def text(_: AssembleContext) -> str:
            count[0] += 1
            return f"{label}{count[0]}"

        return text

    service.context("a", order=10, text=counted("a"), required=True)
    optional = service.context("b", order=20, text=counted("b"))
    service.context("c", order=10, text="c", required=True, interpolate=False)
    accepted = assemble(service)
    accepted.contexts = [accepted.contexts[-1], PromptText("listener", "l")]
    before = accepted.to_json()

    fresh = service.refresh_context(accepted)
    assert pairs(fresh.contexts) == [("a", "a4"), ("c", "c"), ("b", "b3"), ("listener", "l")]
    assert fresh.contexts[1].interpolate is False
    assert fresh.sections is accepted.sections

    suppress = service.suppress_runtime_context()
    assert pairs(service.refresh_context(accepted).contexts) == [("a", "a5"), ("c", "c")]
    suppress()
    optional()
    assert pairs(service.refresh_context(accepted).contexts) == [
        ("b", "b2"),
        ("listener", "l"),
        ("a", "a6"),
        ("c", "c"),
    ]
    assert accepted.to_json() == before


def test_refreshing_adds_no_optional_context() -> None:
    service = make()
    accepted = assemble(service)
    service.context("late", order=1, text="late")
    assert service.refresh_context(accepted).contexts == []


def test_refreshing_looks_from_the_scope_of_the_request() -> None:
    service, agent = make(), Key()
    service.context("c", order=1, text="global")
    service.of(Owner(scope=agent)).context("c", order=1, text="near")
    accepted = assemble(service, agent)
    assert pairs(service.refresh_context(accepted).contexts) == [("c", "global")]
    fresh = service.refresh_context(accepted, AssembleContext(scope=agent))
    assert pairs(fresh.contexts) == [("c", "near")]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_any_event_loop_will_do(backend: str) -> None:
    service = make()

    async def slow(
        assembly: PromptAssembly, _: AssembleContext, further: Next[PromptAssembly]
    ) -> PromptAssembly:
        await anyio.sleep(0)
        return await further()

    service.events.on(ASSEMBLE, slow, Owner())
    service.section("s", order=1, text="s")
    assert names(anyio.run(service.assemble, backend=backend).sections) == ["s"]
