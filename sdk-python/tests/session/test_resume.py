"""Opening a stored log to go on with it, and ending what was interrupted."""

from __future__ import annotations

import pytest
import synthetic
from recorded import recorded
from sessions import begin, call_tool, new_session, one_turn, options, stored

from dsh_protocol.check import check_log
from dsh_protocol.findings import RefusedError
from dsh_protocol.rows import Event, ReadLimits, open_log
from dsh_protocol.session import Session, end_interruption, repair
from dsh_protocol.state import inherited_event_count

FORMATS = pytest.mark.parametrize("version", [3, 4])
RECORDED = recorded()


def replay(log_events: list[Event], session: Session) -> None:
    for event in log_events:
        session.append(
            event.type,
            event.data,
            surface_op=event.surface_op,
            source_event_seqs=event.source_event_seqs,
            ignorable=event.ignorable,
            time=event.time,
        )


@pytest.mark.parametrize("entry", RECORDED, ids=lambda entry: entry.name)
def test_a_recorded_log_can_be_written_again_byte_for_byte(entry: object) -> None:
    log = open_log(entry.log)  # type: ignore[attr-defined]
    # What was inherited is no append: it may have marks of the parent's that only an heir can have.
    inherited = inherited_event_count(log.events) + 1 if log.header.is_seeded else 0
    rows = [log.header.raw, *(event.raw for event in log.events[:inherited])]
    session = Session.open(open_log(b"".join(row + b"\n" for row in rows)), options=options())
    replay(log.events[inherited:], session)
    for written, recorded_event in zip(session.events, log.events, strict=True):
        if written.row_bytes() != recorded_event.raw:
            # Results that a restart writes have the surfaceOp in front of the cited events.
            assert recorded_event.data["message"]["id"].startswith("interrupted-tool-result-")
            assert written.value == recorded_event.value


@pytest.mark.parametrize("entry", RECORDED, ids=lambda entry: entry.name)
def test_a_recorded_log_can_be_opened_and_resumed(entry: object) -> None:
    log = open_log(entry.log)  # type: ignore[attr-defined]
    session = Session.open(log)
    assert (session.first_new_seq, session.next_seq) == (len(log.events), len(log.events))
    resumed = Session.resume(log, options=options())
    added = resumed.events_between(resumed.first_new_seq, resumed.next_seq)
    assert [event.type for event in added][-1:] in (["session/end-seed"], [])
    assert check_log(open_log(stored(resumed))).errors == 0


@FORMATS
def test_a_resumed_session_is_ready_for_the_next_turn(version: int) -> None:
    session = new_session(version)
    begin(session)
    call_tool(session)
    resumed = Session.resume(open_log(stored(session)), options=options())
    added = resumed.events_between(resumed.first_new_seq, resumed.next_seq)
    assert [event.type for event in added] == [
        "tool/result",
        "step/end",
        "turn/end",
        "session/end-seed",
    ]
    assert [event.time for event in added[:3]] == [session.events[-1].time] * 3
    resumed.append("turn/start", {"turn": 2})
    assert check_log(open_log(stored(resumed))).findings == ()


@FORMATS
def test_resuming_marks_the_place_once(version: int) -> None:
    session = one_turn(version)
    once = Session.resume(open_log(stored(session)))
    assert once.events[-1].type == "session/end-seed"
    twice = Session.resume(open_log(stored(once)))
    assert twice.next_seq == once.next_seq == twice.first_new_seq
    empty = Session.resume(open_log(stored(new_session(version))))
    assert [event.type for event in empty.events] == ["session/end-seed"]


def test_nothing_is_added_to_a_log_that_is_opened() -> None:
    session = new_session()
    begin(session)
    opened = Session.open(open_log(stored(session)))
    assert stored(opened) == stored(session)
    assert opened.open_turn == 1


def test_a_torn_end_is_left_out() -> None:
    data = stored(one_turn())
    opened = Session.open(open_log(data + b'{"type":"turn/start"'))
    assert stored(opened) == data


def test_a_log_that_cannot_be_continued_is_not_opened() -> None:
    rows = synthetic.events()
    rows[4]["data"]["header"]["config"] = {"model": "m"}
    log = open_log(synthetic.log_bytes(rows))
    with pytest.raises(RefusedError) as caught:
        Session.open(log)
    assert [found.rule for found in caught.value.findings] == ["request/config"]
    assert Session.open(log, options=options(level="append")).next_seq == 8
    rows[4]["data"]["header"] = {"system": "x"}
    for level in ("log", "append"):
        with pytest.raises(RefusedError):
            Session.open(open_log(synthetic.log_bytes(rows)), options=options(level=level))


@FORMATS
def test_repair_changes_nothing_and_is_done_once(version: int) -> None:
    session = new_session(version)
    begin(session)
    closers = repair(session.events)
    assert [event.type for event in closers] == ["step/end", "turn/end"]
    assert [event.seq for event in closers] == [5, 6]
    assert repair([*session.events, *closers]) == []
    assert repair(one_turn(version).events) == []
    assert repair([]) == []


def test_a_turn_without_a_number_cannot_be_ended() -> None:
    rows = synthetic.events(3)
    rows[0]["data"] = {}
    events = open_log(synthetic.log_bytes(rows[:5], version=3)).events
    with pytest.raises(RefusedError) as caught:
        repair(events)
    assert [(found.rule, found.seq) for found in caught.value.findings] == [("schema/payload", 0)]


def test_an_open_compaction_is_ended_before_its_turn() -> None:
    session = new_session()
    begin(session)
    session.append("compaction/start", {"compactionId": "k", "turn": 1})
    added = end_interruption(session.events)
    assert [event.type for event in added] == ["compaction/end", "step/end", "turn/end"]
    assert added[0].data == {
        "compactionId": "k",
        "turn": 1,
        "error": "The compaction was interrupted.",
    }
    assert [event.type for event in repair(session.events)] == ["step/end", "turn/end"]
    resumed = Session.resume(open_log(stored(session)))
    assert [event.type for event in resumed.events[6:]] == [
        "step/end",
        "turn/end",
        "session/end-seed",
    ]


@FORMATS
@pytest.mark.parametrize("long", [3, 7])
def test_a_log_with_a_row_that_was_not_read_is_not_continued(version: int, long: int) -> None:
    """Its number is taken, and its event is not there: the next one would get the number of another."""
    rows = [synthetic.event(seq, "todo/write", {"todos": [], "x": "x"}) for seq in range(8)]
    rows[long]["data"]["x"] *= 3000
    log = open_log(
        synthetic.log_bytes(rows, version=version), limits=ReadLimits(max_row_bytes=2000)
    )
    assert len(log.events) == 7
    with pytest.raises(RefusedError) as caught:
        Session.open(log)
    assert [found.rule for found in caught.value.findings] == ["storage/row-limit"]
