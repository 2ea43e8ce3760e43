"""The scripts of the recordings, driven through prompt assembly and the projections: their logs come out again.

The files that a script sets (section, context, variable, tools) steer the same contributions that the recorded plugin
made. Where other plugins contributed (the profile `sdk`, the tools of files), their recorded texts and tools are registered.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from attempts import PROJECTED, Given, Json, Rewriter, snapshot
from recorded import SHARED, SHIPPED, Recorded, recorded

from dsh_protocol.jsonvalue import dumps
from dsh_protocol.projections import (
    Attempt,
    CallOptions,
    PreparedCall,
    seed_config,
    with_defaults,
)
from dsh_protocol.prompt import (
    ASSEMBLE,
    AssembleContext,
    PromptAssembly,
    PromptConfig,
    PromptService,
    context_order,
    render_context_sections,
    render_prompt,
)
from dsh_protocol.rows import Event, Log, open_log
from dsh_protocol.scopes import Owner
from dsh_protocol.session import Session, SessionOptions
from dsh_protocol.wire.routes import declared_route

PROVIDER = "deepseek-official"
EFFORT = "high"
"""The reasoning effort that the adapters of both releases fill in."""
SHELL = {
    "name": "shell",
    "description": "Run one command and return what it prints.",
    "parameters": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
    # What a model never sees.
    "output": {"schema": {"type": "string"}},
    "timeoutMs": 1000,
}
FILES = ("section.txt", "context.txt", "variable.txt", "tools.json")


@dataclass
class Script:
    """What was done in a scenario, as far as it steers prompts: the start, and the files at each prompt."""

    start: Json
    files: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Script:
        first, *rest = json.loads(path.read_bytes())
        script, files = cls(first["start"]), dict.fromkeys(FILES, "")
        for entry in rest:
            if "set" in entry:
                files = {**files, entry["set"]: entry["text"]}
            elif "prompt" in entry:
                script.files.append(files)
        return script

    def at_turn(self, turn: int) -> dict[str, str]:
        """The files during a turn. Turns that other sessions caused come on top, but then no file ever changes."""
        return self.files[min(turn, len(self.files)) - 1]

    def plugin(self, id: str) -> Json:
        """The configuration that the start gives to a plugin."""
        entries = yaml.safe_load(self.start["patch"])
        return next((entry["config"] for entry in entries if entry.get("id") == id), {})


@dataclass
class Others:
    """What plugins besides the recorded probe contributed to a session: as the log has it."""

    prompt: str = ""
    contexts: Sequence[Json] = ()
    tools: Sequence[Json] = ()

    @classmethod
    def of(cls, script: Script, log: Log, own: Sequence[Event]) -> Others:
        headers = [e.data["header"].get("tools", []) for e in own if e.type == "request/header"]
        ours = {SHELL["name"], *(tool["name"] for f in script.files for tool in _extra(f))}
        tools = [tool for tool in headers[0] if tool["name"] not in ours]
        if script.start["profile"] == "sdk-minimal":
            return cls(tools=tools)
        prompts = [e.data["message"] for e in log.events if e.type == "system/message"]
        sources = [e.data["source"] for e in own if e.type == "user/message"]
        contexts = next(source["sections"] for source in sources if "sections" in source)
        return cls(prompts[0]["content"][0]["text"], contexts, tools)


def _extra(files: Mapping[str, str]) -> list[Json]:
    tools: list[Json] = json.loads(files["tools.json"] or "[]")
    return tools


class Prompts:
    """The prompt service of a session, with all that its plugins contribute."""

    def __init__(self, script: Script, log: Log, others: Others) -> None:
        self.files: Mapping[str, str] = {}
        minimal = script.start["profile"] == "sdk-minimal"
        self.service = PromptService(
            config=PromptConfig(
                include_harness_identity=False,
                include_runtime_context=not minimal,
                persona_prefix=script.start["env"]["DSH_SYSTEM_PROMPT"] if minimal else "",
            )
        )
        self._probe()
        self._official(log, others, minimal)

    def _probe(self) -> None:
        owner = Owner("protocol-probe")
        prompt = self.service.of(owner)
        prompt.tools(lambda _: {"schemas": [SHELL]})
        prompt.section("probe:section", order=900, text=lambda _: self.files["section.txt"])
        prompt.context(
            "probe:context", order=900, text=lambda _: self.files["context.txt"], required=True
        )
        prompt.variable("probe_variable", lambda _: self.files["variable.txt"])
        self.service.events.on(ASSEMBLE, self._with_extra_tools, owner)

    async def _with_extra_tools(
        self, _assembly: PromptAssembly, _context: AssembleContext, further: Any
    ) -> PromptAssembly:
        assembly: PromptAssembly = await further()
        assembly.tools += _extra(self.files)
        return assembly

    def _official(self, log: Log, others: Others, minimal: bool) -> None:
        prompt = self.service.of(Owner("official"))
        tools = others.tools
        prompt.tools(lambda _: {"schemas": tools})
        if not minimal:
            prompt.section("recorded", order=0, text=others.prompt, interpolate=False)
            for place, entry in enumerate(others.contexts):
                prompt.context(entry["name"], order=place, text=entry["text"], interpolate=False)
        elif log.header.version == 4:
            text = f"Current working directory: {dumps(log.header.cwd)}."
            prompt.context(
                "working-directory:current",
                order=context_order("WORKING_DIRECTORY") or 0,
                text=text,
                interpolate=False,
                required=True,
            )


def _options(script: Script, log: Log) -> CallOptions:
    """What the agent of a session was told: children get their parent's effort with the task."""
    effort = None
    for event in log.events:
        if event.type == "subagent/descriptor":
            effort = event.data["agentReasoningEffort"]
    return CallOptions(provider=PROVIDER, model=script.start["model"], reasoning_effort=effort)


def _prepared(script: Script, version: int, config: Json, tools: Sequence[Json]) -> PreparedCall:
    """What the adapter makes of a configuration."""
    adapter = script.plugin("llm-deepseek")
    route = declared_route(version, PROVIDER, config["model"])
    models = {model["id"]: model for model in adapter.get("models", [])}
    route = {**route, **models.get(config["model"], {})}
    config, defaults = with_defaults(
        config,
        max_tokens=adapter.get("maxTokens", route["maxTokens"]),
        reasoning_effort=EFFORT,
    )
    return PreparedCall(
        config=config,
        tools=tools,
        adapter_defaults=defaults,
        context_window=route["contextWindow"],
        system_prompt_update=route.get("systemPromptUpdate"),
        tool_update=route.get("toolUpdate"),
    )


@dataclass(frozen=True)
class Span:
    """The events of one attempt, from the claim of its input on."""

    pre: int
    start: int
    stop: int
    turn: int
    is_first: bool


def _spans(events: Sequence[Event], first: int) -> Iterator[Span]:
    """The attempts of a log from event `first` on: what stands between a step's start and its settlements."""
    claim = 0
    for event in events[first:]:
        if event.type in ("turn/start", "step/end"):
            claim = event.seq + 1
        is_first = event.type == "step/start"
        if not is_first and not _is_retried(events, event):
            continue
        start = event.seq + 1
        while not is_first and events[start].type.startswith("llm/"):
            start += 1
        stop = start
        while events[stop].type in PROJECTED or events[stop].type == "user/message":
            stop += 1
        while events[claim].type == "agent/inbox/spliced":
            claim += 1
        yield Span(claim, start, stop, event.data["turn"], is_first)


def _is_retried(events: Sequence[Event], event: Event) -> bool:
    return event.type == "assistant/attempt" and events[event.seq + 1].type != "step/end"


def _attached(log: Log) -> list[int]:
    """Where loops begin to write: at the start, and behind what a restart or a fork adds."""
    ends = [event.seq + 1 for event in log.events if event.type == "session/end-seed"]
    return [*([] if log.header.is_seeded else [0]), *ends]


@cache
def _rewritten(entry: Recorded) -> tuple[Log, list[Event]]:
    """A recorded log, and the events that the projections wrote in its place."""
    log = open_log(entry.log)
    script = Script.read(entry.log.parents[3] / "script.json")
    attached = _attached(log)
    own = log.events[attached[0] :]
    prompts = Prompts(script, log, Others.of(script, log, own))
    session = Session(log.header, SessionOptions(level="append"))
    rewriter = Rewriter(session, log.events, attached)
    for span in _spans(log.events, attached[0]):
        prompts.files = script.at_turn(span.turn)
        rewriter.copy_up_to(span.pre)
        assembly = asyncio.run(prompts.service.assemble())
        memory = rewriter.loop.memory
        rewriter.copy_up_to(span.start)
        config = seed_config(_options(script, log), session.request_header, memory)
        call = _prepared(script, log.header.version, config, assembly.tools)
        fresh = prompts.service.refresh_context(assembly)
        sections = [section.to_json() for section in render_context_sections(fresh)]
        attempt = Attempt(
            call=call,
            rendered=render_prompt(assembly),
            snapshot=snapshot(sections),
            sections=sections,
            is_first=span.is_first,
        )
        rewriter.admit(Given(span.start, span.stop, span.pre, attempt))
    rewriter.copy_up_to(len(log.events))
    return log, rewriter.added


RECORDED = recorded()
NAMES = {entry.name for entry in RECORDED}


@pytest.mark.parametrize("entry", RECORDED, ids=lambda e: f"{e.name}/{e.log.parent.name[:8]}")
def test_the_log_comes_out_again(entry: Recorded) -> None:
    log, added = _rewritten(entry)
    # The comparison itself is the rewriter's; here: that nothing was left to copying.
    first = _attached(log)[0]
    dialect = Session(log.header).dialect
    projected = [
        event.seq
        for event in log.events[first:]
        if event.type in PROJECTED
        or (event.type == "user/message" and dialect.is_context(event.data["source"]))
    ]
    assert projected
    assert set(projected) <= {event.seq for event in added}


def test_every_shipped_scenario_is_there() -> None:
    scripts = list(SHIPPED.glob("v[34]/*/script.json"))
    assert len(scripts) == 16
    assert {f"{path.parts[-3]}/{path.parts[-2]}" for path in scripts} <= NAMES


@pytest.mark.parametrize("name", ["v3/image", "v4/image", "v4/subagent"])
def test_the_scenarios_that_may_not_be_shipped_are_there(name: str) -> None:
    if not SHARED.is_dir():
        pytest.skip(f"{name} has prompts of others and is not shipped")
    assert name in NAMES


def test_all_kinds_of_events_are_there() -> None:
    added = [event for entry in RECORDED for event in _rewritten(entry)[1]]
    kinds = {event.type for event in added}
    assert kinds == {*PROJECTED, "user/message"}
    reasons = {event.data["reason"] for event in added if event.type == "request/header"}
    assert reasons == {"initial", "resume", "change", "series"}
