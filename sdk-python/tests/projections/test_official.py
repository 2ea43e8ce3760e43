"""What the step function of the releases wrote, given a call that an adapter had prepared: random sessions of many attempts.

Format 4 comes from 0.2.1-rc.2, format 3 from 0.1.5-rc.1. Prompts, contexts, tools, routes and configurations change between
attempts; ranges of the surface are replaced, prompts and contexts of others stand there, attempts are retried, loops
restarted. Events have neither times nor numbers, ids of messages are short, and streams are empty.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from attempts import Given, Json, Rewriter, snapshot

from dsh_protocol.projections import (
    Attempt,
    CallOptions,
    PreparedCall,
    SeriesMemory,
    seed_config,
)
from dsh_protocol.rows import EVENT_CLASSES, Event
from dsh_protocol.session import Session, SessionOptions

DATA = Path(__file__).parents[1] / "data"
SESSIONS: list[Json] = json.loads((DATA / "official_attempts.json").read_text())
CONFIGS: list[Json] = json.loads((DATA / "official_seed_configs.json").read_text())


def _events(entry: Json) -> list[Event]:
    make = EVENT_CLASSES[entry["format"]].from_value
    return [make(_row(seq, *row)) for seq, row in enumerate(entry["events"])]


def _row(seq: int, type_: str, data: Json, *surface: object) -> Json:
    row = {"type": type_, "seq": seq, "time": 1, "data": data}
    names = ("surfaceOp", "sourceEventSeqs")
    return {**row, **dict(zip(names, surface, strict=False))}


def _given(entry: Json) -> Iterator[Given]:
    for each in entry["attempts"]:
        route = each.get("route", {})
        entered = each.get("sections", [])
        sections = each.get("renewed", entered)
        attempt = Attempt(
            call=PreparedCall(
                config=each["config"],
                tools=each.get("tools", []),
                adapter_defaults=each.get("adapterDefaults", {}),
                context_window=route.get("contextWindow"),
                system_prompt_update=route.get("systemPromptUpdate"),
                tool_update=route.get("toolUpdate"),
            ),
            rendered=each["rendered"],
            snapshot=snapshot(sections),
            sections=sections,
            is_first=each.get("first", True),
            starts_request_series=each.get("startsRequestSeries", False),
        )
        place = (each["from"], each["to"], each["pre"])
        yield Given(*place, attempt, entered, each.get("contextAt"))


@pytest.mark.parametrize("entry", SESSIONS, ids=range(len(SESSIONS)))
def test_every_attempt_writes_what_the_release_wrote(entry: Json) -> None:
    options = SessionOptions(level="append", clock=lambda: 1)
    session = Session.create(entry["format"], id="s-1", options=options)
    events = _events(entry)
    rewriter = Rewriter(session, events, entry["attached"])
    for given in _given(entry):
        rewriter.admit(given)
    rewriter.copy_up_to(len(events))
    assert list(session.surface.nodes) == entry["nodes"]


def test_the_sessions_have_everything() -> None:
    kinds: Counter[str] = Counter()
    for entry in SESSIONS:
        kinds["restart"] += len(entry["attached"]) > 1
        kinds["retry"] += sum(not each.get("first", True) for each in entry["attempts"])
        for type_, data, *surface in entry["events"]:
            replaces = bool(surface) and isinstance(surface[0], dict)
            kinds[f"{type_}{' replaces' if replaces else ''}"] += 1
            if type_ == "request/header":
                kinds[data["reason"]] += 1
                kinds[f"{data['reason']} starts"] += "startsSeries" in data
    expected = (
        *("restart", "retry", "initial", "resume", "change", "series", "initial starts"),
        *("resume starts", "change starts", "system/message", "system/message replaces"),
        *("user/message replaces", "developer/message", "request/context", "image/offload"),
    )
    assert not [name for name in expected if not kinds[name]]
    assert {entry["format"] for entry in SESSIONS} == {3, 4}


@pytest.mark.parametrize("case", CONFIGS, ids=range(len(CONFIGS)))
def test_the_configuration_that_a_request_starts_from(case: Json) -> None:
    given = case["options"]
    options = CallOptions(
        provider=given.get("provider", ""),
        model=given.get("model", ""),
        reasoning_effort=given.get("reasoningEffort"),
        max_tokens=given.get("maxTokens"),
    )
    memory = SeriesMemory(0, header_logged=case["logged"])
    assert json.dumps(seed_config(options, case["header"], memory)) == json.dumps(case["config"])
