"""The member `dsh_session_log`. Texts were taken from the official plugin (0.2.1-rc.2)."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_protocol import jsonvalue
from dsh_protocol.findings import WireError
from dsh_protocol.wire import with_extensions
from dsh_protocol.wire.session_log import ACCEPTED, accepted_through, sent_events, session_log

Json = dict[str, Any]

HEADER: Json = {"version": 4, "id": "s-1", "createdAt": 1}


def event(seq: int, kind: str = "turn/start", data: Any = None, **more: Any) -> Json:
    return {"type": kind, "seq": seq, "time": 2, "data": data or {}, **more}


def accepted(seq: int, through: Any, session: Any = "s-1", **more: Any) -> Json:
    data = {"sessionId": session, "sessionFormatVersion": 4, "throughSeq": through}
    return event(seq, ACCEPTED, data | more)


def sent(header: Json, events: list[Json], **more: Any) -> str | None:
    member = session_log(header, events, **more)
    return None if member is None else jsonvalue.dumps(member)


def test_worked_example() -> None:
    log = [event(seq) for seq in range(10)]
    log[9] = accepted(9, 8)
    header = {**HEADER, "cwd": "/w"}
    expected = (
        '{"version":1,"sessionFormatVersion":4,"session":{"version":4,"id":"s-1","createdAt":1,'
        '"cwd":"/w"},'
        '"afterSeq":8,"throughSeq":10,"events":[{"seq":9,"time":2,"data":{"sessionId":"s-1",'
        '"sessionFormatVersion":4,"throughSeq":8},"type":"session-log-deepseek/delivery-accepted"},'
        '{"seq":10,"time":2,"data":{"turn":2},"type":"turn/start"}]}'
    )
    assert sent(header, [*log, event(10, data={"turn": 2})]) == expected


def test_members_of_an_event() -> None:
    operation = {"endSeq": 0, "op": "replace", "startSeq": 0}
    log = [
        event(0, "user/message", {"a": 1}, surfaceOp="append"),
        event(1, "user/message", {"a": 1}, sourceEventSeqs=[0], surfaceOp=operation),
        event(2, "plugin:x", {"a": 1}, surfaceOp={"z": 1, "a": 2}, ignorable=True),
    ]
    member = session_log(HEADER, log)
    assert member is not None
    assert [jsonvalue.dumps(e) for e in member["events"]] == [
        '{"seq":0,"time":2,"data":{"a":1},"type":"user/message","surfaceOp":"append"}',
        '{"seq":1,"time":2,"data":{"a":1},"type":"user/message","surfaceOp":{"op":"replace",'
        '"startSeq":0,'
        '"endSeq":0},"sourceEventSeqs":[0]}',
        '{"seq":2,"time":2,"data":{"a":1},"ignorable":true,"type":"plugin:x","surfaceOp":{"z":'
        '1,"a":2}}',
    ]


@pytest.mark.parametrize(
    ("more", "log", "inherited", "shown"),
    [
        ({"delegationDepth": 0}, [event(0)], 0, {}),
        (
            {"delegationDepth": 0},
            [event(0), event(1, "session/end-seed")],
            0,
            {"delegationDepth": 0},
        ),
        ({"delegationDepth": 1}, [event(0)], 0, {"delegationDepth": 1}),
        (
            {"origin": "subagent", "delegationDepth": 1, "parentSession": "p"},
            [event(0)],
            0,
            {"parentSession": "p", "origin": "subagent", "delegationDepth": 1},
        ),
        (
            {"delegationDepth": 0, "isSeeded": True},
            [event(0, "session/end-seed"), event(1, "session/end-seed", {"inherited": True})],
            1,
            {"seedLength": 1},
        ),
        (
            {"agentPreset": "p", "cwd": "/w", "type": "session", "isSeeded": False},
            [event(0)],
            0,
            {"cwd": "/w", "agentPreset": "p"},
        ),
    ],
)
def test_live_header(more: Json, log: list[Json], inherited: int, shown: Json) -> None:
    member = session_log({**HEADER, **more}, log, inherited_event_count=inherited)
    assert member is not None
    assert jsonvalue.dumps(member["session"]) == jsonvalue.dumps({**HEADER, **shown})


def test_longest_prefix_that_fits() -> None:
    log = [event(seq, data={"text": "é" * 10}) for seq in range(12)]
    whole = [len((sent(HEADER, log[: n + 1]) or "").encode()) for n in range(12)]
    for last in range(11):
        for size in (whole[last], whole[last + 1] - 1):
            member = session_log(HEADER, log, max_bytes=size)
            assert member is not None
            assert (member["throughSeq"], len(member["events"])) == (last, last + 1)
    assert sent(HEADER, log, max_bytes=whole[0] - 1) is None
    assert sent(HEADER, [*log[:5], accepted(5, 4)], max_bytes=1) is None


def test_nothing_pending() -> None:
    assert sent(HEADER, []) is None


def test_accepted_through() -> None:
    log = [
        event(0),
        accepted(1, 0, "s-2"),
        accepted(2, 1, sessionFormatVersion=3),
        event(3, ACCEPTED, {"sessionId": "s-1", "throughSeq": 2}),
        event(4, ACCEPTED, {"sessionId": "", "throughSeq": 99, "sessionFormatVersion": None}),
        accepted(5, 2),
        accepted(6, 1),
    ]
    assert accepted_through(HEADER, log[:5]) == -1
    assert accepted_through(HEADER, log) == 2
    assert accepted_through({**HEADER, "id": "s-2"}, log) == 0
    # A marker without a version is one of format 0.
    assert accepted_through({**HEADER, "version": 0}, log[:4]) == 2


@pytest.mark.parametrize(
    "marker",
    [
        accepted(1, 1),
        accepted(1, -1),
        accepted(1, 0.5),
        accepted(1, -0.0),
        accepted(1, "0"),
        accepted(1, None),
        accepted(1, 0, ""),
        accepted(1, 0, 5),
        accepted(1, 5, "s-2"),
        accepted(1, 0, sessionFormatVersion=-1),
        accepted(1, 0, sessionFormatVersion="4"),
        accepted(1, 0, sessionFormatVersion=1.5),
        accepted(1, 0, sessionFormatVersion=True),
    ],
)
def test_malformed_marker(marker: Json) -> None:
    with pytest.raises(WireError) as caught:
        session_log(HEADER, [event(0), marker])
    assert caught.value.code == "REQUEST_EXTENSION"
    assert "seq 1" in caught.value.message


USER = {"surfaceOp": "append"}


@pytest.mark.parametrize(
    ("tail", "length"),
    [
        ([], 3),
        ([accepted(3, 2)], 3),
        # Appended while the request was on its way.
        ([event(3, "session/title"), accepted(4, 2), event(5, "todo/write")], 3),
        ([event(3, "session/title"), accepted(4, 3)], 4),
        # A title was asked for at the same time.
        ([accepted(3, 2), accepted(4, 3)], 3),
        ([accepted(3, 1), accepted(4, 2)], 3),
        # The marker of an earlier request; this one was refused.
        ([accepted(3, 2), event(4, "compaction/end"), event(5, "system/message", **USER)], 6),
        ([accepted(3, 2), event(4, "assistant/attempt"), event(5, "llm/retry-started")], 6),
        # A marker that covers only a part, because not all events fitted.
        ([accepted(3, 0)], 3),
    ],
)
def test_sent_events(tail: list[Json], length: int) -> None:
    head = [event(0), event(1, "step/start"), event(2, "user/message", **USER)]
    assert len(sent_events([*head, *tail])) == length


def test_extensions_are_appended() -> None:
    body = {"model": "m", "messages": []}
    assert list(with_extensions(body, {"dsh_b": 1, "dsh_a": 2})) == [
        "model",
        "messages",
        "dsh_b",
        "dsh_a",
    ]
    with pytest.raises(WireError) as caught:
        with_extensions(body, {"messages": 1})
    assert caught.value.code == "REQUEST_EXTENSION"
    assert caught.value.message == (
        'DeepSeek request extension field "messages" collides with the base request'
    )
