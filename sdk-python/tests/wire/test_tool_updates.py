"""Tool changes on routes that read them and on others. Expected: what 0.2.1-rc.2 gives."""

from __future__ import annotations

from typing import Any

import pytest
from wire_builders import addition, developer, removal, schema, text, user

from dsh_protocol.wire._tool_updates import project_tool_updates

Json = dict[str, Any]

MODES = (None, "in-history", "addition-only")
A, B, C = schema("a"), schema("b"), schema("c")


def deferred(tool: Json) -> Json:
    return {**tool, "deferLoading": True}


def update(id_: str, *additions: Json) -> Json:
    return {"messageId": id_, "additions": list(additions)}


def history(*tools: Json, updates: list[Json]) -> Json:
    return {"tools": list(tools), "updates": updates}


X = user(text("x"))


def changes(messages: list[Json]) -> list[Any]:
    """What is left of the developer messages: (id, blocks)."""
    return [(m["id"], m["content"]) for m in messages if m["role"] == "developer"]


def test_without_a_mode_nothing_is_told() -> None:
    log = history(A, updates=[update("d", B)])
    found = project_tool_updates([X, developer(addition("b"))], [A, deferred(B)], None, log)
    assert found == ([X], [A, B])


@pytest.mark.parametrize("mode", MODES[1:])
@pytest.mark.parametrize(
    "log",
    [
        None,
        history(A, updates=[update("other", B)]),
        # The id of an update has to be that of a developer message.
        history(A, updates=[update("u")]),
    ],
)
def test_a_history_that_does_not_fit(mode: str, log: Json | None) -> None:
    messages = [X, developer(addition("b"))]
    assert project_tool_updates(messages, [A, deferred(B)], mode, log) == ([X], [A, deferred(B)])
    assert project_tool_updates(messages, None, mode, log) == ([X], None)


@pytest.mark.parametrize("mode", MODES[1:])
def test_addition(mode: str) -> None:
    message = developer(addition("b"))
    found = project_tool_updates([X, message], [A, B], mode, history(A, updates=[update("d", B)]))
    assert found == ([X, message], [A, deferred(B)])


def test_removal() -> None:
    messages = [X, developer(removal("b"))]
    log = history(A, B, updates=[update("d")])
    assert project_tool_updates(messages, [A], "in-history", log) == (messages, [A, B])
    assert project_tool_updates(messages, [A], "addition-only", log) == ([X], [A])


def test_a_baseline_tool_comes_back() -> None:
    messages = [developer(removal("b"), id_="d1"), X, developer(addition("b"), id_="d2")]
    log = history(A, B, updates=[update("d1"), update("d2", B)])
    assert project_tool_updates(messages, [A, B], "in-history", log) == (messages, [A, B])
    assert project_tool_updates(messages, [A, B], "addition-only", log) == ([X], [A, B])


def test_an_added_tool_goes_and_comes_back() -> None:
    messages = [
        developer(addition("b"), id_="d1"),
        X,
        developer(removal("b"), id_="d2"),
        developer(addition("b"), id_="d3"),
    ]
    log = history(A, updates=[update("d1", B), update("d2"), update("d3", B)])
    assert project_tool_updates(messages, [A, B], "in-history", log) == (messages, [A, deferred(B)])
    kept, declared = project_tool_updates(messages, [A, B], "addition-only", log)
    assert (kept, declared) == ([messages[0], X], [A, deferred(B)])


def test_an_added_tool_is_gone_at_the_end() -> None:
    messages = [
        developer(addition("b"), text("q"), addition("c"), id_="d1"),
        X,
        developer(removal("b")),
    ]
    log = history(A, updates=[update("d1", B, C), update("d")])
    kept, declared = project_tool_updates(messages, [A, C], "addition-only", log)
    assert changes(kept) == [("d1", [text("q"), addition("c")])]
    assert declared == [A, deferred(C)]


def test_first_declaration_of_a_name_stays() -> None:
    changed = {**A, "description": "Another."}
    log = history(A, updates=[update("d", changed, B)])
    messages = [developer(addition("a"), addition("b"))]
    kept, declared = project_tool_updates(messages, [changed, B], "in-history", log)
    assert changes(kept) == [("d", [addition("b")])]
    assert declared == [A, deferred(B)]


def test_a_deferred_baseline_tool_is_not_offered_yet() -> None:
    messages = [developer(removal("a"), addition("a"), addition("a"))]
    log = history(deferred(A), updates=[update("d")])
    kept, _ = project_tool_updates(messages, [A], "in-history", log)
    assert changes(kept) == [("d", [addition("a")])]


def test_messages_of_other_series_are_dropped() -> None:
    messages = [developer(addition("b"), id_="before"), X, developer(addition("b"), id_="d")]
    log = history(A, updates=[update("d", B)])
    kept, _ = project_tool_updates(messages, [A, B], "in-history", log)
    assert changes(kept) == [("d", [addition("b")])]


def test_messages_left_empty_are_dropped() -> None:
    messages = [X, developer(removal("zz")), developer(id_="e")]
    log = history(A, updates=[update("d"), update("e")])
    assert project_tool_updates(messages, [A], "in-history", log)[0] == [X]
