"""Forks: the child's header, what it inherits, and what is refused.

The headers, events and codes are those of `SessionStore.fork` of the official library.
"""

from __future__ import annotations

from typing import Any

import pytest
from sessions import begin, call_tool, new_session, one_turn, stored

from dsh_protocol.check import check_log
from dsh_protocol.rows import open_log
from dsh_protocol.session import ForkError, Session, fork_seed

FORMATS = pytest.mark.parametrize("version", [3, 4])


def types(session: Session) -> list[str]:
    return [event.type for event in session.events]


@FORMATS
def test_the_header_of_a_child(version: int) -> None:
    parent = Session.create(
        version,
        id="s-1",
        cwd="/w",
        origin="subagent",
        delegation_depth=2,
        agent_preset="ptc",
        options=new_session().options,
    )
    child = parent.fork(id="c-1")
    assert child.header.logical == {
        "version": version,
        "id": "c-1",
        "createdAt": child.header.created_at,
        "cwd": "/w",
        "parentSession": "s-1",
        "isSeeded": True,
        "delegationDepth": 0,
    }
    assert [(event.type, event.data) for event in child.events] == [
        ("session/end-seed", {"inherited": True})
    ]
    assert child.inherited_event_count == 0


@FORMATS
def test_a_child_of_a_whole_session(version: int) -> None:
    parent = one_turn(version)
    child = parent.fork()
    assert types(child) == [*types(parent), "session/end-seed"]
    assert (child.inherited_event_count, child.first_new_seq) == (10, 0)
    assert list(child.messages()) == list(parent.messages())
    assert check_log(open_log(stored(child))).findings == ()
    assert [event.row_bytes() for event in child.events[:10]] == [
        event.row_bytes() for event in parent.events
    ]


def test_a_fork_inside_a_turn_ends_it_in_the_child() -> None:
    parent = new_session()
    begin(parent)
    call_tool(parent)
    child = parent.fork(id="c-1")
    assert types(child)[7:] == ["session/end-seed", "tool/result", "step/end", "turn/end"]
    assert {event.time for event in child.own_events()} == {parent.events[-1].time}
    assert child.events[-1].data == {"turn": 1, "reason": {"kind": "forked"}}
    assert child.events[8].data["message"]["id"] == "forked-tool-result-c1-8"
    assert (parent.open_turn, child.open_turn) == (1, None)
    assert check_log(open_log(stored(child))).findings == ()


def test_format_3_does_not_fork_inside_a_turn() -> None:
    parent = one_turn(3)
    with pytest.raises(ForkError) as caught:
        parent.fork(3)
    assert caught.value.code == "OPEN_TURN"
    assert [(f.rule, f.seq) for f in caught.value.findings] == [("fork/open-turn", 0)]
    assert types(parent.fork(9))[-1] == "session/end-seed"


@FORMATS
@pytest.mark.parametrize("boundary", [-1, 10, 0.5, True, "1"])
def test_a_boundary_is_the_number_of_an_event(version: int, boundary: Any) -> None:
    with pytest.raises(ForkError) as caught:
        one_turn(version).fork(boundary)
    assert caught.value.code == "INVALID_BOUNDARY"
    assert [f.rule for f in caught.value.findings] == ["fork/boundary"]


def test_an_empty_session_has_no_boundary() -> None:
    assert fork_seed([]) == []
    with pytest.raises(ForkError) as caught:
        new_session().fork(0)
    assert caught.value.code == "INVALID_BOUNDARY"


def test_a_grandchild_counts_what_it_inherits_by_the_last_marker() -> None:
    child = one_turn().fork()
    child.append("turn/start", {"turn": 2})
    grandchild = child.fork(id="g")
    assert grandchild.inherited_event_count == 12
    assert types(grandchild)[10:] == [
        "session/end-seed",
        "turn/start",
        "session/end-seed",
        "turn/end",
    ]
    assert check_log(open_log(stored(grandchild))).findings == ()
