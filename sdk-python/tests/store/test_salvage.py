"""The valid beginning of a damaged log, and what was left out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import compressed
import pytest
import synthetic
from corpus import corpus

from dsh_protocol.findings import ProtocolError, RefusedError
from dsh_protocol.jsonvalue import loads
from dsh_protocol.reading import accept
from dsh_protocol.rows import ReadLimits, open_log
from dsh_protocol.store import LeftOut, Salvage, salvage

Row = dict[str, Any]


def rows_of(*rows: Row | bytes, **header: Any) -> bytes:
    lines = (row if isinstance(row, bytes) else synthetic.line(row) for row in rows)
    return synthetic.log_bytes([], **header) + b"".join(lines)


def two_turns() -> list[Row]:
    second = [synthetic.event(8, "turn/start", {"turn": 2})]
    second += [synthetic.event(9, "turn/end", {"turn": 2, "reason": {"kind": "completed"}})]
    return [*synthetic.events(), *second]


def salvaged(data: bytes) -> Salvage:
    """What is salvaged, which the reader takes whole."""
    found = salvage(open_log(data))
    again = open_log(rows_of(*(event.row_bytes() + b"\n" for event in found.events)))
    assert len(accept(again).events) == len(found.events)
    return found


def test_nothing_is_left_out_of_a_sound_log() -> None:
    found = salvaged(rows_of(*two_turns()))
    assert found.is_whole
    assert len(found.events) == 10
    assert found.left_out == LeftOut(0, {}, None, None, 0)


def test_a_gap_in_committed_history() -> None:
    """One row is missing and later turns have ended: refused by the reader, and salvaged only on request."""
    rows = two_turns()
    data = rows_of(*rows[:5], *rows[6:])
    with pytest.raises(RefusedError):
        accept(open_log(data))
    found = salvaged(data)
    assert [event.seq for event in found.events] == [0, 1, 2, 3, 4]
    assert [(reason.rule, reason.line) for reason in found.reasons] == [("envelope/seq-gap", 7)]
    types = {"step/end": 1, "turn/end": 2, "turn/start": 1}
    assert found.left_out == LeftOut(4, types, 6, 9, 0)
    assert not found.is_whole
    assert found.left_out.to_json() == {
        "rows": 4,
        "types": types,
        "firstSeq": 6,
        "lastSeq": 9,
        "unreadBytes": 0,
    }


def test_garbage_in_committed_history() -> None:
    rows = two_turns()
    found = salvaged(rows_of(*rows[:3], b"garbage\n", *rows[4:]))
    assert [event.seq for event in found.events] == [0, 1, 2]
    assert [reason.rule for reason in found.reasons] == ["json/syntax"]
    assert (found.left_out.rows, found.left_out.first_seq) == (7, 4)


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        (synthetic.event(8, "no/such", {}), "envelope/unknown-type"),
        (synthetic.replacement(8, 3, 5, [3]), "surface/range-covered"),
        (synthetic.event(8, "system/message", {}, surfaceOp="append"), "message/object"),
        (synthetic.event(8, "session/end-seed", {"inherited": True}), "seed/marker-unseeded"),
    ],
)
def test_a_row_for_which_the_reader_refuses_the_log(row: Row, rule: str) -> None:
    found = salvaged(
        rows_of(*synthetic.events(), row, synthetic.event(9, "turn/start", {"turn": 2}))
    )
    assert len(found.events) == 8
    assert rule in {reason.rule for reason in found.reasons}
    assert found.left_out.rows == 2


def test_a_damaged_frame() -> None:
    frames = compressed.frames(synthetic.log_bytes(two_turns()))
    damaged = frames[2][:-1] + bytes([frames[2][-1] ^ 1])
    found = salvaged(b"".join([*frames[:2], damaged, *frames[3:]]))
    assert [event.seq for event in found.events] == [0, 1, 2]
    assert [reason.rule for reason in found.reasons] == ["storage/frame-corrupt"]
    assert found.left_out == LeftOut(0, {}, None, None, len(b"".join(frames[2:])))


def test_a_torn_end_is_accounted_for() -> None:
    found = salvaged(rows_of(*two_turns()) + b'{"type":')
    assert (found.reasons, found.left_out.unread_bytes, found.is_whole) == ((), 8, False)


def test_a_log_that_a_general_tool_has_compressed_again() -> None:
    """Only the container is wrong, so all rows are there to be written anew."""
    log = open_log(compressed.frame(synthetic.log_bytes(two_turns())))
    assert [finding.rule for finding in log.findings] == ["storage/frame-header"]
    assert salvage(log).is_whole
    assert len(salvage(log).events) == 10


def test_a_row_beyond_our_own_limits_ends_the_salvage() -> None:
    """Others read such a row, but it is not here to be written anew."""
    rows = two_turns()
    rows[4]["data"]["x"] = "x" * 5000
    log = open_log(rows_of(*rows), limits=ReadLimits(max_row_bytes=4000))
    found = salvage(log)
    assert [event.seq for event in found.events] == [0, 1, 2, 3]
    assert [reason.rule for reason in found.reasons] == ["storage/row-limit"]


def test_an_inherited_history_that_is_not_all_there() -> None:
    rows = synthetic.events()
    marker = synthetic.event(8, "session/end-seed", {"inherited": True})
    seeded = {"isSeeded": True, "parentSession": "p"}
    assert salvage(open_log(rows_of(*rows, marker, **seeded))).is_whole
    with pytest.raises(RefusedError) as caught:
        salvage(open_log(rows_of(*rows[:5], b"garbage\n", *rows[6:], marker, **seeded)))
    assert caught.value.code == "seed/marker-missing"


def test_a_marker_of_another_session_among_own_events() -> None:
    """Wrong only when the whole log is known: the salvage ends in front of it all the same."""
    marker = {
        "protocolVersion": 1,
        "endpoint": "e",
        "sessionFormatVersion": 4,
        "sessionId": "other",
        "throughSeq": 3,
    }
    row = synthetic.event(8, "session-log-deepseek/delivery-accepted", marker)
    data = rows_of(*synthetic.events(), row, parentSession="p")
    found = salvage(open_log(data))
    assert len(found.events) == 8
    assert [reason.rule for reason in found.reasons] == ["delivery/session"]


def test_the_salvage_of_every_log_of_the_suites_is_readable(tmp_path: Path) -> None:
    """Whatever is wrong with a log, what is salvaged is a beginning of it, and the reader takes all of it."""
    seen = {"whole": 0, "part": 0, "nothing": 0}
    for name, _, log in corpus():
        try:
            found = salvage(log)
        except RefusedError:
            assert log.header.is_seeded, name
            seen["nothing"] += 1
            continue
        header = loads(log.header.raw)
        rows = [synthetic.line(header), *(event.row_bytes() + b"\n" for event in found.events)]
        again = open_log(b"".join(rows))
        try:
            accepted = accept(again)
        except ProtocolError as error:
            raise AssertionError(name) from error
        assert len(accepted.events) == len(found.events), name
        kept = [event.row_bytes() for event in log.events[: len(found.events)]]
        assert [event.row_bytes() for event in found.events] == kept, name
        seen["part" if found.reasons else "whole"] += 1
    assert seen["whole"] > 700
    assert seen["part"] > 500


@pytest.mark.parametrize("event_type", ["deliverables/presented", "todo/write"])
def test_a_row_that_the_reader_refuses_instead_of_dropping_it(event_type: str) -> None:
    """Release 0.1.5-rc.1 drops a todo/write with a surfaceOp, and refuses the log for a deliverables/presented."""
    row = synthetic.event(1, event_type, {}, surfaceOp="append")
    data = rows_of(synthetic.event(0, "turn/start", {"turn": 1}), row, version=3)
    if event_type == "todo/write":
        assert len(accept(open_log(data)).events) == 1
    else:
        with pytest.raises(RefusedError):
            accept(open_log(data))
    assert [event.seq for event in salvage(open_log(data)).events] == [0]
