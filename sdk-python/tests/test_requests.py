"""Requests rebuilt from logs, against the bodies that the official runtime sent."""

from __future__ import annotations

from typing import Any

import pytest
import recorded
import synthetic

from dsh_protocol.findings import RefusedError, UsageError
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.requests import ModelRequest, iter_requests, request_at
from dsh_protocol.rows import Log, open_log
from dsh_protocol.wire import DirectoryAttachments, logged_route, serialize

Row = dict[str, Any]
RECORDED = recorded.recorded()
NAMES = [f"{entry.name}/{entry.log.parent.name}" for entry in RECORDED]


def body(log: Log, request: ModelRequest, entry: recorded.Recorded) -> str:
    options = request.options()
    version, model = log.dialect.version, options["model"]
    route = logged_route(version, options["provider"], model, request.context, entry.route)
    attachments = DirectoryAttachments(entry.attachments)
    return dumps(serialize(log.dialect.default_wire, options, route, attachments))


@pytest.mark.parametrize("entry", RECORDED, ids=NAMES)
def test_each_own_settlement_is_a_request_that_was_sent(entry: recorded.Recorded) -> None:
    log = open_log(entry.log)
    own = [request for request in iter_requests(log) if not request.inherited]
    assert [request.index for request in own] == list(range(len(entry.bodies)))
    # Written out only when all requests are made: a request does not change behind its settlement.
    assert [body(log, request, entry) for request in own] == [
        recorded.without_extensions(sent) for sent in entry.bodies
    ]


def test_enough_requests_were_compared() -> None:
    assert sum(len(entry.bodies) for entry in RECORDED) >= 70


def changes(name: str) -> list[tuple[str, ...]]:
    (log,) = (entry.log for entry in RECORDED if entry.name == name)
    return [request.changed for request in iter_requests(open_log(log))]


@pytest.mark.parametrize("version", ["v3", "v4"])
def test_what_changed_in_scenarios_that_change_one_thing(version: str) -> None:
    assert set(changes(f"{version}/plain")[1:]) == {("nothing",)}
    assert set(changes(f"{version}/prompt-change")[1:]) == {("prompt-replaced",)}
    assert ("prompt-appended",) in changes(f"{version}/in-history")
    assert changes(f"{version}/plain")[0] == ("first",)


def test_a_change_of_tools_and_a_compaction_are_told_apart() -> None:
    assert ("config-or-tools",) in changes("v4/tools-change-addition-only")
    assert ("history-replaced",) in changes("v4/compaction")


# ---- Small logs ----------------------------------------------------------------------------------


def log_of(rows: list[Row], version: int = 4, **header: Any) -> Log:
    return open_log(synthetic.log_bytes(rows, version=version, **header))


def answer(seq: int, *, attempt: bool = False) -> Row:
    """A settlement: an answer, or an attempt that came to nothing."""
    data: Row = {"turn": 1, "step": 1, "stream": []}
    if attempt:
        return synthetic.event(seq, "assistant/attempt", data)
    source = {"kind": "model", "provider": "deepseek-official", "model": "deepseek-flash"}
    data["message"] = synthetic.message("assistant", "Again.", source, f"a-{seq}")
    return synthetic.event(seq, "assistant/message", data, surfaceOp="append")


def test_a_request_is_a_function_of_the_events_before_its_settlement() -> None:
    rows = [*synthetic.events()[:6], answer(6, attempt=True), answer(7)]
    first, attempt, last = iter_requests(log_of(rows))
    assert [(r.seq, r.kind, r.turn, r.step) for r in (first, attempt, last)] == [
        (5, "message", 1, 1),
        (6, "attempt", 1, 1),
        (7, "message", 1, 1),
    ]
    ids = [[message["id"] for message in r.messages] for r in (first, attempt, last)]
    assert ids == [["m-1", "m-2"], ["m-1", "m-2", "m-3"], ["m-1", "m-2", "m-3"]]
    assert [len(r.messages) for r in (first, attempt, last)] == [2, 3, 3]
    assert (first.header_seq, first.header_reason) == (4, "initial")
    assert first.changed == ("first",)
    assert attempt.changed == last.changed == ("nothing",)


@pytest.mark.parametrize("version", [3, 4])
def test_the_options_of_a_request(version: int) -> None:
    rows = synthetic.events(version)
    config = rows[4]["data"]["header"]["config"] = {
        "model": "deepseek-flash",
        "provider": "deepseek-official",
        "stop": [],
        "maxTokens": 5,
        "other": 1,
    }
    (request,) = iter_requests(log_of(rows, version))
    history: Row = {"toolHistory": {"tools": [], "updates": []}} if version == 4 else {}
    assert request.options() == {
        **{name: config[name] for name in ("provider", "model", "maxTokens", "stop")},
        "messages": [rows[2]["data"]["message"], rows[3]["data"]],
        **history,
        "sessionId": "s-1",
    }
    assert (request.context, request.tool_history) == (None, history.get("toolHistory"))


def test_several_things_change_at_once() -> None:
    rows = synthetic.events()
    prompt = synthetic.message("system", "New.", synthetic.PROMPT_SOURCE[4], "m-8")
    data = {"turn": 1, "step": 1, "message": prompt}
    head = {"op": "replace", "startSeq": 2, "endSeq": 2}
    rows.append(synthetic.event(8, "system/message", data, surfaceOp=head, sourceEventSeqs=[2]))
    rows.append(synthetic.event(9, "system/message", data, surfaceOp="append"))
    rows.append(synthetic.replacement(10, 3, 5, [3, 5]))
    config = {"provider": "deepseek-official", "model": "deepseek-v4-pro"}
    header = {"header": {"config": config}, "reason": "change"}
    rows += [synthetic.event(11, "request/header", header), answer(12)]
    *_, last = iter_requests(log_of(rows))
    assert last.changed == (
        "prompt-replaced",
        "prompt-appended",
        "config-or-tools",
        "history-replaced",
    )


def test_a_header_that_asks_for_the_same_is_no_change() -> None:
    rows = synthetic.events()
    again = {**rows[4]["data"], "reason": "series"}
    rows += [synthetic.event(8, "request/header", again), answer(9)]
    *_, last = iter_requests(log_of(rows))
    assert (last.changed, last.header_reason, last.header_seq) == (("nothing",), "series", 8)


def test_inherited_requests_have_no_index() -> None:
    rows = synthetic.events()
    rows += [synthetic.event(8, "session/end-seed", {"inherited": True}), answer(9)]
    log = log_of(rows, isSeeded=True, parentSession="p")
    inherited, own = iter_requests(log)
    assert (inherited.index, inherited.inherited, own.index, own.inherited) == (
        None,
        True,
        0,
        False,
    )
    assert inherited.inherited_event_count == own.inherited_event_count == 8
    assert own.changed == ("nothing",)
    assert request_at(log, 0).seq == 9


@pytest.mark.parametrize("index", [-1, 1, 100])
def test_an_index_that_does_not_exist(index: int) -> None:
    with pytest.raises(UsageError) as caught:
        request_at(log_of(synthetic.events()), index)
    assert caught.value.code == "requests/index"
    assert "0 to 0" in caught.value.fix


def test_a_log_without_a_request_of_its_own() -> None:
    with pytest.raises(UsageError, match="no request 0") as caught:
        request_at(log_of(synthetic.events()[:5]), 0)
    assert "none" in caught.value.fix


def test_a_request_without_a_header_has_no_options() -> None:
    rows = synthetic.events()
    rows[4] = synthetic.event(4, "turn/start", {"turn": 1})
    (request,) = iter_requests(log_of(rows))
    assert (request.header, request.header_seq, request.header_reason) == (None, None, None)
    with pytest.raises(UsageError) as caught:
        request.options()
    assert caught.value.code == "requests/no-header"


def test_a_log_that_cannot_be_folded_has_no_requests() -> None:
    rows = synthetic.events()
    rows[3]["seq"] = 30
    with pytest.raises(RefusedError) as caught:
        list(iter_requests(log_of(rows)))
    assert caught.value.code == "envelope/seq-gap"


def test_going_by_fewer_events() -> None:
    log = log_of([*synthetic.events(), answer(8)])
    assert len(list(iter_requests(log))) == 2
    assert len(list(iter_requests(log, events=log.events[:8]))) == 1
