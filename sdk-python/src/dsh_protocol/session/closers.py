"""End a turn that was left open: the events that a log gets before work goes on after a crash, or in a fork.

Per call without a result an error result, then the end of the step, then the end of the turn. Ids and texts are constants
of the protocol (`spec/session/texts.yaml`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import dsh_protocol_data
from dsh_protocol.dialect import Dialect, dialect
from dsh_protocol.findings import RefusedError
from dsh_protocol.jsonvalue import pointer
from dsh_protocol.rows import EVENT_CLASSES, Event
from dsh_protocol.rules import refuse
from dsh_protocol.state.seeds import END_SEED

from ._turns import STEP_END, TOOL_RESULT, TURN_END, PendingCall, TurnTracker, open_turn

Cause: TypeAlias = Literal["interrupted", "forked"]
Json: TypeAlias = dict[str, Any]

_COMPACTION_START = "compaction/start"
_COMPACTION_END = "compaction/end"
_COMPACTION = ("compactionId", "sourceCommandId", "turn")


def repair(events: Sequence[Event]) -> list[Event]:
    """The events that end the turn which these events (a log from seq 0 on) leave open; none when no turn is open.

    They continue the numbers, have the time of the last event, and change nothing else: a writer that goes on
    also appends a `session/end-seed`.

    Raises:
        RefusedError: `schema/payload`, when the turn or the step that is open has no number.
    """
    return turn_closers(events, "interrupted")


def end_interruption(events: Sequence[Event]) -> list[Event]:
    """What a stored log gets so that it can be read and continued: the end of an interrupted turn, or nothing.

    Besides what `repair` gives, the end of an open compaction. No reader takes a log in which a turn ends inside a
    compaction, unless a `session/end-seed` follows, which a log that is only repaired does not get.

    Raises:
        RefusedError: as `repair`.
    """
    closers = repair(events)
    start = _open_compaction(events)
    if not closers or start is None:
        return closers
    data = {name: start.data[name] for name in _COMPACTION if name in start.data}
    data["error"] = _texts()["compaction-interrupted"]
    row = _event(_COMPACTION_END, events[-1].seq + 1, events[-1].time, data)
    end = EVENT_CLASSES[start.format_version].from_value(row)
    return [end, *repair([*events, end])]


def _open_compaction(events: Sequence[Event]) -> Event | None:
    for event in reversed(events):
        if event.type == _COMPACTION_START and isinstance(event.data, dict):
            return event
        if event.type in (_COMPACTION_END, END_SEED):
            return None
    return None


def turn_closers(events: Sequence[Event], cause: Cause) -> list[Event]:
    """The closers for one of the causes; `forked` is a cause of format 4 alone.

    Raises:
        RefusedError: as `repair`.
    """
    if not events:
        return []
    version = events[-1].format_version
    spoken = dialect(version)
    tracker = open_turn(events, spoken)
    if not tracker.is_open:
        return []
    if tracker.flaw is not None:
        raise _unnamed(*tracker.flaw)
    rows = _rows(spoken, tracker, cause, events[-1])
    return [EVENT_CLASSES[version].from_value(row) for row in rows]


def _unnamed(event: Event, member: str) -> RefusedError:
    finding = refuse(
        "schema/payload",
        seq=event.seq,
        line=event.line,
        path=pointer("data"),
        keyword="required",
        detail=f"{event.type} has no number as {member}",
    )
    return RefusedError("the open turn cannot be ended", [finding])


def _rows(spoken: Dialect, tracker: TurnTracker, cause: Cause, last: Event) -> Iterator[Json]:
    seq = last.seq
    for call in tracker.pending:
        seq += 1
        yield _result(spoken, call, cause, seq, last.time)
    if tracker.step is not None:
        seq += 1
        yield _event(STEP_END, seq, last.time, {"turn": tracker.turn, "step": tracker.step})
    data = {"turn": tracker.turn, "reason": {"kind": cause}}
    yield _event(TURN_END, seq + 1, last.time, data)


def _result(spoken: Dialect, call: PendingCall, cause: Cause, seq: int, time: int) -> Json:
    texts = _texts()
    kind = texts["results"]["not-started" if call.seq is None else "started"]
    id_ = texts["result-id"].format(cause=cause, call_id=call.id, seq=seq)
    message = _MESSAGES[spoken.tool_result_shape](id_, call.id, kind["texts"][cause])
    data = {
        "turn": call.turn,
        "step": call.step,
        "message": message,
        "error": dict(kind["error"]),
    }
    row = {**_event(TOOL_RESULT, seq, time, data), "surfaceOp": "append"}
    return row if call.seq is None else {**row, "sourceEventSeqs": [call.seq]}


def _tool_role(id_: str, call_id: str, text: str) -> Json:
    return {
        "id": id_,
        "role": "tool",
        "toolCallId": call_id,
        "isError": True,
        "source": {"kind": "tool", "callId": call_id},
        "content": [{"type": "text", "text": text}],
    }


def _tool_block(id_: str, call_id: str, text: str) -> Json:
    block = {
        "type": "tool-result",
        "toolCallId": call_id,
        "isError": True,
        "content": [{"type": "text", "text": text}],
    }
    source = {"kind": "tool", "callId": call_id}
    return {"id": id_, "role": "user", "source": source, "content": [block]}


_MESSAGES = {"tool-role": _tool_role, "tool-result-block": _tool_block}


def _event(kind: str, seq: int, time: int, data: Json) -> Json:
    return {"type": kind, "seq": seq, "time": time, "data": data}


def _texts() -> Mapping[str, Any]:
    texts: Mapping[str, Any] = dsh_protocol_data.load("session_texts")
    return texts
