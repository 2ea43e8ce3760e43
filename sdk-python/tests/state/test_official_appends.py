"""Sequences of appends, and what the official library (0.2.1-rc.2, and 0.1.5-rc.1 for format 3) made of them.

Per sequence: the appends in order, whether each was accepted, and the state at the end. The session begins with one
`session/end-seed`, as every restored session does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsh_protocol.dialect import dialect
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.rows import EVENT_CLASSES
from dsh_protocol.rules import rule
from dsh_protocol.state import LogState, fold_surface

DATA = Path(__file__).parents[1] / "data" / "official_appends.json"
SEQUENCES: list[dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))
FIRST: dict[str, Any] = {"type": "session/end-seed", "seq": 0, "time": 1, "data": {}}


def replay(sequence: dict[str, Any]) -> tuple[LogState, list[bool], list[dict[str, Any]]]:
    """The state at the end, whether each append was accepted, and the accepted rows."""
    version = sequence["format"]
    make = EVENT_CLASSES[version].from_value
    state, rows, accepted = LogState(dialect(version), rules="session"), [FIRST], []
    state.apply(state.plan(make(FIRST)))
    for append in sequence["appends"]:
        row = {**append, "seq": state.next_seq, "time": 1}
        plan = state.plan(make(row))
        levels = {rule(found.rule).level for found in plan.findings if found.severity == "error"}
        assert not levels or "append" in levels, "an append looks at all that is wrong here"
        accepted.append(not plan.refused)
        if not plan.refused:
            state.apply(plan)
            rows.append(row)
    return state, accepted, rows


@pytest.mark.parametrize("sequence", SEQUENCES, ids=range(len(SEQUENCES)))
def test_the_same_appends_are_accepted_and_make_the_same_state(sequence: dict[str, Any]) -> None:
    state, accepted, rows = replay(sequence)
    assert accepted == sequence["accepted"]
    expected = sequence["state"]
    assert list(state.surface.nodes) == expected["nodes"]
    assert state.surface.replace_generation == expected["replaceGeneration"]
    assert dumps(list(state.surface.messages())) == dumps(expected["messages"])
    assert len(state.surface.messages()) == len(expected["messages"])
    assert dumps(state.headers.current()) == dumps(expected.get("requestHeader"))
    if sequence["format"] == 4:
        assert state.surface.content_generation == expected["contentGeneration"]
        assert dumps(state.tool_history.at()) == dumps(expected["toolHistory"])
    make = EVENT_CLASSES[sequence["format"]].from_value
    folded = fold_surface(map(make, rows), dialect(sequence["format"]))
    assert folded.to_json() == state.surface.to_json()


def test_the_sequences_accept_and_refuse() -> None:
    decisions = [accepted for sequence in SEQUENCES for accepted in sequence["accepted"]]
    assert len(decisions) > 400
    assert 0.2 < sum(decisions) / len(decisions) < 0.8
