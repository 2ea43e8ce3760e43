"""Owners, scope chains, layers and events. Expected values: reference section 3 and the official scope library."""

from __future__ import annotations

import asyncio
import gc
import itertools
from collections.abc import Awaitable
from typing import Any

import pytest

from dsh_protocol.findings import RegistrationError, ScopeError
from dsh_protocol.scopes import Anonymous, Events, Layers, Named, Next, Owner, Scopes


class Key:
    """A scope key: any object does."""


def test_chain_has_the_farthest_ancestor_first() -> None:
    scopes, agent, preset, team = Scopes(), Key(), Key(), Key()
    scopes.bind(agent, preset)
    scopes.bind(preset, team)
    assert scopes.chain(agent) == (team, preset, agent)
    assert scopes.chain(team) == (team,)
    assert scopes.chain(None) == ()


def test_keys_are_compared_by_identity() -> None:
    scopes, one, other = Scopes(), [1], [1]
    scopes.bind(one, "parent")
    assert scopes.parent(one) == "parent"
    assert scopes.parent(other) is None


def test_a_key_is_bound_once_and_its_binding_links_again() -> None:
    scopes, agent, preset, other = Scopes(), Key(), Key(), Key()
    binding = scopes.bind(agent, preset)
    with pytest.raises(ScopeError) as error:
        scopes.bind(agent, other)
    assert error.value.code == "scope/already-bound"
    assert "binding" in error.value.fix
    binding.rebind(other)
    assert scopes.chain(agent) == (other, agent)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_cycle_is_refused_and_the_old_links_stand(length: int) -> None:
    scopes, keys = Scopes(), [Key() for _ in range(length)]
    for key, parent in itertools.pairwise(keys):
        scopes.bind(key, parent)
    with pytest.raises(ScopeError, match="cycle") as error:
        scopes.bind(keys[-1], keys[0])
    assert error.value.code == "scope/cycle"
    assert scopes.chain(keys[0]) == tuple(reversed(keys))


def test_a_link_does_not_keep_its_key_alive() -> None:
    scopes, parent = Scopes(), Key()
    numbers = set()
    for _ in range(50):
        key = Key()
        numbers.add(id(key))
        scopes.bind(key, parent)  # a reused id must not count as bound
        del key
        gc.collect(0)
    assert len(numbers) < 50


# ---- Owners ---------------------------------------------------------------------------------------------------------


def test_an_owner_undoes_in_reverse_order_and_once() -> None:
    seen: list[str] = []
    owner = Owner("mine")
    owner.effect(lambda: seen.append("a"))
    dispose = owner.effect(lambda: seen.append("b"))
    owner.effect(lambda: seen.append("c"))
    dispose()
    dispose()
    owner.dispose()
    owner.dispose()
    assert seen == ["b", "c", "a"]
    assert not owner.active


def test_a_child_goes_with_its_parent_and_can_go_before() -> None:
    seen: list[str] = []
    with Owner("parent", scope="s") as parent:
        early, late = parent.child("early"), parent.child("late", scope="t")
        early.effect(lambda: seen.append("early"))
        late.effect(lambda: seen.append("late"))
        early.dispose()
        assert seen == ["early"]
        assert (early.scope, late.scope) == ("s", "t")
    assert seen == ["early", "late"]
    assert not late.active


def test_nothing_is_registered_through_an_owner_that_is_gone() -> None:
    owner = Owner("plugin x")
    owner.dispose()
    for attempt in (
        lambda: owner.effect(lambda: None),
        lambda: owner.child("c"),
        lambda: Events(Scopes()).on("e", lambda: None, owner),
    ):
        with pytest.raises(RegistrationError) as error:
            attempt()
        assert error.value.code == "INACTIVE_EFFECT"
        assert error.value.message == "cannot create effect on inactive context"
        assert "plugin x" in error.value.fix


def test_everything_is_undone_even_when_something_fails() -> None:
    seen: list[int] = []

    def fail(number: int) -> None:
        seen.append(number)
        raise ValueError(number)

    one = Owner()
    one.effect(lambda: seen.append(0))
    one.effect(lambda: fail(1))
    with pytest.raises(ValueError, match="1"):
        one.dispose()
    assert seen == [1, 0]
    two = Owner()
    two.effect(lambda: fail(2))
    two.effect(lambda: fail(3))
    with pytest.raises(ExceptionGroup) as errors:
        two.dispose()
    assert [str(error) for error in errors.value.exceptions] == ["3", "2"]


# ---- Layers ---------------------------------------------------------------------------------------------------------


def make_layers(changes: list[str] | None = None) -> Layers[Named[str]]:
    log = changes if changes is not None else []
    return Layers(Scopes(), Named[str], lambda: log.append("change"))


def put(layers: Layers[Named[str]], owner: Owner, name: str, value: str) -> Any:
    return layers.register(owner, lambda layer: layer.insert(name, value))


def test_the_nearest_value_wins_at_the_place_of_the_farthest() -> None:
    layers, agent, preset = make_layers(), Key(), Key()
    layers.scopes.bind(agent, preset)
    common, middle, near = Owner(), Owner(scope=preset), Owner(scope=agent)
    put(layers, near, "b", "near")
    put(layers, common, "a", "common")
    put(layers, common, "b", "common")
    put(layers, middle, "c", "middle")
    put(layers, middle, "b", "middle")
    assert list(layers.merge(agent, lambda each: each).items()) == [
        ("a", "common"),
        ("b", "near"),
        ("c", "middle"),
    ]
    assert layers.merge(preset, lambda each: each)["b"] == "middle"
    assert layers.merge(None, lambda each: each)["b"] == "common"
    assert layers.merge(Key(), lambda each: each)["b"] == "common"


def test_a_layer_exists_while_it_holds_something() -> None:
    layers, key = make_layers(), Key()
    owner = Owner(scope=key)
    assert layers.of(key) is None
    put(layers, owner, "a", "1")
    assert layers.of(key) is not None
    owner.dispose()
    assert layers.of(key) is None
    assert layers.visible(key) == [layers.common]


def test_a_failed_registration_leaves_nothing_behind() -> None:
    changes: list[str] = []
    layers, key = make_layers(changes), Key()

    def fail(_: Named[str]) -> Any:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        layers.register(Owner(scope=key), fail)
    assert layers.of(key) is None
    assert changes == []


def test_a_failing_change_listener_rolls_back() -> None:
    calls: list[int] = []

    def changed() -> None:
        calls.append(len(calls))
        if len(calls) == 1:
            raise ValueError("listener")

    layers: Layers[Named[str]] = Layers(Scopes(), Named[str], changed)
    owner = Owner()
    with pytest.raises(ValueError, match="listener"):
        put(layers, owner, "a", "1")
    assert (layers.common.is_empty(), calls) == (True, [0, 1])
    put(layers, owner, "a", "2")
    assert layers.common.get("a") == "2"


def test_a_disposer_removes_its_own_entry_only() -> None:
    layers, owner = make_layers(), Owner()
    dispose = put(layers, owner, "a", "1")
    dispose()
    put(layers, owner, "a", "2")
    dispose()
    assert layers.common.get("a") == "2"


def test_iteration_is_live() -> None:
    table: Anonymous[str] = Anonymous()
    remove = {name: table.append(name) for name in "abc"}
    seen = []
    for value in table:
        seen.append(value)
        if value == "a":
            remove["b"]()
            table.append("d")
    assert seen == ["a", "c", "d"]


def test_iteration_ends_where_the_table_becomes_empty_under_it() -> None:
    table: Anonymous[str] = Anonymous()
    remove = table.append("a")
    seen = []
    for value in table:
        seen.append(value)
        remove()
        table.append("b")
    assert (seen, list(table)) == (["a"], ["b"])


# ---- Events ---------------------------------------------------------------------------------------------------------


def run(events: Events, scope: object | None = None) -> list[str]:
    return asyncio.run(events.waterfall("e", list[str](), None, scope))


def wrap(name: str) -> Any:
    async def listener(value: list[str], context: object, further: Next[list[str]]) -> list[str]:
        value.append(f"{name}>")
        result = await further()
        result.append(f"<{name}")
        return result

    return listener


def test_listeners_nest_in_the_order_of_registration_with_prepended_ones_outside() -> None:
    events, owner = Events(Scopes()), Owner()
    events.on("e", wrap("a"), owner)
    events.on("e", wrap("b"), owner)
    events.on("e", wrap("c"), owner, prepend=True)
    events.on("other", wrap("x"), owner)
    assert run(events) == ["c>", "a>", "b>", "<b", "<a", "<c"]


def test_events_go_up_the_chain_and_never_down() -> None:
    events, agent, preset, other = Events(Scopes()), Key(), Key(), Key()
    events.scopes.bind(agent, preset)
    events.on("e", wrap("everybody"), Owner())
    events.on("e", wrap("agent"), Owner(scope=agent))
    events.on("e", wrap("preset"), Owner(scope=preset))
    events.on("e", wrap("other"), Owner(scope=other))
    events.on("e", wrap("global"), Owner(scope=other), is_global=True)
    heard = {
        name: [entry[:-1] for entry in run(events, scope) if entry.endswith(">")]
        for name, scope in [("agent", agent), ("preset", preset), ("bare", None)]
    }
    assert heard == {
        "agent": ["everybody", "agent", "preset", "global"],
        "preset": ["everybody", "preset", "global"],
        "bare": ["everybody", "global"],
    }


def test_a_listener_may_be_plain_and_may_end_the_chain() -> None:
    events, owner = Events(Scopes()), Owner()
    events.on("e", lambda value, context, further: ["end"], owner)
    events.on("e", wrap("never"), owner)
    assert run(events) == ["end"]


def test_a_second_next_runs_what_is_left() -> None:
    events, owner = Events(Scopes()), Owner()
    seen: list[Any] = []

    async def twice(value: list[str], context: object, further: Next[list[str]]) -> list[str]:
        seen.append(list(await further()))
        return await further()

    events.on("e", twice, owner)
    events.on("e", lambda value, context, further: [*value, "short"], owner)
    events.on("e", wrap("c"), owner)
    assert run(events) == ["c>", "<c"]
    assert seen == [["short"]]


def test_participants_are_fixed_when_the_dispatch_starts() -> None:
    events, owner = Events(Scopes()), Owner()

    def first(value: list[str], context: object, further: Next[list[str]]) -> Awaitable[list[str]]:
        dispose()
        events.on("e", wrap("late"), owner)
        return further()

    events.on("e", first, owner)
    dispose = events.on("e", wrap("b"), owner)
    assert run(events) == ["b>", "<b"]


def test_an_exception_reaches_the_caller_unchanged() -> None:
    events, owner = Events(Scopes()), Owner()
    error = ValueError("mine")

    async def fail(value: list[str], context: object, further: Next[list[str]]) -> list[str]:
        await further()
        raise error

    events.on("e", fail, owner)
    with pytest.raises(ValueError, match="mine") as caught:
        run(events)
    assert caught.value is error


def test_emit_reaches_everybody_and_stops_at_the_first_failure() -> None:
    events, seen = Events(Scopes()), list[str]()
    owner = Owner(scope=Key())
    events.on("e", lambda: seen.append("a"), owner)
    failing = events.on("e", lambda: [][0], owner)
    events.on("e", lambda: seen.append("c"), Owner())
    with pytest.raises(IndexError):
        events.emit("e")
    assert seen == ["a"]
    failing()
    events.emit("e")
    assert seen == ["a", "a", "c"]
    owner.dispose()
    events.emit("e")
    assert seen == ["a", "a", "c", "c"]
