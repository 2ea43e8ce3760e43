"""Random registrations in random scopes: against a plain account of the rules, and against the official library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from official import official_runtime

from dsh_protocol.findings import ProtocolError
from dsh_protocol.prompt import (
    AssembleContext,
    PromptAssembly,
    PromptConfig,
    PromptService,
    render_context_sections,
    render_context_snapshot,
    render_prompt,
)
from dsh_protocol.scopes import Owner

Step = dict[str, Any]

# A chain of three scopes, and one beside it.
PARENTS = {"agent": "preset", "preset": "team", "team": None, "other": None}
CHAINS: dict[str | None, list[str | None]] = {
    None: [None],
    "agent": [None, "team", "preset", "agent"],
    "preset": [None, "team", "preset"],
    "other": [None, "other"],
}
ORDERS = st.sampled_from([-5, 0, -0.0, 1, 1.5, 2, 10**9, 10**17])
NAMES = st.sampled_from(
    ["a", "B", "b", "", "a:b", "\u00e9", "\ufffd", "\U0001f600", "\ud83d", "aa"]
)
OWNERS = st.sampled_from([None, "agent", "preset", "team", "other"])


def _owned(step: Step) -> Step:
    return {key: value for key, value in step.items() if (key, value) != ("owner", None)}


SECTIONS = st.builds(
    lambda owner, name, order, text, complete: _owned(
        {
            "do": "section",
            "owner": owner,
            "section": {"name": name, "order": order, "text": text, "complete": complete},
        }
    ),
    *(OWNERS, NAMES, ORDERS, st.sampled_from(["", "x", "y"])),
    st.sampled_from([False, False, False, False, True]),
)
CONTEXTS = st.builds(
    lambda owner, name, order, required: _owned(
        {
            "do": "context",
            "owner": owner,
            "context": {
                "name": name,
                "order": order,
                "text": f"{owner} {name}",
                "required": required,
            },
        }
    ),
    *(OWNERS, NAMES, ORDERS, st.booleans()),
)
VARIABLES = st.builds(
    lambda owner, name: _owned(
        {"do": "variable", "owner": owner, "name": name, "value": f"{owner}"}
    ),
    *(OWNERS, st.sampled_from(["a", "b", "c_1"])),
)
TOOLS = st.builds(
    lambda owner, names, known: _owned(
        {
            "do": "tools",
            "owner": owner,
            "result": {
                "schemas": [
                    {"name": n, "description": f"{owner} {i}"} for i, n in enumerate(names)
                ],
                **({} if known is None else {"knownNames": known}),
            },
        }
    ),
    OWNERS,
    st.lists(NAMES, max_size=3),
    st.none() | st.lists(NAMES, max_size=4),
)
SUPPRESS = st.builds(lambda owner: _owned({"do": "suppress", "owner": owner}), OWNERS)
STEPS = st.lists(
    st.one_of(SECTIONS, SECTIONS, SECTIONS, CONTEXTS, CONTEXTS, VARIABLES, TOOLS, SUPPRESS),
    max_size=14,
)
TOOL_ORDERS = st.none() | st.permutations(["a", "B", "<unlisted-tools>"])
SCOPES = st.sampled_from(list(CHAINS))


class World:
    """Our services, driven by the same steps as the official ones."""

    def __init__(self, tool_order: list[str] | None) -> None:
        order = None if tool_order is None else tuple(tool_order)
        self.service = PromptService(config=PromptConfig(tool_order=order))
        self.keys: dict[str | None, object] = {None: None} | {name: [name] for name in PARENTS}
        for name, parent in PARENTS.items():
            if parent is not None:
                self.service.events.scopes.bind(self.keys[name], self.keys[parent])
        self.owners = {name: Owner(str(name), scope=key) for name, key in self.keys.items()}

    def act(self, step: Step) -> bool:
        """Whether the registration was accepted."""
        to = self.service.of(self.owners[step.get("owner")])
        try:
            match step["do"]:
                case "section":
                    to.section(**step["section"])
                case "context":
                    to.context(**step["context"])
                case "variable":
                    to.variable(step["name"], lambda _: step["value"])
                case "tools":
                    to.tools(lambda _: step["result"])
                case "suppress":
                    to.suppress_runtime_context()
        except ProtocolError:
            return False
        return True

    def assemble(self, scope: str | None) -> PromptAssembly | str:
        """The assembly, or the text of what refused it."""
        context = AssembleContext(scope=self.keys[scope])
        try:
            return asyncio.run(self.service.assemble(context))
        except ProtocolError as error:
            return error.message


# ---- A plain account ------------------------------------------------------------------------------------------------


def units(text: str) -> list[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return [data[i] * 256 + data[i + 1] for i in range(0, len(data), 2)]


def expected_sections(steps: list[Step], scope: str | None) -> list[tuple[str, str]]:
    """Sections in effect, by the words of the reference: filter by layer, let the nearest win, sort by two keys."""
    effective: dict[str, tuple[float, str]] = {
        "harness:identity": (-1000, "You are an AI agent powered by DeepSeek Harness."),
        "deployment:persona-prefix": (0, ""),
        "deployment:persona-suffix": (10200, ""),
    }
    for layer in CHAINS[scope]:
        for step in steps:
            if step["do"] == "section" and step.get("owner") == layer:
                section = step["section"]
                effective[section["name"]] = (section["order"], section["text"])
    ordered = sorted((order, units(name), name) for name, (order, _) in effective.items())
    return [(name, effective[name][1]) for _, _, name in ordered]


@given(STEPS, SCOPES)
@settings(max_examples=300, deadline=None)
def test_sections_against_a_plain_account(steps: list[Step], scope: str | None) -> None:
    for step in steps:
        step.get("section", {}).pop("complete", None)
    world = World(None)
    accepted = [step for step in steps if world.act(step)]
    assembly = world.assemble(scope)
    assert isinstance(assembly, PromptAssembly)
    assert [(s.name, s.text) for s in assembly.sections] == expected_sections(accepted, scope)


# ---- The official library -------------------------------------------------------------------------------------------


def _shown(assembly: PromptAssembly) -> dict[str, Any]:
    shown = assembly.to_json()
    shown["variables"] = [{"name": n, "value": v} for n, v in assembly.variables.items()]
    return shown


def _program(steps: list[Step], tool_order: list[str] | None) -> list[Step]:
    config = {} if tool_order is None else {"toolOrder": tool_order}
    scopes: list[Step] = [
        {"do": "scope", "name": name} | ({} if parent is None else {"parent": parent})
        for name, parent in PARENTS.items()
    ]
    asks: list[Step] = [
        {"do": "assemble"} if scope is None else {"do": "assemble", "context": {"scope": scope}}
        for scope in CHAINS
    ]
    return [{"do": "start", "config": config}, *scopes, *steps, *asks]


def test_against_the_official_library() -> None:
    with official_runtime() as official:

        @given(STEPS, TOOL_ORDERS)
        @settings(max_examples=150, deadline=None)
        def compare(steps: list[Step], tool_order: list[str] | None) -> None:
            program = {"steps": _program(steps, tool_order)}
            answers = official.answer("prompt.run", program)["steps"]
            world = World(tool_order)
            accepted = [world.act(step) for step in steps]
            start = 1 + len(PARENTS)
            assert accepted == ["ok" in answer for answer in answers[start : start + len(steps)]]
            for scope, answer in zip(CHAINS, answers[start + len(steps) :], strict=True):
                ours = world.assemble(scope)
                if isinstance(ours, str):
                    assert ours == answer["refused"]["text"]
                else:
                    assert _shown(ours) == answer["ok"]

        compare()


CONTEXT_TEXTS = st.sampled_from(["", "x", "{{a}}", "{{b}} {{", "{{none"])
LATER = st.lists(st.one_of(CONTEXTS, CONTEXTS, SUPPRESS, SECTIONS), max_size=6)


def test_refreshing_and_rendering_against_the_official_library() -> None:
    with official_runtime() as official:

        @given(
            st.lists(st.one_of(CONTEXTS, CONTEXTS, VARIABLES), max_size=8), LATER, SCOPES, st.data()
        )
        @settings(max_examples=150, deadline=None)
        def compare(first: list[Step], later: list[Step], scope: str | None, data: Any) -> None:
            for step in [*first, *later]:
                for kind in {"section", "context"} & step.keys():
                    step[kind]["text"] = data.draw(CONTEXT_TEXTS)
            context = {} if scope is None else {"context": {"scope": scope}}
            program = [
                *_program([], None)[: 1 + len(PARENTS)],
                *first,
                {"do": "assemble", "as": "accepted", **context},
                *later,
                {"do": "refresh", "of": "accepted", "as": "fresh", **context},
                {"do": "render", "of": "fresh"},
                {"do": "contexts", "of": "fresh"},
            ]
            answers = official.answer("prompt.run", {"steps": program})["steps"][-3:]
            world = World(None)
            for step in first:
                world.act(step)
            accepted = world.assemble(scope)
            assert isinstance(accepted, PromptAssembly)
            for step in later:
                world.act(step)
            fresh = world.service.refresh_context(
                accepted, AssembleContext(scope=world.keys[scope])
            )
            assert _shown(fresh) == answers[0]["ok"]
            assert _attempt(lambda: {"prompt": render_prompt(fresh)}) == _told(answers[1])
            assert _attempt(lambda: _rendered_contexts(fresh)) == _told(answers[2])

        compare()


def _rendered_contexts(assembly: PromptAssembly) -> dict[str, Any]:
    sections = [section.to_json() for section in render_context_sections(assembly)]
    return {"sections": sections, "snapshot": render_context_snapshot(assembly)}


def _attempt(render: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return render()
    except ProtocolError as error:
        return {"text": error.message}


def _told(answer: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = answer["ok"] if "ok" in answer else answer["refused"]
    return told
