"""What holds of the generated models, whatever the generator does next."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import MISSING, TypeAdapter, ValidationError

from dsh_protocol_models.session.common.compactions import CompactionStartEvent
from dsh_protocol_models.session.v3 import events as v3
from dsh_protocol_models.session.v4 import events as v4
from dsh_protocol_models.session.v4.messages import (
    ToolResultMessage,
    UserMessage,
    UserMessageEvent,
)
from dsh_protocol_models.session.v4.requests import RequestHeaderEvent, ToolSchema

KNOWN_V3: TypeAdapter[Any] = TypeAdapter(v3.KnownSessionEvent)
KNOWN_V4: TypeAdapter[Any] = TypeAdapter(v4.KnownSessionEvent)
ANY_V3: TypeAdapter[Any] = TypeAdapter(v3.SessionEvent)
ANY_V4: TypeAdapter[Any] = TypeAdapter(v4.SessionEvent)
EVERY_FORMAT = pytest.mark.parametrize("events", [KNOWN_V3, KNOWN_V4], ids=["v3", "v4"])
WITH_UNKNOWN = pytest.mark.parametrize("events", [ANY_V3, ANY_V4], ids=["v3", "v4"])


def turn_start(**members: Any) -> dict[str, Any]:
    return {"type": "turn/start", "seq": 3, "time": 1700000000000, "data": {"turn": 1}, **members}


def user_message(**members: Any) -> dict[str, Any]:
    data = {
        "id": "m1",
        "role": "user",
        "content": [{"type": "text", "text": "hello"}],
        "source": {"kind": "user"},
    }
    event = {"type": "user/message", "seq": 4, "time": 1, "data": data, "surfaceOp": "append"}
    return {**event, **members}


def locations(events: TypeAdapter[Any], value: object) -> list[tuple[int | str, ...]]:
    with pytest.raises(ValidationError) as refused:
        events.validate_python(value, by_name=False)
    return [error["loc"] for error in refused.value.errors()]


@EVERY_FORMAT
def test_scalars_are_plain_values(events: TypeAdapter[Any]) -> None:
    event = events.validate_python(turn_start())
    assert event.seq == 3
    assert type(event.seq) is int
    assert event.type == "turn/start"
    assert type(event.type) is str


@EVERY_FORMAT
def test_an_appended_event_compares_to_the_plain_operation(events: TypeAdapter[Any]) -> None:
    assert events.validate_python(user_message()).surface_op == "append"


@EVERY_FORMAT
def test_a_replacement_has_attributes(events: TypeAdapter[Any]) -> None:
    operation = {"op": "replace", "startSeq": 1, "endSeq": 2}
    event = events.validate_python(user_message(surfaceOp=operation, sourceEventSeqs=[1, 2]))
    assert (event.surface_op.start_seq, event.surface_op.end_seq) == (1, 2)
    assert event.source_event_seqs == [1, 2]


@EVERY_FORMAT
def test_a_dump_uses_wire_names_without_being_told(events: TypeAdapter[Any]) -> None:
    value = user_message(sourceEventSeqs=[1])
    event = events.validate_python(value)
    assert event.model_dump(mode="json") == value
    assert json.loads(event.model_dump_json()) == value
    assert events.dump_python(event, mode="json") == value


def test_python_names_build_an_event_and_the_wire_does_not_take_them() -> None:
    message = UserMessage.model_validate(user_message()["data"])
    event = UserMessageEvent(type="user/message", seq=4, time=1, data=message, surface_op="append")
    assert event.model_dump(mode="json") == user_message()
    pythonic = user_message()
    pythonic["surface_op"] = pythonic.pop("surfaceOp")
    assert ("user/message", "surface_op") in locations(KNOWN_V4, pythonic)


@EVERY_FORMAT
def test_absent_is_not_null(events: TypeAdapter[Any]) -> None:
    event = events.validate_python(user_message())
    assert event.source_event_seqs is MISSING
    assert "sourceEventSeqs" not in event.model_dump()
    assert ("user/message", "sourceEventSeqs") in [
        location[:2] for location in locations(events, user_message(sourceEventSeqs=None))
    ]


@EVERY_FORMAT
def test_a_null_that_means_something_stays(events: TypeAdapter[Any]) -> None:
    value = {
        "type": "compaction/start",
        "seq": 9,
        "time": 1,
        "data": {"compactionId": "c", "turn": None},
    }
    event = events.validate_python(value)
    assert isinstance(event, CompactionStartEvent)
    assert event.data.turn is None
    assert event.model_dump(mode="json") == value


@EVERY_FORMAT
@pytest.mark.parametrize("ignorable", [None, False, "true"])
def test_ignorable_is_true_or_absent(events: TypeAdapter[Any], ignorable: object) -> None:
    assert ("turn/start", "ignorable") in [
        location[:2] for location in locations(events, turn_start(ignorable=ignorable))
    ]
    assert events.validate_python(turn_start(ignorable=True)).ignorable is True


@EVERY_FORMAT
@pytest.mark.parametrize(
    ("value", "place"),
    [
        (turn_start(data={"turn": 0}), ("turn/start", "data", "turn")),
        (turn_start(extra=1), ("turn/start", "extra")),
        (user_message(surfaceOp="prepend"), ("user/message", "surfaceOp")),
    ],
    ids=["bound", "unknown-member", "nested-union"],
)
def test_errors_come_from_the_branch_of_the_event_alone(
    events: TypeAdapter[Any], value: dict[str, Any], place: tuple[str, ...]
) -> None:
    found = locations(events, value)
    assert found
    assert all(location[: len(place)] == place for location in found), found


@EVERY_FORMAT
def test_an_unknown_member_is_refused_in_a_closed_object(events: TypeAdapter[Any]) -> None:
    assert ("turn/start", "data", "extra") in locations(
        events, turn_start(data={"turn": 1, "extra": 1})
    )


def test_an_unknown_member_is_kept_in_an_open_object() -> None:
    value = {
        "id": "t1",
        "role": "tool",
        "toolCallId": "c1",
        "content": [],
        "source": {"kind": "tool", "callId": "c1"},
        "plugin:message:note": {"deep": [None]},
    }
    assert ToolResultMessage.model_validate(value).model_dump(mode="json") == value


@EVERY_FORMAT
def test_an_unknown_block_is_kept_whole(events: TypeAdapter[Any]) -> None:
    value = user_message()
    value["data"] = {**value["data"], "content": [{"type": "plugin:chart", "points": [1, 2.5]}]}
    assert events.validate_python(value).model_dump(mode="json") == value


@WITH_UNKNOWN
def test_an_unknown_ignorable_event_is_kept_whole(events: TypeAdapter[Any]) -> None:
    value = {"type": "plugin:x/y", "seq": 0, "time": 1, "data": None, "ignorable": True}
    assert events.validate_python(value).model_dump(mode="json") == value
    del value["ignorable"]
    assert ("OpaqueEvent", "ignorable") in locations(events, value)


@WITH_UNKNOWN
def test_a_known_type_never_passes_as_an_unknown_one(events: TypeAdapter[Any]) -> None:
    assert ("OpaqueEvent", "type") in locations(
        events, turn_start(data={"turn": "one"}, ignorable=True)
    )


@EVERY_FORMAT
@pytest.mark.parametrize("seq", ["3", 3.0, True, None, -1, 2**53])
def test_nothing_is_converted_to_a_seq(events: TypeAdapter[Any], seq: object) -> None:
    assert ("turn/start", "seq") in locations(events, turn_start(seq=seq))
    assert events.validate_python(turn_start(seq=2**53 - 1)).seq == 9007199254740991


@pytest.mark.parametrize("temperature", ["500", True, None])
def test_nothing_is_converted_to_a_number(temperature: object) -> None:
    config = {"provider": "p", "model": "m", "temperature": temperature}
    header = {"header": {"config": config}, "reason": "initial"}
    event = {"type": "request/header", "seq": 0, "time": 0, "data": header}
    assert any("temperature" in location for location in locations(KNOWN_V4, event))


@pytest.mark.parametrize("temperature", [0, 1, 0.5, 1e-7])
def test_a_number_keeps_its_kind(temperature: float) -> None:
    config = {"provider": "p", "model": "m", "temperature": temperature}
    header = {"header": {"config": config}, "reason": "initial"}
    value = {"type": "request/header", "seq": 0, "time": 0, "data": header}
    event = RequestHeaderEvent.model_validate(value)
    found = event.data.header.config.temperature
    assert (found, type(found)) == (temperature, type(temperature))


@pytest.mark.parametrize(
    "number", [2**53, 2**53 + 1, -(2**63), 10**30], ids=["2^53", "2^53+1", "-2^63", "10^30"]
)
def test_free_json_holds_any_integer_exactly(number: int) -> None:
    value = {"name": "t", "description": "", "parameters": {"maximum": number, "deep": [number]}}
    assert ToolSchema.model_validate(value).model_dump(mode="json") == value


def test_free_json_may_use_names_that_models_use() -> None:
    value = {
        "name": "t",
        "description": "",
        "parameters": {"model_config": 1, "copy": 2, "schema": {"json": None}, "model_dump": []},
    }
    assert ToolSchema.model_validate(value).model_dump(mode="json") == value
