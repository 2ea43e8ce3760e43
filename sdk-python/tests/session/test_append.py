"""Appending: what is refused, what is not, and that nothing but an accepted event changes a session."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sessions import CONFIG, begin, call_tool, end, new_session, one_turn, state_of, stored

from dsh_protocol.check import check_log
from dsh_protocol.findings import JsonError, RefusedError, StorageError, UsageError
from dsh_protocol.rows import open_log

FORMATS = pytest.mark.parametrize("version", [3, 4])


def refused(session: Any, *args: Any, **more: Any) -> RefusedError:
    """The refusal of an append that changes nothing."""
    before = state_of(session)
    with pytest.raises(RefusedError) as caught:
        session.append(*args, **more)
    assert state_of(session) == before
    assert list(caught.value.findings) == session.check_append(*args, **more)
    return caught.value


def rules(findings: Any) -> list[tuple[str, str]]:
    return [(found.rule, found.path) for found in findings if found.severity == "error"]


@FORMATS
def test_a_turn_that_is_written_is_a_log_without_findings(version: int) -> None:
    session = one_turn(version)
    report = check_log(open_log(stored(session)))
    assert (report.findings, report.verdicts["readable"]) == ((), True)
    assert [event.seq for event in session.events] == list(range(10))
    assert list(session.surface.nodes) == [2, 3, 5, 7]
    assert session.request_header == {"config": CONFIG}


def test_rows_have_the_member_order_of_the_released_runtime() -> None:
    session = one_turn()
    session.append_plugin_record("plugin:acme/note", {"x": 1})
    rows = [list(json.loads(event.row_bytes())) for event in session.events]
    assert rows[0] == ["type", "seq", "time", "data"]
    assert rows[7] == ["type", "seq", "time", "data", "sourceEventSeqs", "surfaceOp"]
    assert rows[10] == ["type", "seq", "time", "data", "ignorable"]


def test_ranges_of_cited_events_are_stored_as_ranges() -> None:
    session = one_turn()
    data = session.make.user_message("All of it.")
    operation = {"op": "replace", "startSeq": 3, "endSeq": 7}
    event = session.append(
        "user/message", data, surface_op=operation, source_event_seqs=range(3, 8)
    )
    assert json.loads(event.row_bytes())["sourceEventSeqs"] == [[3, 7]]
    assert event.source_event_seqs == [3, 4, 5, 6, 7]


@FORMATS
def test_what_no_reader_takes_is_refused_before(version: int) -> None:
    session = new_session(version)
    begin(session)
    assert rules(refused(session, "x/y", {}).findings) == [("envelope/unknown-type", "/type")]
    session.append("x/y", {}, ignorable=True)
    found = refused(session, "plan/mode", {"active": True}, surface_op="append")
    assert rules(found.findings) == [("surface/op-forbidden", "/surfaceOp")]
    message = {**session.make.user_message("x"), "id": ""}
    found = refused(session, "user/message", message, surface_op="append")
    assert rules(found.findings) == [("message/id", "/data/id")]


def test_the_source_of_a_message_depends_on_the_format() -> None:
    plugin = {"kind": "plugin", "plugin": "acme"}
    newer, older = new_session(4), new_session(3)
    found = refused(
        newer, "user/message", newer.make.user_message("x", source=plugin), surface_op="append"
    )
    assert rules(found.findings) == [("message/plugin-source", "/data/source/kind")]
    assert "plugin:" in found.fix
    older.append("user/message", older.make.user_message("x", source=plugin), surface_op="append")


def test_all_findings_are_in_the_refusal_and_warnings_stand_behind_errors() -> None:
    session = new_session()
    begin(session)
    message = {**session.make.user_message("x"), "id": "", "role": "system"}
    error = refused(session, "user/message", message, surface_op="append")
    assert rules(error.findings) == [("message/id", "/data/id"), ("message/role", "/data/role")]
    severities = [found.severity for found in error.findings]
    assert severities == sorted(severities)
    assert error.code == "message/id"


def test_a_schema_warning_does_not_keep_an_event_out() -> None:
    session = new_session()
    found = session.check_append("todo/write", {"todos": [{"content": 5}]})
    assert {finding.severity for finding in found} == {"warning"}
    assert {finding.rule for finding in found} == {"schema/payload"}
    session.append("todo/write", {"todos": [{"content": 5}]})


@FORMATS
@pytest.mark.parametrize("number", [float("nan"), float("inf"), -0.0])
def test_numbers_that_json_cannot_keep_are_refused(version: int, number: float) -> None:
    session = new_session(version)
    for level in ("log", "append"):
        session = new_session(version, level=level)
        error = refused(session, "todo/write", {"todos": [], "x": [number]})
        expected = "json/negative-zero" if number == 0 else "json/finite"
        assert rules(error.findings) == [(expected, "/data/x/0")]


@pytest.mark.parametrize("value", [(1, 2), b"x", {1: 2}, {"x": object()}, 2**53 + 1])
def test_what_is_no_json_value_is_an_error_of_its_own(value: Any) -> None:
    session = new_session()
    before = state_of(session)
    for act in (session.append, session.check_append):
        with pytest.raises(JsonError) as caught:
            act("todo/write", {"todos": value})
        assert caught.value.code == "json/value"
        assert caught.value.path.startswith("/data/todos")
    assert state_of(session) == before


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(JsonError) as caught:
        new_session().append("todo/write", {"todos": loop})
    assert caught.value.code == "json/depth"


def test_a_row_that_nests_deeper_than_readers_take_is_refused() -> None:
    session = new_session()
    deep: Any = 1
    for _ in range(511):
        deep = [deep]
    session.append("x/y", deep, ignorable=True)
    error = refused(session, "x/y", [deep], ignorable=True)
    assert [rule for rule, _ in rules(error.findings)] == ["json/depth"]
    assert check_log(open_log(stored(session))).findings == ()


def test_a_row_that_is_longer_than_readers_take_is_refused() -> None:
    session = new_session()
    error = refused(session, "x/y", "x" * (64 * 1024 * 1024), ignorable=True)
    assert [rule for rule, _ in rules(error.findings)] == ["storage/row-limit"]


def test_the_log_has_a_copy_of_what_the_caller_gave() -> None:
    session = new_session()
    data = {"todos": [{"content": "a", "status": "pending"}]}
    event = session.append("todo/write", data)
    row = event.row_bytes()
    data["todos"].clear()
    assert session.events[0].data == {"todos": [{"content": "a", "status": "pending"}]}
    event.data["todos"].clear()
    assert session.events[0].row_bytes() == row == event.row_bytes()


def test_time_comes_from_the_clock_unless_it_is_given() -> None:
    session = new_session()
    assert session.append("turn/start", {"turn": 1}).time == 1001
    assert session.append("step/start", {"turn": 1, "step": 1}, time=7).time == 7
    assert session.append("step/end", {"turn": 1, "step": 1}).time == 1002
    assert rules(refused(session, "plan/mode", {"active": True}, time=1.5).findings) == [
        ("envelope/time", "/time")
    ]


def test_three_ways_to_read_events() -> None:
    parent = one_turn()
    child = parent.fork(3)
    assert [event.type for event in child.events[:4]] == [e.type for e in parent.events[:4]]
    assert child.inherited_event_count == 4
    assert [event.type for event in child.own_events()] == [
        "session/end-seed",
        "step/end",
        "turn/end",
    ]
    assert [event.seq for event in child.events_between(2, 5)] == [2, 3, 4]
    assert list(parent.own_events()) == list(parent.events)
    for start, stop in ((-1, 2), (3, 2), (0, 99)):
        with pytest.raises(UsageError) as caught:
            child.events_between(start, stop)
        assert caught.value.code == "session/no-such-range"


def test_what_was_read_stays_as_it_was() -> None:
    session = new_session()
    begin(session)
    events, messages = session.events, session.messages()
    before = [event.seq for event in events], list(messages)
    call_tool(session)
    assert ([event.seq for event in events], list(messages)) == before
    assert len(events) == 5
    assert events[-1].type == "request/header"
    assert [event.seq for event in events[1:3]] == [1, 2]
    with pytest.raises(IndexError):
        events[5]


@FORMATS
def test_the_open_turn_is_known(version: int) -> None:
    session = new_session(version)
    assert (session.open_turn, session.open_step, session.pending_calls) == (None, None, [])
    begin(session)
    call_tool(session)
    assert (session.open_turn, session.open_step) == (1, 1)
    assert [(call.id, call.seq) for call in session.pending_calls] == [("c1", 6)]
    session.append_message(session.make.tool_result("c1", "done"))
    assert session.pending_calls == []
    end(session)
    assert (session.open_turn, session.open_step) == (None, None)


# ---- Observers -------------------------------------------------------------------------------------


def test_observers_are_told_after_the_commit_in_order() -> None:
    session = new_session()
    told: list[tuple[str, int, int]] = []
    for name in ("a", "b"):
        session.subscribe(
            lambda event, name=name: told.append((name, event.seq, session.next_seq))  # type: ignore[misc]
        )
    session.append("turn/start", {"turn": 1})
    assert told == [("a", 0, 1), ("b", 0, 1)]


def test_an_observer_that_raises_loses_nothing() -> None:
    failures: list[tuple[int, str]] = []
    session = new_session(report_failure=lambda e, error: failures.append((e.seq, str(error))))
    told: list[int] = []

    def bad(event: Any) -> None:
        raise ValueError(f"no {event.type}")

    session.subscribe(bad)
    end_of_telling = session.subscribe(lambda event: told.append(event.seq))
    assert session.append("turn/start", {"turn": 1}).seq == 0
    assert session.append("step/start", {"turn": 1, "step": 1}).seq == 1
    assert told == [0, 1]
    assert failures == [(0, "no turn/start"), (1, "no step/start")]
    end_of_telling()
    end_of_telling()
    session.append("step/end", {"turn": 1, "step": 1})
    assert told == [0, 1]


def test_a_failure_is_logged_unless_somebody_takes_it(caplog: pytest.LogCaptureFixture) -> None:
    session = new_session()
    session.subscribe(lambda _: 1 // 0)  # type: ignore[arg-type]
    session.append("turn/start", {"turn": 1})
    assert [record.name for record in caplog.records] == ["dsh_protocol.session"]
    assert "event 0 (turn/start)" in caplog.text


def test_an_interrupt_goes_on_once_all_have_been_told() -> None:
    session = new_session()
    told: list[int] = []

    def interrupted(_: Any) -> None:
        raise KeyboardInterrupt

    session.subscribe(interrupted)
    session.subscribe(lambda event: told.append(event.seq))
    with pytest.raises(KeyboardInterrupt):
        session.append("turn/start", {"turn": 1})
    assert (told, session.next_seq) == ([0], 1)


def test_an_append_while_observers_are_told_is_refused() -> None:
    codes: list[str] = []
    session = new_session(report_failure=lambda _, error: codes.append(getattr(error, "code", "")))
    checked: list[int] = []

    def reenter(_: Any) -> None:
        checked.append(len(session.check_append("plan/mode", {"active": True})))
        session.append("plan/mode", {"active": True})

    session.subscribe(reenter)
    session.append("turn/start", {"turn": 1})
    assert (codes, checked, session.next_seq) == (["session/reentrant-append"], [0], 1)


def test_observers_hear_nothing_of_a_refused_event() -> None:
    session = new_session()
    told: list[int] = []
    session.subscribe(lambda event: told.append(event.seq))
    refused(session, "x/y", {})
    assert told == []


# ---- Levels, plugins, headers ----------------------------------------------------------------------


def test_the_released_append_takes_what_readers_refuse() -> None:
    session = new_session(level="append")
    session.append("x/y", {})
    session.append("user/message", {"role": "user"}, surface_op="append")
    session.append("step/end", {"turn": 7})
    report = check_log(open_log(stored(session)))
    assert report.verdicts["readable"] is False
    error = refused(session, "x/y", {}, surface_op="append")
    assert rules(error.findings) == [("surface/op-forbidden", "/surfaceOp")]


@pytest.mark.parametrize(
    "type_", ["plugin:acme", "plugin:acme/note", "plugin:a.b_c-d/0/x", "plugin:0"]
)
def test_plugin_records(type_: str) -> None:
    session = new_session()
    event = session.append_plugin_record(type_, {"x": [1]})
    assert (event.type, event.ignorable, event.data) == (type_, True, {"x": [1]})
    assert check_log(open_log(stored(session))).findings == ()


@pytest.mark.parametrize(
    "type_",
    ["acme", "plugin:", "plugin:Acme", "plugin:a/", "plugin:a//b", "plugin:-a", "plugin:a\n"],
)
def test_types_that_are_none_of_a_plugin_record(type_: str) -> None:
    session = new_session()
    with pytest.raises(UsageError) as caught:
        session.append_plugin_record(type_, {})
    assert caught.value.code == "session/plugin-record-type"
    assert session.next_seq == 0


def test_format_3_has_no_plugin_records() -> None:
    with pytest.raises(UsageError) as caught:
        new_session(3).append_plugin_record("plugin:acme", {})
    assert caught.value.code == "session/no-plugin-records"


def test_a_delivery_marker_is_one_of_this_session() -> None:
    def marker(session_id: str) -> dict[str, Any]:
        return {"sessionId": session_id, "sessionFormatVersion": 4, "throughSeq": 0}

    parent = one_turn()
    parent.append("session-log-deepseek/delivery-accepted", marker("s-1"))
    child = parent.fork(id="s-2")
    assert child.events[10].data["sessionId"] == "s-1"
    error = refused(child, "session-log-deepseek/delivery-accepted", marker("s-1"))
    assert rules(error.findings) == [("delivery/session", "/data/sessionId")]
    child.append("session-log-deepseek/delivery-accepted", marker("s-2"))
    assert check_log(open_log(stored(child))).findings == ()


def test_a_header_has_to_be_one_that_can_be_read() -> None:
    with pytest.raises(StorageError) as caught:
        new_session(cwd="not/absolute")
    assert caught.value.code == "header/member"
    with pytest.raises(StorageError) as caught:
        new_session(5)
    assert caught.value.code == "header/newer-format"


# ---- What a later event might take back ------------------------------------------------------------


@FORMATS
def test_relations_between_events_are_looked_at(version: int) -> None:
    session = new_session(version)
    error = refused(session, "step/start", {"turn": 1, "step": 1})
    assert rules(error.findings) == [("step/outside-turn", "")]
    begin(session)
    error = refused(session, "turn/end", {"turn": 1, "reason": {"kind": "completed"}})
    assert rules(error.findings) == [("turn/end-open-step", "")]
    call_tool(session)
    error = refused(session, "step/end", {"turn": 1, "step": 1})
    assert rules(error.findings) == [("step/unresolved-call", "")]


def test_a_turn_does_not_end_inside_a_compaction() -> None:
    session = new_session()
    begin(session)
    session.append("compaction/start", {"compactionId": "k", "turn": 1})
    session.append("step/end", {"turn": 1, "step": 1})
    done = {"turn": 1, "reason": {"kind": "completed"}}
    error = refused(session, "turn/end", done)
    assert rules(error.findings) == [("compaction/crossed", "")]
    session.append("compaction/end", {"compactionId": "k", "turn": 1, "error": "gave up"})
    session.append("turn/end", done)
    assert check_log(open_log(stored(session))).errors == 0


def test_nothing_cites_an_event_that_is_still_to_come() -> None:
    session = new_session(3)
    title = {"title": "T", "messageSeqs": [9], "source": {"kind": "fallback"}}
    assert rules(refused(session, "session/title", title).findings) == [
        ("title/message", "/data/messageSeqs/0")
    ]
    run = {"commandId": "k", "name": "c", "source": {"kind": "user"}}
    session.append("command/run", run)
    done = {"commandId": "k", "kind": "success", "sourceEventSeq": 9}
    assert rules(refused(session, "command/done", done).findings) == [
        ("command/source-earlier", "/data/sourceEventSeq")
    ]


def test_an_heir_has_one_entry_for_each_child_of_its_own() -> None:
    entry = {"version": 0, "childId": "k", "childCreatedAt": 1, "mode": "one-shot"}
    parent = one_turn()
    parent.append("subagent/catalog", entry)
    child = parent.fork()
    child.append("subagent/catalog", entry)
    error = refused(child, "subagent/catalog", entry)
    assert rules(error.findings) == [("catalog/repeated", "/data/childId")]
    assert check_log(open_log(stored(child))).errors == 0


def test_what_readers_only_warn_of_is_refused_when_nobody_can_go_on_behind_it() -> None:
    session = new_session()
    begin(session)
    header = {"config": {**CONFIG, "stop": "x"}}
    error = refused(session, "request/header", {"header": header, "reason": "change"})
    assert ("runtime/payload", "/data/header/config/stop") in rules(error.findings)


@FORMATS
@pytest.mark.parametrize("cited", [3, "3", {"3": 3}, True, 1.5])
def test_cited_events_that_are_no_collection_are_refused(version: int, cited: Any) -> None:
    session = one_turn(version)
    data = session.make.user_message("See there.")
    found = refused(
        session, "user/message", data, surface_op="append", source_event_seqs=cited
    ).findings
    assert rules(found)[0] == ("surface/sources-shape", "/sourceEventSeqs")
