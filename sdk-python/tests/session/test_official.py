"""What the official library answered: appends to a live session, closers of interrupted turns, and fork seeds.

Format 4 comes from 0.2.1-rc.2, format 3 from 0.1.5-rc.1. The events of the last two make no valid logs; the functions that were
asked do not mind.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dsh_protocol.findings import RefusedError
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.rows import EVENT_CLASSES, Event
from dsh_protocol.session import Session, SessionOptions, fork_seed, repair

Json = dict[str, Any]

DATA = Path(__file__).parents[1] / "data"
APPENDS: list[Json] = json.loads((DATA / "official_live_appends.json").read_text())
CLOSERS: list[Json] = json.loads((DATA / "official_closers.json").read_text())


def _takes(session: Session, append: Json) -> bool:
    type_, data = append["type"], append["data"]
    more: Json = {
        "surface_op": append.get("surfaceOp"),
        "source_event_seqs": append.get("sourceEventSeqs"),
    }
    findings = session.check_append(type_, data, **more)
    if not any(found.severity == "error" for found in findings):
        session.append(type_, data, **more)
        return True
    with pytest.raises(RefusedError) as caught:
        session.append(type_, data, **more)
    assert list(caught.value.findings) == findings
    return False


@pytest.mark.parametrize("sequence", APPENDS, ids=range(len(APPENDS)))
def test_the_level_append_is_the_released_append(sequence: Json) -> None:
    session = Session.create(
        sequence["format"], id="s-1", options=SessionOptions(level="append", clock=lambda: 1)
    )
    assert [_takes(session, append) for append in sequence["appends"]] == sequence["accepted"]
    surface = session.surface.to_json()
    assert surface["nodes"] == sequence["nodes"]
    assert surface["replaceGeneration"] == sequence["replaceGeneration"]
    if "contentGeneration" in sequence:
        assert surface["contentGeneration"] == sequence["contentGeneration"]


@pytest.mark.parametrize("sequence", APPENDS, ids=range(len(APPENDS)))
def test_the_level_log_takes_nothing_that_the_released_append_refuses(sequence: Json) -> None:
    strict = Session.create(sequence["format"], id="s-1", options=SessionOptions(clock=lambda: 1))
    loose = Session.create(
        sequence["format"], id="s-1", options=SessionOptions(level="append", clock=lambda: 1)
    )
    for append in sequence["appends"]:
        if _takes(strict, append):
            assert _takes(loose, append)


def test_the_sequences_accept_and_refuse() -> None:
    decisions = [accepted for sequence in APPENDS for accepted in sequence["accepted"]]
    assert len(decisions) > 900
    assert 0.2 < sum(decisions) / len(decisions) < 0.8


def _events(entry: Json) -> list[Event]:
    return [EVENT_CLASSES[entry["format"]].from_value(row) for row in entry["events"]]


def _text(events: list[Event]) -> str:
    return dumps([event.value for event in events])


@pytest.mark.parametrize("entry", CLOSERS, ids=range(len(CLOSERS)))
def test_closers_of_an_interrupted_turn(entry: Json) -> None:
    events = _events(entry)
    assert _text(repair(events)) == dumps(entry["closers"])
    assert _text(events) == dumps(entry["events"])


@pytest.mark.parametrize(
    "entry", [entry for entry in CLOSERS if "forked" in entry], ids=lambda entry: entry["boundary"]
)
def test_what_a_fork_adds(entry: Json) -> None:
    events, boundary = _events(entry), entry["boundary"]
    seed = fork_seed(events, boundary)
    assert seed[: boundary + 1] == events[: boundary + 1]
    assert _text(seed[boundary + 1 :]) == dumps(entry["forked"])


def test_the_closers_are_of_every_kind() -> None:
    assert sum(1 for entry in CLOSERS if entry["closers"]) > 60
    assert sum(1 for entry in CLOSERS if len(entry.get("forked", [])) > 1) > 30
    text = json.dumps(CLOSERS)
    for code in ("TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED", '"interrupted"', '"forked"'):
        assert text.count(code) > 10, code
