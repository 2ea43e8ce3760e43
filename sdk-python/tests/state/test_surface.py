"""The surface: its history, its JSON form, and message lists that hold for good."""

from __future__ import annotations

from typing import Any

import synthetic

from dsh_protocol import jsonvalue
from dsh_protocol.dialect import dialect
from dsh_protocol.rows import Event, open_log
from dsh_protocol.state import LogState

Row = dict[str, Any]
IMAGE = {
    "type": "image",
    "attachment": {
        "attachmentId": "sha256:" + "ab" * 32,
        "mediaType": "image/png",
        "bytes": 3,
        "width": 1,
        "height": 1,
    },
}


def state_of(rows: list[Row], version: int = 4) -> LogState:
    state = LogState(dialect(version), rules="session")
    assert state.extend(map(Event.from_value, rows)) == []
    return state


def with_images(seq: int, count: int) -> Row:
    data = synthetic.message("user", "Look.", {"kind": "user"}, f"m-{seq}")
    data["content"] += [IMAGE] * count
    return synthetic.event(seq, "user/message", data, surfaceOp="append")


def offload(seq: int, *targets: tuple[int, list[int]]) -> Row:
    listed = [{"seq": target, "imageIndexes": indexes} for target, indexes in targets]
    return synthetic.event(seq, "image/offload", {"targets": listed})


def test_a_replacing_node_stands_where_its_range_stood() -> None:
    rows = [*synthetic.events(), synthetic.replacement(8, 3, 3, [3, 0])]
    rows.append(synthetic.replacement(9, 8, 5, [5, 8]))
    surface = state_of(rows).surface
    assert surface.to_json() == {
        "nodes": [2, 9],
        "replaceGeneration": 2,
        "contentGeneration": 2,
        "replacements": [
            {"seq": 8, "type": "user/message", "startSeq": 3, "endSeq": 3, "shadowed": [3]},
            {"seq": 9, "type": "user/message", "startSeq": 8, "endSeq": 5, "shadowed": [8, 5]},
        ],
    }
    assert surface.type_of(3) == "user/message"


def test_a_message_view_holds_for_good() -> None:
    rows = synthetic.events()
    state = state_of(rows[:4])
    early = state.surface.messages()
    state.extend(map(Event.from_value, rows[4:]))
    late = state.surface.messages()
    state.extend([Event.from_value(synthetic.replacement(8, 3, 5, [3, 5]))])
    assert [message["id"] for message in early] == ["m-1", "m-2"]
    assert [message["id"] for message in late] == ["m-1", "m-2", "m-3"]
    assert [message["id"] for message in state.surface.messages()] == ["m-1", "m-r8"]
    assert (len(early), len(late), len(state.surface.messages())) == (2, 3, 2)
    assert list(late.nodes) == [2, 3, 5]


def test_an_offload_changes_what_is_derived_from_then_on() -> None:
    state = state_of([with_images(0, 2)])
    before = state.surface.messages()
    state.extend([Event.from_value(offload(1, (0, [1])))])
    after = state.surface.messages()
    state.extend([Event.from_value(offload(2, (0, [0])))])
    assert marks(before) == [False, False]
    assert marks(after) == [False, True]
    assert marks(state.surface.messages()) == [True, True]
    assert (state.surface.replace_generation, state.surface.content_generation) == (0, 2)
    assert state.surface.message(0)["id"] == "m-0"


def marks(messages: Any) -> list[bool]:
    return [
        block.get("offloaded", False)
        for message in messages
        for block in message["content"]
        if block["type"] == "image"
    ]


def test_images_of_a_wrapped_result_are_counted_in_format_3() -> None:
    block = {"type": "tool-result", "toolCallId": "c", "content": [IMAGE, IMAGE]}
    source = {"kind": "tool", "callId": "c"}
    message = {"id": "m", "role": "user", "source": source, "content": [block]}
    data = {"turn": 1, "step": 1, "message": message}
    rows = [synthetic.event(0, "tool/result", data, surfaceOp="append"), offload(1, (0, [1]))]
    (derived,) = state_of(rows, 3).surface.messages()
    assert [b.get("offloaded") for b in derived["content"][0]["content"]] == [None, True]
    assert IMAGE.get("offloaded") is None


def test_an_empty_message_keeps_its_node() -> None:
    rows = synthetic.events()
    rows[2]["data"]["message"]["content"] = []
    surface = state_of(rows).surface
    assert list(surface.nodes) == [2, 3, 5]
    assert [message["id"] for message in surface.messages()] == ["m-2", "m-3"]
    assert len(surface.messages()) == 2
    assert surface.message(2) is None


def test_reading_decodes_no_message_that_nobody_asks_for(monkeypatch: Any) -> None:
    log = open_log(synthetic.log_bytes(synthetic.events()))
    decoded: list[Any] = []
    loads, loads_many, load_members = jsonvalue.loads, jsonvalue.loads_many, jsonvalue.load_members

    def one(text: Any, **options: Any) -> Any:
        decoded.append(text)
        return loads(text, **options)

    def many(texts: Any, *more: Any, **options: Any) -> Any:
        decoded.extend(texts)
        return loads_many(texts, *more, **options)

    def members(texts: Any, *more: Any, **options: Any) -> Any:
        decoded.extend(texts)
        return load_members(texts, *more, **options)

    monkeypatch.setattr(jsonvalue, "load_members", members)
    monkeypatch.setattr(jsonvalue, "loads", one)
    monkeypatch.setattr(jsonvalue, "loads_many", many)
    state = LogState(log.dialect, log.header, rules="envelope")
    assert state.extend(log.events) == []
    view = state.surface.messages()
    assert decoded == []
    assert [message["id"] for message in view] == ["m-1", "m-2", "m-3"]
    assert len(decoded) == 3
    assert [message["id"] for message in view] == ["m-1", "m-2", "m-3"]
    assert len(decoded) == 3


def test_numbers_and_booleans_are_told_apart_in_a_rewrite() -> None:
    result = {
        "id": "m-t",
        "role": "tool",
        "toolCallId": "c",
        "source": {"kind": "tool", "callId": "c"},
        "content": [],
    }
    data: Row = {"turn": 1, "step": 1, "message": result, "meta": {"a": 1, "b": [True]}}
    rows = [synthetic.event(0, "tool/result", data, surfaceOp="append")]
    rewrite = {"surfaceOp": {"op": "replace", "startSeq": 0, "endSeq": 0}, "sourceEventSeqs": [0]}
    reordered = {"step": 1, "turn": 1, "meta": {"b": [True], "a": 1}}
    reordered["message"] = {**dict(reversed(result.items())), "content": [{"type": "text"}]}
    state_of([*rows, synthetic.event(1, "tool/result", reordered, **rewrite)])
    confused = {**data, "meta": {"a": True, "b": [1]}}
    state = LogState(dialect(4), rules="envelope")
    more = [*rows, synthetic.event(1, "tool/result", confused, **rewrite)]
    found = state.extend(map(Event.from_value, more))
    assert [finding.rule for finding in found] == ["surface/tool-rewrite-content"]
