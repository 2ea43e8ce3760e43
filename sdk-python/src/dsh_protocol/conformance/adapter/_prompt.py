"""Ops about prompt assembly: the service, step by step, and the functions that render."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio

from dsh_protocol.findings import PromptError, UsageError
from dsh_protocol.prompt import (
    ASSEMBLE,
    ContextText,
    PromptAssembly,
    PromptText,
    assemble_context_for,
    context_order,
    join_context_sections,
    register_persona,
    render_context_sections,
    render_context_snapshot,
    render_prompt,
    section_order,
)

from ._answers import Json
from ._world import Step, Thrown, World, json_text, plain, refusal, shown, signal_of


def run(given: Json, _version: int) -> Json:
    """A prompt service, step by step."""
    return World(STEPS).answers(given)


def interpolate(given: Json, _version: int) -> Json:
    """One text with its references replaced."""
    text = PromptText(given["name"], given["text"], given.get("interpolate"))
    assembly = PromptAssembly(variables=_variables(given["variables"]))
    try:
        if given["kind"] == "section":
            assembly.sections = [text]
            return {"ok": {"text": render_prompt(assembly)}}
        assembly.contexts = [text]
        return {"ok": {"text": "".join(each.text for each in render_context_sections(assembly))}}
    except PromptError as error:
        return refusal(error)


def render(given: Json, _version: int) -> Json:
    """The texts of an assembly, or rendered contexts joined."""
    if "contexts" in given:
        texts = [ContextText(each["name"], each["text"]) for each in given["contexts"]]
        return {"ok": {"snapshot": join_context_sections(texts)}}
    assembly = _assembly(given["assembly"])
    try:
        prompt = render_prompt(assembly)
        contexts = [each.to_json() for each in render_context_sections(assembly)]
        snapshot = render_context_snapshot(assembly)
    except PromptError as error:
        return refusal(error)
    return {"ok": {"prompt": prompt, "contexts": contexts, "snapshot": snapshot}}


# ---- Values ------------------------------------------------------------------------------------------


def _variables(listed: list[Json]) -> dict[str, str | None]:
    return {each["name"]: each.get("value") for each in listed}


def _texts(listed: list[Json]) -> list[PromptText]:
    return [PromptText(each["name"], each["text"], each.get("interpolate")) for each in listed]


def _assembly(given: Json) -> PromptAssembly:
    """An assembly as a case gives it, with a list of variables."""
    return _from_members({**given, "variables": _variables(given["variables"])})


def _from_members(members: Json) -> PromptAssembly:
    known = ("sections", "contexts", "tools", "variables")
    return PromptAssembly(
        _texts(members["sections"]),
        _texts(members["contexts"]),
        members["tools"],
        members["variables"],
        {name: value for name, value in members.items() if name not in known},
    )


def _members(assembly: PromptAssembly) -> Json:
    return {**assembly.to_json(), "variables": dict(assembly.variables)}


def _value(assembly: PromptAssembly) -> Json:
    """An assembly as an answer. Variables are a list, because one without a value is there all the same."""
    listed = [
        {"name": name} if value is None else {"name": name, "value": value}
        for name, value in assembly.variables.items()
    ]
    value: Json = plain({**assembly.to_json(), "variables": listed})
    return value


# ---- Steps -------------------------------------------------------------------------------------------


def _start(world: World, step: Json) -> None:
    world.start(step.get("config", {}))


def _scope(world: World, step: Json) -> None:
    key = world.key(step["name"])
    if "parent" in step:
        world.events.scopes.bind(key, world.key(step["parent"]))
    world.add_owner(step["name"], key)


def _bind(world: World, step: Json) -> None:
    keys = world.key(step["scope"]), world.key(step["parent"])
    world.bindings[step["scope"]] = world.events.scopes.bind(*keys)


def _rebind(world: World, step: Json) -> None:
    world.bindings[step["scope"]].rebind(world.key(step["parent"]))


def _plugin(world: World, step: Json) -> None:
    world.add_owner(step["name"])


def _unload(world: World, step: Json) -> None:
    world.owner(step["owner"]).dispose()


def _section(world: World, step: Json) -> None:
    entry = step["section"]
    dispose = world.contributor(step).section(
        entry["name"],
        order=entry.get("order"),
        text=world.function(entry["text"]),
        interpolate=entry.get("interpolate"),
        complete=entry.get("complete", False),
    )
    world.keep(step, dispose)


def _context(world: World, step: Json) -> None:
    entry = step["context"]
    dispose = world.contributor(step).context(
        entry["name"],
        order=entry.get("order"),
        text=world.function(entry["text"]),
        interpolate=entry.get("interpolate"),
        required=entry.get("required", False),
    )
    world.keep(step, dispose)


def _called(given: Any) -> Callable[..., Any]:
    return given if callable(given) else lambda _context: copy.deepcopy(given)


def _variable(world: World, step: Json) -> None:
    provider = _called(world.function(step["value"]))
    world.keep(step, world.contributor(step).variable(step["name"], provider))


def _tools(world: World, step: Json) -> None:
    provider = _called(world.function(step["result"]))
    world.keep(step, world.contributor(step).tools(provider))


def _suppress(world: World, step: Json) -> None:
    world.keep(step, world.contributor(step).suppress_runtime_context())


def _persona(world: World, step: Json) -> None:
    dispose = register_persona(
        world.contributor(step),
        prefix=step["prefix"],
        suffix=step.get("suffix", ""),
        complete=step.get("complete", False),
        include_runtime_context=step.get("includeRuntimeContext", True),
    )
    world.keep(step, dispose)


async def _together(world: World, step: Json) -> list[Any]:
    values: list[Any] = [None] * len(step["steps"])

    async def act(index: int, inner: Json) -> None:
        value = world.act(inner)
        values[index] = await value if isinstance(value, Awaitable) else value

    async with anyio.create_task_group() as tasks:
        for index, inner in enumerate(step["steps"]):
            tasks.start_soon(act, index, inner)
    return values


def _dispose(world: World, step: Json) -> None:
    world.dispose(step["of"])


def _on_change(world: World, step: Json) -> None:
    called = 0

    def changed() -> None:
        nonlocal called
        called += 1
        world.note(step["as"])
        if called == 1 and "throws" in step:
            raise Thrown(step["throws"])

    event = f"{step.get('what', 'system-prompt')}/change"
    world.keep(step, world.events.on(event, changed, world.owner(step.get("owner"))))


def _listen(world: World, step: Json) -> None:
    dispose = world.events.on(
        ASSEMBLE,
        _plain_listener(world, step) if step.get("plain") else _listener(world, step),
        world.owner(step.get("owner")),
        prepend=step.get("prepend", False),
        is_global=step.get("global", False),
    )
    world.keep(step, dispose)


def _listener(world: World, step: Json) -> Callable[..., Any]:
    async def listener(
        assembly: PromptAssembly, _context: Any, further: Callable[[], Awaitable[PromptAssembly]]
    ) -> PromptAssembly:
        world.note(step.get("as"))
        for act in step["acts"]:
            if act["act"] == "pause":
                await anyio.sleep(0)
            elif act["act"] == "next":
                assembly = await further()
            else:
                assembly = _changed(world, act, assembly)
        return assembly

    return listener


def _plain_listener(world: World, step: Json) -> Callable[..., Any]:
    def listener(assembly: PromptAssembly, _context: Any, _next: Any) -> PromptAssembly:
        world.note(step.get("as"))
        for act in step["acts"]:
            assembly = _changed(world, act, assembly)
        return assembly

    return listener


def _changed(world: World, act: Json, assembly: PromptAssembly) -> PromptAssembly:
    kind = act["act"]
    if kind == "throws":
        raise Thrown(act["message"])
    if kind == "replace":
        return _assembly(copy.deepcopy(act["value"]))
    if kind == "do":
        for step in act["steps"]:
            world.act(step)
        return assembly
    members = _members(assembly)
    _edit(members, kind, act["path"], copy.deepcopy(act.get("value")))
    changed = _from_members(members)
    # The object that others hold is the one that changes.
    for name in ("sections", "contexts", "tools", "variables", "extensions"):
        setattr(assembly, name, getattr(changed, name))
    return assembly


def _edit(members: Json, kind: str, path: str, value: Any) -> None:
    *parts, last = path.split("/")[1:]
    target: Any = members
    for part in parts:
        target = target[int(part)] if isinstance(target, list) else target[part]
    place: Any = int(last) if isinstance(target, list) and last != "-" else last
    if kind == "remove" and isinstance(target, list):
        # What another listener has taken away is gone already.
        target[place : place + 1] = []
    elif kind == "remove":
        target.pop(place, None)
    elif kind == "insert":
        target.insert(place, value)
    elif place == "-":
        target.append(value)
    else:
        target[place] = value


async def _assemble(world: World, step: Json) -> Json:
    if "for" in step:
        signal = signal_of(step.get("signal"))
        context = assemble_context_for(world.key(step["for"]), signal)
    else:
        context = world.context(step.get("context"))
    return _kept(world, step, await world.service.assemble(context))


def _refresh(world: World, step: Json) -> Json | None:
    accepted = world.assemblies.get(step["of"])
    if accepted is None:
        return None
    context = world.context(step.get("context"))
    return _kept(world, step, world.service.refresh_context(accepted, context))


def _kept(world: World, step: Json, assembly: PromptAssembly) -> Json:
    if "as" in step:
        world.assemblies[step["as"]] = assembly
    return _value(assembly)


def _context_for(world: World, step: Json) -> Json:
    context = assemble_context_for(world.key(step["agent"]), signal_of(step.get("signal")))
    members = {"agent": context.agent, "scope": context.scope, "signal": context.signal}
    there = {name: shown(value) for name, value in members.items() if value is not None}
    return {"members": sorted(there), **there}


def _of_assembly(show: Callable[[PromptAssembly], Json]) -> Step:
    """A step about an assembly that was kept; null where it failed."""

    def step(world: World, given: Json) -> Json | None:
        assembly = world.assemblies.get(given["of"])
        return None if assembly is None else show(assembly)

    return step


def _contexts(assembly: PromptAssembly) -> Json:
    sections = [each.to_json() for each in render_context_sections(assembly)]
    return {"sections": sections, "snapshot": render_context_snapshot(assembly)}


def _order(_world: World, step: Json) -> Json:
    try:
        found = (
            section_order(step["section"]) if "section" in step else context_order(step["context"])
        )
    except UsageError:
        return {}
    return {"order": found}


STEPS: Mapping[str, Step] = {
    "start": _start,
    "scope": _scope,
    "bind": _bind,
    "rebind": _rebind,
    "plugin": _plugin,
    "unload": _unload,
    "section": _section,
    "context": _context,
    "variable": _variable,
    "tools": _tools,
    "suppress": _suppress,
    "persona": _persona,
    "dispose": _dispose,
    "together": _together,
    "on-change": _on_change,
    "listen": _listen,
    "assemble": _assemble,
    "refresh": _refresh,
    "context-for": _context_for,
    "render": _of_assembly(lambda assembly: {"prompt": render_prompt(assembly)}),
    "contexts": _of_assembly(_contexts),
    "tools-text": _of_assembly(lambda assembly: {"text": json_text(assembly.tools)}),
    "order": _order,
    "calls": lambda world, _step: world.take_notes(),
}
