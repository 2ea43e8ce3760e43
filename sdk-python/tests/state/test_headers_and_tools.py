"""Headers in force, and what the model was told about its tools at each moment."""

from __future__ import annotations

from typing import Any

import pytest
import synthetic

from dsh_protocol.dialect import dialect
from dsh_protocol.findings import RefusedError
from dsh_protocol.rows import Event
from dsh_protocol.state import LogState, fold_header, header_equals, tool_history

Row = dict[str, Any]
CONFIG = {"provider": "p", "model": "m"}


def tool(name: str, **more: Any) -> Row:
    return {"name": name, "description": name, "parameters": {"type": "object"}, **more}


def header(seq: int, names: str, reason: str = "change", **more: Any) -> Row:
    listed = [tool(name) for name in names]
    value = {"config": CONFIG, **({"tools": listed} if listed else {})}
    return synthetic.event(seq, "request/header", {"header": value, "reason": reason, **more})


def change(seq: int, *, add: str = "", remove: str = "", of: int | None = None) -> Row:
    blocks = [{"type": "tool-addition", "toolName": name} for name in add]
    blocks += [{"type": "tool-removal", "toolName": name} for name in remove]
    source = {"kind": "tool-registry"}
    message = {"id": f"d-{seq}", "role": "developer", "source": source, "content": blocks}
    data: Row = {"turn": 1, "step": 1, "message": message}
    if of is not None:
        data["headerSeq"] = of
    return synthetic.event(seq, "developer/message", data, surfaceOp="append")


def state_of(rows: list[Row]) -> LogState:
    state = LogState(dialect(4), rules="session")
    assert state.extend(map(Event.from_value, rows)) == []
    return state


ROWS = [
    header(0, "ab", "initial"),
    header(1, "abc"),
    change(2, add="c", of=1),
    header(3, "bc"),
    change(4, remove="a"),
    header(5, "bc", "series"),
]


def test_the_history_at_each_moment() -> None:
    """Expected: the fold of reference section 9, done by hand."""
    history = state_of(ROWS).tool_history
    a, b, c = tool("a"), tool("b"), tool("c")
    added = {"messageId": "d-2", "additions": [c]}
    removed = {"messageId": "d-4", "additions": []}
    assert [history.at(moment) for moment in range(len(history) + 1)] == [
        {"tools": [], "updates": []},
        {"tools": [a, b], "updates": []},
        # The header names c, but the model was not told yet.
        {"tools": [a, b, c], "updates": []},
        {"tools": [a, b], "updates": [added]},
        # The header no longer names a, but the model was not told yet.
        {"tools": [b, c], "updates": []},
        {"tools": [a, b], "updates": [added, removed]},
        {"tools": [b, c], "updates": []},
    ]
    assert tool_history(map(Event.from_value, ROWS)) == history.at()


def test_asking_for_an_early_moment_later_gives_the_same() -> None:
    history = state_of(ROWS).tool_history
    late = history.at()
    assert history.at(3)["updates"] == [{"messageId": "d-2", "additions": [tool("c")]}]
    assert history.at() == late


@pytest.mark.parametrize(
    ("more", "restarts"),
    [
        ({}, False),
        ({"startsSeries": True}, True),
    ],
)
def test_a_series_starts_the_history_anew(more: Row, restarts: bool) -> None:
    rows = [header(0, "a", "initial"), header(1, "ab"), change(2, add="b", of=1)]
    rows.append(header(3, "ab", "change", **more))
    history = state_of(rows).tool_history.at()
    assert (history["updates"] == []) is restarts


def test_a_tool_that_changed_starts_the_history_anew() -> None:
    rows = [header(0, "a", "initial"), header(1, "ab"), change(2, add="b", of=1)]
    changed = header(3, "ab")
    changed["data"]["header"]["tools"][0]["description"] = "other"
    history = state_of([*rows, changed]).tool_history.at()
    assert history == {"tools": [tool("a", description="other"), tool("b")], "updates": []}


def test_an_addition_without_a_definition_is_refused() -> None:
    rows = [header(0, "a", "initial"), change(1, add="z", of=0)]
    with pytest.raises(RefusedError) as caught:
        tool_history(map(Event.from_value, rows))
    (found,) = caught.value.findings
    assert (found.rule, found.seq, found.path) == (
        "developer/addition-declared",
        1,
        "/data/message/content/0",
    )


def test_the_header_in_force_is_the_last_one() -> None:
    events = [Event.from_value(row) for row in ROWS]
    assert fold_header(events[:2]) == {"config": CONFIG, "tools": [tool(n) for n in "abc"]}
    assert fold_header([]) is None
    before = fold_header(events)
    assert fold_header([events[2]], before) is before
    state = state_of(ROWS)
    assert state.headers.current() == before
    assert state.headers.current() is state.headers.current()
    assert sorted(state.headers.by_seq) == [0, 1, 3, 5]


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ({"config": CONFIG}, {"config": {"model": "m", "provider": "p"}}, True),
        ({"config": CONFIG}, {"config": {**CONFIG, "other": 1}}, True),
        ({"config": CONFIG}, {"config": {**CONFIG, "stop": []}}, False),
        (
            {"config": {**CONFIG, "stop": ["a", "b"]}},
            {"config": {**CONFIG, "stop": ["b", "a"]}},
            False,
        ),
        ({"config": {**CONFIG, "maxTokens": 1}}, {"config": {**CONFIG, "maxTokens": True}}, False),
        ({"config": CONFIG}, {"config": CONFIG, "adapterDefaults": {"maxTokens": True}}, False),
        (
            {"config": CONFIG, "tools": [{"name": "a", "x": 1}]},
            {"config": CONFIG, "tools": [{"x": 1, "name": "a"}]},
            False,
        ),
    ],
)
def test_what_counts_as_the_same_header(left: Row, right: Row, equal: bool) -> None:
    """Expected: reference section 9, each row also answered so by the official library."""
    assert header_equals(left, right) is equal
    assert header_equals(right, left) is equal
