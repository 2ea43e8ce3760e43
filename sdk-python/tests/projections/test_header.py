"""The header, the tool changes and the route that a request logs, by the tables of the releases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sessions import CONFIG, new_session

from dsh_protocol.dialect import dialect
from dsh_protocol.projections import (
    Attempt,
    CallOptions,
    HeaderDecision,
    LogFacts,
    PreparedCall,
    RequestProjections,
    SeriesMemory,
    decide_header,
    seed_config,
    series_generation,
    tools_changed,
    with_defaults,
)

Json = dict[str, Any]
FORMATS = pytest.mark.parametrize("version", [3, 4])
HEADER = {"config": CONFIG}


def tool(name: str, description: str = "d") -> Json:
    return {"name": name, "description": description, "parameters": {"type": "object"}}


def decide(
    version: int = 4,
    call: PreparedCall | None = None,
    *,
    before: Json | None = None,
    logged: bool = True,
    moved: bool = False,
    requested: bool = False,
    context: Json | None = None,
) -> HeaderDecision:
    return decide_header(
        call or PreparedCall(config=CONFIG),
        LogFacts(generation=int(moved), header=before, context=context),
        SeriesMemory(0, header_logged=logged),
        dialect(version),
        starts_request_series=requested,
    )


# ---- request/header --------------------------------------------------------------------------------

STARTS = pytest.mark.parametrize("start", ["moved", "requested"])


@FORMATS
@pytest.mark.parametrize(("before", "reason"), [(None, "initial"), (HEADER, "resume")])
def test_the_first_header_of_a_loop(version: int, before: Json | None, reason: str) -> None:
    decision = decide(version, before=before, logged=False)
    assert decision.header == {"header": HEADER, "reason": reason}


@FORMATS
@STARTS
@pytest.mark.parametrize(("before", "reason"), [(None, "initial"), (HEADER, "resume")])
def test_the_first_header_says_that_it_starts_a_series_since_format_4(
    version: int, start: str, before: Json | None, reason: str
) -> None:
    decision = decide(version, before=before, logged=False, **{start: True})  # type: ignore[arg-type]
    says = {"startsSeries": True} if version == 4 else {}
    assert decision.header == {"header": HEADER, "reason": reason, **says}


@FORMATS
@STARTS
def test_a_changed_header(version: int, start: str) -> None:
    call = PreparedCall(config={**CONFIG, "maxTokens": 5})
    changed = {"header": {"config": call.config}, "reason": "change"}
    assert decide(version, call, before=HEADER).header == changed
    decision = decide(version, call, before=HEADER, **{start: True})  # type: ignore[arg-type]
    assert decision.header == {**changed, "startsSeries": True}
    assert decision.reason == "change"


@FORMATS
@STARTS
def test_an_equal_header_is_logged_for_a_new_series_only(version: int, start: str) -> None:
    decision = decide(version, before=HEADER)
    assert decision.header is None
    assert decision.reason is None
    decision = decide(version, before=HEADER, **{start: True})  # type: ignore[arg-type]
    assert decision.header == {"header": HEADER, "reason": "series"}


def test_the_memory_moves_on_in_any_case() -> None:
    assert decide(before=HEADER, moved=True).memory == SeriesMemory(1, header_logged=True)
    assert decide(logged=False).memory == SeriesMemory(0, header_logged=True)


@pytest.mark.parametrize(
    "other",
    [
        {"config": {**CONFIG, "model": "n"}},
        {"config": {**CONFIG, "provider": "q"}},
        {"config": {**CONFIG, "temperature": 0.5}},
        {"config": {**CONFIG, "reasoningEffort": "high"}},
        {"config": {**CONFIG, "stop": ["x"]}},
        {"config": CONFIG, "tools": [tool("a")]},
        {"config": CONFIG, "tools": [tool("b"), tool("a")]},
        {"config": CONFIG, "tools": [{"description": "d", **tool("a")}, tool("b")]},
    ],
)
def test_what_makes_a_header_another_one(other: Json) -> None:
    tools = [tool("a"), tool("b")] if "tools" in other else []
    decision = decide(call=PreparedCall(config=CONFIG, tools=tools), before=other)
    assert decision.reason == "change"


def test_what_does_not() -> None:
    call = PreparedCall(
        config={"model": "m", "provider": "p"}, context_window=5, system_prompt_update="in-history"
    )
    assert decide(call=call, before=HEADER).header is None
    call = PreparedCall(config={**CONFIG, "unknown": 1}, adapter_defaults={"maxTokens": False})
    assert decide(call=call, before=HEADER).header is None


def test_a_header_is_canonical() -> None:
    config = {**CONFIG, "maxTokens": 5}
    call = PreparedCall(config=config, tools=[tool("a")], adapter_defaults={"maxTokens": True})
    decision = decide(call=call, logged=False)
    assert decision.header is not None
    header = decision.header["header"]
    assert list(header) == ["config", "adapterDefaults", "tools"]
    flags = {"maxTokens": True}
    assert header == {"config": config, "adapterDefaults": flags, "tools": [tool("a")]}
    assert PreparedCall(config=config, adapter_defaults={}).header == {"config": config}


# ---- Tool changes ----------------------------------------------------------------------------------


def changes(before: Json | None, *names: str, **facts: Any) -> tuple[Any, Any]:
    call = PreparedCall(config=CONFIG, tools=[tool(name) for name in names])
    decision = decide(call=call, before=before, **facts)
    return decision.added, decision.removed


AB: Json = {"config": CONFIG, "tools": [tool("b"), tool("a")]}


@pytest.mark.parametrize("logged", [True, False])
def test_additions_in_the_new_order_and_removals_in_the_old(logged: bool) -> None:
    assert changes(AB, "d", "a", "c", logged=logged) == (("d", "c"), ("b",))
    assert changes(AB, logged=logged) == ((), ("b", "a"))
    assert changes(HEADER, "a", logged=logged) == (("a",), ())
    assert changes(AB, "a", "b", logged=logged) == ((), ())


def test_a_first_header_and_a_new_series_tell_no_changes() -> None:
    assert changes(None, "a", logged=False) == ((), ())
    call = PreparedCall(config=CONFIG, tools=AB["tools"])
    decision = decide(call=call, before=AB, moved=True)
    assert decision.reason == "series"
    assert (decision.added, decision.removed) == ((), ())


def test_another_definition_of_a_name_is_no_change_of_tools() -> None:
    call = PreparedCall(config=CONFIG, tools=[tool("b", "other"), tool("a")])
    decision = decide(call=call, before=AB)
    assert decision.reason == "change"
    assert (decision.added, decision.removed) == ((), ())


def test_format_3_tells_no_changes() -> None:
    call = PreparedCall(config=CONFIG, tools=[tool("a")])
    decision = decide(3, call, before=HEADER)
    assert decision.reason == "change"
    assert (decision.added, decision.removed) == ((), ())


def test_a_developer_message_names_its_header_when_it_adds() -> None:
    session = new_session()
    loop = RequestProjections(session)
    session.append("turn/start", {"turn": 1})
    session.append("step/start", {"turn": 1, "step": 1})
    call = PreparedCall(config=CONFIG, tools=[tool("a")])
    loop.admit(Attempt(call=call, rendered=""))
    added = loop.admit(Attempt(call=replace(call, tools=[tool("b")]), rendered="", is_first=False))
    header, developer = added
    assert developer.data["headerSeq"] == header.seq
    assert developer.data["message"]["content"] == [
        {"type": "tool-addition", "toolName": "b"},
        {"type": "tool-removal", "toolName": "a"},
    ]
    assert list(developer.data) == ["turn", "step", "message", "headerSeq"]
    _, developer = loop.admit(Attempt(call=replace(call, tools=[]), rendered="", is_first=False))
    assert list(developer.data) == ["turn", "step", "message"]
    loop.close()


# ---- request/context -------------------------------------------------------------------------------

FULL = PreparedCall(config=CONFIG, context_window=1000, system_prompt_update="in-history")
ROUTE = {**CONFIG, "contextWindow": 1000, "systemPromptUpdate": "in-history"}


@FORMATS
def test_a_route_is_logged_when_it_differs(version: int) -> None:
    assert decide(version, FULL).route == ROUTE
    assert decide(version).route == CONFIG
    assert decide(version, FULL, context=ROUTE).route is None
    for call in (
        replace(FULL, config={**CONFIG, "model": "n"}),
        replace(FULL, config={**CONFIG, "provider": "n"}),
        replace(FULL, context_window=None),
        replace(FULL, system_prompt_update=None),
    ):
        assert decide(version, call, context=ROUTE).route == call.route
    # Other members of the configuration are no part of it, nor is how tools are updated.
    same = replace(FULL, config={**CONFIG, "maxTokens": 5}, tool_update="in-history")
    assert decide(version, same, context=ROUTE).route is None


# ---- Series ----------------------------------------------------------------------------------------


@FORMATS
def test_changed_tools_start_a_series_for_the_prompt_only(version: int) -> None:
    facts = LogFacts(0, AB, None)
    memory = SeriesMemory(0, header_logged=True)
    words = dialect(version)
    changed = PreparedCall(config=CONFIG, tools=[tool("a")])
    told = replace(changed, tool_update="addition-only")
    same = PreparedCall(config={**CONFIG, "model": "n"}, tools=AB["tools"])
    assert memory.prompt_starts_series(facts, changed, False, words)
    assert memory.prompt_starts_series(facts, told, False, words) == (version == 3)
    assert not memory.prompt_starts_series(facts, same, False, words)
    assert memory.prompt_starts_series(facts, same, True, words)
    assert memory.prompt_starts_series(replace(facts, generation=1), told, False, words)
    assert not memory.starts_series(facts, False)


def test_before_the_first_header_no_tools_have_changed() -> None:
    assert not tools_changed(None, [tool("a")])
    assert not tools_changed(HEADER, [])
    assert tools_changed(HEADER, [tool("a")])
    assert tools_changed(AB, [tool("a"), tool("b")])


@FORMATS
def test_an_offload_of_images_moves_the_generation_of_format_4(version: int) -> None:
    image = {"attachmentId": "sha256:" + "0" * 64, "mediaType": "image/png", "bytes": 1}
    block = {"type": "image", "attachment": {**image, "width": 1, "height": 1}}
    session = new_session(version, level="append")
    words = session.dialect
    seq = session.append_message(session.make.user_message([block])).seq
    memory = SeriesMemory.attach(session)
    assert memory == SeriesMemory(0)
    if version == 4:
        targets = [{"seq": seq, "imageIndexes": [0]}]
        session.append("image/offload", {"targets": targets})
        assert series_generation(session.surface, words) == 1
        assert memory.starts_series(LogFacts.of(session), False)
    session.append(
        "user/message",
        session.make.user_message("sum"),
        surface_op={"op": "replace", "startSeq": seq, "endSeq": seq},
        source_event_seqs=[seq],
    )
    assert series_generation(session.surface, words) == (2 if version == 4 else 1)
    assert SeriesMemory.attach(session).generation == (2 if version == 4 else 1)


# ---- Configuration ---------------------------------------------------------------------------------


def test_the_first_configuration_is_that_of_the_options() -> None:
    memory = SeriesMemory(0)
    assert seed_config(CallOptions(), None, memory) == {"provider": "", "model": ""}
    options = CallOptions(provider="p", model="m", reasoning_effort="low", max_tokens=5)
    config = seed_config(options, None, memory)
    assert list(config.items()) == [
        ("provider", "p"),
        ("model", "m"),
        ("reasoningEffort", "low"),
        ("maxTokens", 5),
    ]


def test_later_configurations_leave_out_what_adapters_filled_in() -> None:
    config = {**CONFIG, "temperature": 1, "maxTokens": 5, "reasoningEffort": "high"}
    header = {"config": config, "adapterDefaults": {"maxTokens": True}}
    later = SeriesMemory(0, header_logged=True)
    kept = {**CONFIG, "temperature": 1, "reasoningEffort": "high"}
    assert seed_config(CallOptions(provider="x"), header, later) == kept


def test_defaults_come_last_and_are_flagged() -> None:
    config, flags = with_defaults(CONFIG, max_tokens=5, reasoning_effort="high")
    assert list(config) == ["provider", "model", "maxTokens", "reasoningEffort"]
    assert config == {**CONFIG, "maxTokens": 5, "reasoningEffort": "high"}
    assert list(flags) == ["reasoningEffort", "maxTokens"]
    given = {**CONFIG, "reasoningEffort": "low"}
    assert with_defaults(given, max_tokens=5, reasoning_effort="high") == (
        {**given, "maxTokens": 5},
        {"maxTokens": True},
    )
    assert with_defaults(CONFIG) == (CONFIG, {})
