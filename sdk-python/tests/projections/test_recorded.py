"""The scripts of the recordings, driven through prompt assembly and the projections: their logs come out again.

The files that a script sets (section, context, variable, tools) steer the same contributions that the recorded plugin
made. Where other plugins contributed (the profile `sdk`, the tools of files), their recorded texts and tools are registered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import pytest
from attempts import PROJECTED, Given, Json, Rewriter, snapshot
from recorded import SHARED, SHIPPED

from _replay.scenario import (
    PROVIDER,
    Recording,
    Script,
    contributed,
    extra_tools,
    recordings,
)
from dsh_protocol.projections import (
    Attempt,
    PreparedCall,
    seed_config,
    with_defaults,
)
from dsh_protocol.prompt import (
    PromptService,
    render_context_sections,
    render_prompt,
)
from dsh_protocol.rows import Event
from dsh_protocol.session import Session, SessionOptions
from dsh_protocol.wire.routes import declared_route

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


def _contributions(recording: Recording) -> tuple[PromptService, dict[str, str]]:
    """What the plugins of a session contributed, and the files that steer it. The tools of others are as recorded."""
    files: dict[str, str] = {}
    service = contributed(recording, files)
    service.tools(lambda _: {"schemas": [SHELL, *_tools_of_others(recording)]})
    return service, files


def _tools_of_others(recording: Recording) -> list[Json]:
    headers = [e.data["header"] for e in recording.own if e.type == "request/header"]
    added = (tool["name"] for files in recording.script.files for tool in extra_tools(files))
    ours = {SHELL["name"], *added}
    return [tool for tool in headers[0].get("tools", []) if tool["name"] not in ours]


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


@cache
def _rewritten(entry: Recording) -> list[Event]:
    """The events that the projections wrote in the place of those of a recorded log."""
    log, script, attached = entry.log, entry.script, entry.attached
    service, files = _contributions(entry)
    session = Session(log.header, SessionOptions(level="append"))
    rewriter = Rewriter(session, log.events, attached)
    for span in _spans(log.events, attached[0]):
        files.update(script.at_turn(span.turn))
        rewriter.copy_up_to(span.pre)
        assembly = asyncio.run(service.assemble())
        memory = rewriter.loop.memory
        rewriter.copy_up_to(span.start)
        config = seed_config(entry.options(), session.request_header, memory)
        call = _prepared(script, log.header.version, config, assembly.tools)
        fresh = service.refresh_context(assembly)
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
    return rewriter.added


RECORDED = [
    entry
    for entry in recordings(SHARED if SHARED.is_dir() else SHIPPED)
    if isinstance(entry, Recording)
]
NAMES = {entry.scenario for entry in RECORDED}


@pytest.mark.parametrize("entry", RECORDED, ids=lambda entry: entry.name)
def test_the_log_comes_out_again(entry: Recording) -> None:
    log, added = entry.log, _rewritten(entry)
    # The comparison itself is the rewriter's; here: that nothing was left to copying.
    dialect = Session(log.header).dialect
    projected = [
        event.seq
        for event in entry.own
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
    added = [event for entry in RECORDED for event in _rewritten(entry)]
    kinds = {event.type for event in added}
    assert kinds == {*PROJECTED, "user/message"}
    reasons = {event.data["reason"] for event in added if event.type == "request/header"}
    assert reasons == {"initial", "resume", "change", "series"}
