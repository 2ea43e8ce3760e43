"""Random logs, valid ones and ones with a defect, as hypothesis draws them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from sessions import CONFIG, new_session

from dsh_protocol.session import Session

Json = dict[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]

# Without a minus zero: its text is that of zero, so what is written afterwards is another row.
JUNK: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 1.5, 2**53, "", "x", "append", "plugin", "developer"),
    *([], {}, [1], {"a": 1}, [[]], {"op": "replace"}),
]
_NAMES = ["extra", "tool", "headerSeq", "error", "isError", "system", "tools", "id", "source"]
_TOOLS = [{"name": n, "description": n, "parameters": {"type": "object"}} for n in "abc"]
_IMAGE = {
    "type": "image",
    "attachment": {
        "attachmentId": "sha256:" + "0" * 64,
        "mediaType": "image/png",
        "bytes": 1,
        "width": 1,
        "height": 1,
    },
}


class Writer:
    """Writes one valid event after the other, each chosen by a number that hypothesis draws."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._turns = 0
        self._calls = 0
        self._steps = 0

    def next_row(self, draw: Draw) -> Json:
        """What a valid next event is: type, data and surface metadata."""
        row: Json = draw(st.sampled_from(self._choices()))
        return row

    def write(self, row: Json) -> None:
        """Append a row."""
        self.session.append(*arguments(row)[0], **arguments(row)[1])
        kind = row["type"]
        self._turns += kind == "turn/start"
        self._steps = 0 if kind == "turn/start" else self._steps + (kind == "step/start")
        self._calls += kind == "assistant/message"

    def _choices(self) -> list[Json]:
        session, make = self.session, self.session.make
        rows: list[Json] = [
            {"type": "plan/mode", "data": {"active": True}},
            {"type": "todo/write", "data": {"todos": []}},
            {"type": "x/y", "data": {"x": [1.5, "\\u2028"]}, "ignorable": True},
            {"type": "session/end-seed", "data": {}},
            _surface("user/message", make.user_message([{"type": "text", "text": "Hi."}, _IMAGE])),
            *self._replacements(),
        ]
        if session.open_turn is None:
            turn: Json = {"turn": self._turns + 1}
            return [*rows, *_often({"type": "turn/start", "data": turn})]
        if session.open_step is None:
            step = {"turn": session.open_turn, "step": self._steps + 1}
            done = {"turn": session.open_turn, "reason": {"kind": "completed"}}
            rows += _often({"type": "step/start", "data": step})
            return [*rows, {"type": "turn/end", "data": done}, *self._requests()]
        return [*rows, *self._requests(), *self._in_step()]

    def _requests(self) -> list[Json]:
        header = {"config": CONFIG, "tools": _TOOLS}
        return [
            {"type": "request/header", "data": {"header": header, "reason": "change"}},
            {"type": "request/header", "data": {"header": {"config": CONFIG}, "reason": "series"}},
            {"type": "request/context", "data": {**CONFIG, "contextWindow": 1000}},
        ]

    def _in_step(self) -> list[Json]:
        session, make = self.session, self.session.make
        at = {"turn": session.open_turn, "step": session.open_step}
        if session.pending_calls:
            call = session.pending_calls[0]
            told = {"callId": call.id, "name": "a", "arguments": "{}"}
            if call.seq is None:
                return _often({"type": "tool/call", "data": {**at, **told}})
            data = {**at, "message": make.tool_result(call.id, "done")}
            return _often({**_surface("tool/result", data), "sourceEventSeqs": [call.seq]})
        called = {"type": "tool-call", "id": f"c{self._calls}", "name": "a", "arguments": "{}"}
        answers = [make.assistant_message(content, **CONFIG) for content in ("Yes.", "", [called])]
        rows = [
            _surface("assistant/message", {**at, "message": answer, "stream": []})
            for answer in [*answers, answers[2]]
        ]
        nodes = list(session.surface.nodes)
        if not nodes or session.surface.type_of(nodes[0]) == "system/message":
            rows.append(_surface("system/message", {**at, "message": make.system_message("S")}))
        rows += self._developer(at)
        return [
            *rows,
            {"type": "step/end", "data": at},
            {"type": "assistant/attempt", "data": {**at, "stream": []}},
        ]

    def _developer(self, at: Json) -> list[Json]:
        session = self.session
        headers = [
            e.seq
            for e in session.events
            if e.type == "request/header" and "tools" in e.data["header"]
        ]
        if not headers or "developer/message" not in session.dialect.surface_types:
            return []
        message = session.make.developer_message(added="ab", removed="c")
        return [_surface("developer/message", {**at, "message": message, "headerSeq": headers[-1]})]

    def _replacements(self) -> list[Json]:
        session = self.session
        nodes = list(session.surface.nodes)
        if len(nodes) < 3:
            return []
        start, end = nodes[1], nodes[-1]
        operation = {"op": "replace", "startSeq": start, "endSeq": end}
        rows = [
            {
                "type": "user/message",
                "data": session.make.user_message("All of it."),
                "surfaceOp": operation,
                "sourceEventSeqs": nodes[1:],
            }
        ]
        images = [n for n in nodes if session.surface.type_of(n) == "user/message"]
        pictured = [n for n in images if _IMAGE in session.surface.message(n)["content"]]
        if pictured:
            targets = [{"seq": pictured[0], "imageIndexes": [0]}]
            rows.append({"type": "image/offload", "data": {"targets": targets}})
        results = [n for n in nodes if session.surface.type_of(n) == "tool/result"]
        if results:
            rows.append(_rewritten(session.events[results[0]].value))
        return rows


def _often(row: Json) -> list[Json]:
    """So that what moves a turn on is drawn more often than all else."""
    return [row] * 4


def _surface(kind: str, data: Json) -> Json:
    return {"type": kind, "data": data, "surfaceOp": "append"}


def _rewritten(row: Json) -> Json:
    seq = row["seq"]
    data = copy.deepcopy(row["data"])
    message = data["message"]
    holder = message if "toolCallId" in message else message["content"][0]
    holder["content"] = [{"type": "text", "text": "shorter"}]
    operation = {"op": "replace", "startSeq": seq, "endSeq": seq}
    return {"type": row["type"], "data": data, "surfaceOp": operation, "sourceEventSeqs": [seq]}


def arguments(row: Json) -> tuple[list[Any], Json]:
    """A row as the arguments of `append`."""
    return [row["type"], row["data"]], {
        "surface_op": row.get("surfaceOp"),
        "source_event_seqs": row.get("sourceEventSeqs"),
        "ignorable": row.get("ignorable", False),
    }


@st.composite
def sessions(draw: st.DrawFn, version: int, longest: int = 14) -> Writer:
    """A session with some valid events."""
    writer = Writer(new_session(version))
    for _ in range(draw(st.integers(0, longest))):
        writer.write(writer.next_row(draw))
    return writer


def mutated(draw: Draw, row: Json, seqs: int) -> Json:
    """The row with one thing changed, which may or may not matter."""
    row = copy.deepcopy(row)
    how = draw(st.integers(0, 9))
    if how == 0:
        row["type"] = draw(
            st.sampled_from(
                ["user/message", "tool/result", "turn/end", "y/z", "tool/code-dispatch"]
            )
        )
    elif how == 1:
        row["surfaceOp"] = draw(
            st.sampled_from([*JUNK[1:], "replace", {"op": "replace", "start": 0, "end": 0}])
        )
    elif how == 2:
        start, end = (draw(st.integers(0, seqs)) for _ in range(2))
        row["surfaceOp"] = {"op": "replace", "startSeq": start, "endSeq": end}
        row["sourceEventSeqs"] = draw(st.lists(st.integers(0, seqs), max_size=4))
    elif how == 3:
        row.pop("surfaceOp", None)
        row.pop("ignorable", None)
    else:
        row["data"] = _changed(draw, row["data"])
    return row


def _changed(draw: Draw, data: Any) -> Any:
    path = draw(st.sampled_from(list(_paths(data))))
    if not path:
        return draw(st.sampled_from(JUNK))
    holder = data
    for step in path[:-1]:
        holder = holder[step]
    how = draw(st.integers(0, 3))
    if how == 0:
        del holder[path[-1]]
    elif how == 1 and isinstance(holder, dict):
        holder[draw(st.sampled_from(_NAMES))] = draw(st.sampled_from(JUNK))
    else:
        holder[path[-1]] = draw(st.sampled_from(JUNK))
    return data


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, member in items:
        found += _paths(member, (*path, name))
    return found
