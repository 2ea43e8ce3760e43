"""The state itself: planning has no effect, applying has all of it, and the ways through it agree."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import recorded
import synthetic

from dsh_protocol.dialect import dialect
from dsh_protocol.findings import RefusedError
from dsh_protocol.rows import Event, open_log
from dsh_protocol.rules import rules_off
from dsh_protocol.state import LogState, derive_messages, fold_surface

RECORDINGS = [entry.log for entry in recorded.recorded()]


def events(version: int = 4) -> list[Event]:
    return [Event.from_value(row) for row in synthetic.events(version)]


def snapshot(state: LogState) -> Any:
    """What a state answers to every question."""
    return copy.deepcopy(
        (
            state.next_seq,
            state.surface.to_json(),
            list(state.surface.messages()),
            state.headers.current(),
            state.context.current(),
            state.tool_history.at() if "developer/message" in state.dialect.event_types else None,
            state.inherited_event_count,
        )
    )


def test_a_recording_was_found() -> None:
    assert len(RECORDINGS) >= 16


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parts[-6]}-{path.parts[-5]}")
def test_all_ways_through_a_recorded_log_agree(path: Any) -> None:
    log = open_log(path)
    whole = LogState(log.dialect, log.header)
    assert whole.extend(log.events) == []
    assert whole.finish() == []
    stepwise = LogState(log.dialect, log.header)
    for event in log.events:
        plan = stepwise.plan(event)
        assert plan.findings == ()
        assert stepwise.plan(event) == plan
        stepwise.apply(plan)
    reading = LogState(log.dialect, log.header, rules="envelope")
    assert [found for event in log.events for found in reading.advance(event)] == []
    assert snapshot(whole) == snapshot(stepwise) == snapshot(reading)
    folded = fold_surface(log.events, log.dialect)
    assert folded.to_json() == whole.surface.to_json()
    assert list(derive_messages(log.events, log.dialect)) == list(whole.surface.messages())


def test_planning_a_refused_event_changes_nothing() -> None:
    state = LogState(dialect(4))
    state.extend(events()[:4])
    before = snapshot(state)
    plan = state.plan(Event.from_value({"type": "x/y", "seq": 4, "time": 1, "data": {}}))
    assert plan.refused
    with pytest.raises(RefusedError, match="refused") as caught:
        state.apply(plan)
    assert [found.rule for found in caught.value.findings] == ["envelope/unknown-type"]
    assert snapshot(state) == before
    state.apply(state.plan(events()[4]))
    assert state.next_seq == 5


def test_a_plan_is_for_one_state_only() -> None:
    state = LogState(dialect(4))
    first = events()[0]
    plan = state.plan(first)
    state.apply(plan)
    with pytest.raises(ValueError, match="has changed"):
        state.apply(plan)


def test_a_refused_event_takes_its_number_up() -> None:
    state = LogState(dialect(4))
    rows = synthetic.events()
    del rows[3]["surfaceOp"]
    found = state.extend(map(Event.from_value, rows))
    assert [(finding.rule, finding.seq) for finding in found] == [("surface/op-missing", 3)]
    assert list(state.surface.nodes) == [2, 5]
    assert state.next_seq == 8


def test_an_unknown_ignorable_event_is_kept_out_of_everything() -> None:
    state = LogState(dialect(4))
    row: dict[str, Any] = {
        "type": "plugin:x",
        "seq": 0,
        "time": 1,
        "data": None,
        "ignorable": True,
        "surfaceOp": "append",
        "sourceEventSeqs": [],
    }
    assert state.advance(Event.from_value(row)) == []
    assert len(state.surface.nodes) == 0
    assert state.next_seq == 1


def test_reading_does_not_look_at_payloads() -> None:
    rows = synthetic.events()
    rows[3]["data"] = {"role": "nobody"}
    rows[5]["data"] = 5
    log = open_log(synthetic.log_bytes(rows))
    reading = LogState(log.dialect, log.header, rules="envelope")
    assert reading.extend(log.events) == []
    assert list(reading.surface.nodes) == [2, 3, 5]
    with pytest.raises(RefusedError) as caught:
        list(reading.surface.messages())
    assert [found.rule for found in caught.value.findings] == ["envelope/data-object"]
    checking = LogState(log.dialect, log.header)
    assert {found.seq for found in checking.extend(log.events)} == {3, 5}


def test_a_header_that_makes_no_sense_is_refused_when_it_is_asked_for() -> None:
    rows = synthetic.events()
    rows[4]["data"] = {"reason": "initial"}
    log = open_log(synthetic.log_bytes(rows))
    state = LogState(log.dialect, log.header, rules="envelope")
    assert state.extend(log.events) == []
    for question in (state.headers.current, state.tool_history.at):
        with pytest.raises(RefusedError) as caught:
            question()
        assert [found.rule for found in caught.value.findings] == ["request/header-object"]


def test_a_rule_that_is_off_refuses_nothing() -> None:
    rows = synthetic.events()
    del rows[3]["surfaceOp"]
    with rules_off("surface/op-missing"):
        state = LogState(dialect(4))
        assert state.extend(map(Event.from_value, rows)) == []
    assert list(state.surface.nodes) == [2, 5]


def test_folding_refuses_what_makes_no_surface() -> None:
    rows = [*synthetic.events(), synthetic.replacement(8, 2, 3, [2, 3])]
    with pytest.raises(RefusedError) as caught:
        fold_surface(map(Event.from_value, rows), dialect(4))
    assert [found.rule for found in caught.value.findings] == ["surface/head-protected"]


def test_the_cut_is_the_last_inherited_marker() -> None:
    markers = [{"inherited": True}, {}, {"inherited": True}, {}]
    rows = [synthetic.event(seq, "session/end-seed", data) for seq, data in enumerate(markers)]
    log = open_log(synthetic.log_bytes(rows, isSeeded=True, parentSession="p"))
    state = LogState(log.dialect, log.header)
    assert state.extend(log.events) == []
    assert state.finish() == []
    assert state.inherited_event_count == 2
