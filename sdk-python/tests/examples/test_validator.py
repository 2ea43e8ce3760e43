"""The validator as an interface: the same findings as `check`, from values and from text, and typed models."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import Any, assert_type

import pytest
import synthetic
from example_files import Example, examples
from pydantic import BaseModel, TypeAdapter, ValidationError

from dsh_protocol import Finding, RefusedError, SchemaFinding, Validator, schema_names
from dsh_protocol.check import check_log
from dsh_protocol.rows import open_log
from dsh_protocol.schemas._catalog import find
from dsh_protocol.schemas._engines import Engine
from dsh_protocol.schemas._models import builder
from dsh_protocol_models.session.common.turns import TurnStartEvent
from dsh_protocol_models.session.v4 import events as v4
from dsh_protocol_models.session.v4.headers import SessionHeader
from dsh_protocol_models.wire.deepseek_chats import ChatRequest

TURN_START = {"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": 1}}
BROKEN = {"type": "turn/start", "seq": 7, "time": -0.5, "data": {"turn": 0, "x": 1}}
BROKEN_PLACES = [
    ("additionalProperties", "/data"),
    ("minimum", "/data/turn"),
    ("type", "/time"),
]

_validators: dict[str, Validator] = {}


def validator(example: Example) -> Validator:
    if example.schema not in _validators:
        _validators[example.schema] = Validator(example.schema)
    return _validators[example.schema]


# ---- As `check` says it ------------------------------------------------------------------------


def shown(finding: Finding) -> tuple[Any, ...]:
    return (*finding.to_json().values(),)


def overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


@pytest.mark.parametrize("version", [3, 4])
def test_the_findings_are_those_of_check(version: int) -> None:
    """Each event example as a log of its own; what `check` leaves out stands where a rule refuses the event anyway."""
    header = synthetic.line(synthetic.header(version))
    count: Counter[str] = Counter()
    for example in examples():
        if example.schema != f"session/v{version}/event" or "type" not in example.value:
            continue
        if not validator(example).covers(str(example.value["type"])):
            continue  # A rule refuses unknown types without the marker; the marked have no payload schema.
        if example.place.endswith("-stored-range.json"):
            continue  # No event in memory, but good in a log.
        log = open_log(header + json.dumps(example.value).encode() + b"\n")
        checked = check_log(log).findings
        printed = {shown(f) for f in checked if f.rule == "schema/payload"}
        errors = [f.path for f in checked if f.rule != "schema/payload"]
        for found in validator(example).findings(example.value):
            as_printed = shown(replace(found, line=2))
            if as_printed in printed:
                printed.remove(as_printed)
                count["printed"] += 1
            else:
                left_out = (e == found.path or (e and overlap(e, found.place)) for e in errors)
                assert any(left_out), example.place
                count["left out"] += 1
        assert not printed, example.place
    assert count["printed"] > 500
    assert count["left out"] > 100


def test_a_schema_finding_is_a_finding() -> None:
    (finding, *_) = Validator("session/v4/event").findings(BROKEN)
    assert isinstance(finding, Finding)
    assert finding.to_json() == {
        "rule": "schema/payload",
        "severity": "warning",
        "seq": 7,
        "line": None,
        "path": "/data",
        "message": 'additionalProperties: member "x" is not declared',
        "fix": finding.fix,
        "because": None,
    }
    assert (finding.keyword, finding.member, finding.place) == (
        "additionalProperties",
        "x",
        "/data/x",
    )
    assert "dsh-protocol types" in finding.fix


# ---- Verdicts ----------------------------------------------------------------------------------


def test_the_verdict_of_every_example() -> None:
    for example in examples():
        assert validator(example).is_valid(example.value) == example.valid, example.place


def test_a_valid_value_comes_back_and_an_invalid_one_is_refused_with_all_findings() -> None:
    events = Validator("session/v4/event")
    assert events.validate(TURN_START) is TURN_START
    with pytest.raises(RefusedError) as refused:
        events.validate(BROKEN)
    found = refused.value.findings
    assert [(f.keyword, f.path) for f in found if isinstance(f, SchemaFinding)] == BROKEN_PLACES
    assert found == tuple(events.findings(BROKEN))
    assert refused.value.code == "schema/payload"
    assert "session/v4/event" in str(refused.value)


@pytest.mark.parametrize("value", ["\ud800", {"type": "\ud800"}, {"type": "turn/start\ud800"}])
def test_a_value_that_the_fast_engine_cannot_take_has_a_verdict(value: Any) -> None:
    assert Validator("session/v4/event").is_valid(value) is False


def test_a_lone_surrogate_is_valid() -> None:
    value = synthetic.events()[3]
    value["data"]["content"][0]["text"] = "\ud800"
    assert Validator("session/v4/event").is_valid(value)
    assert Validator("session/v4/event", engine="reference").is_valid(value)


# ---- Text --------------------------------------------------------------------------------------


def test_text_has_the_findings_of_its_value() -> None:
    for example in examples():
        text = json.dumps(example.value)
        expected = validator(example).findings(example.value)
        assert validator(example).findings_json(text) == expected, example.place
        assert validator(example).findings_json(text.encode()) == expected, example.place
        assert validator(example).is_valid_json(text) == example.valid, example.place


@pytest.mark.parametrize(
    ("text", "rule", "said"),
    [
        (b"", "json/syntax", "byte 0"),
        (b'{"a":1,}', "json/syntax", "byte 7"),
        (b"[NaN]", "json/syntax", "NaN"),
        (b"{}{}", "json/syntax", "byte 2"),
        (b'{"a":"\xff"}', "json/encoding", "byte 6"),
        (b'{"a":"\xed\xa0\x80"}', "json/encoding", "byte 6"),
        (b"[" * 513 + b"]" * 513, "json/depth", "512"),
        ("[" * 513 + "]" * 513, "json/depth", "512"),
        ("\ud800", "json/syntax", "byte 0"),
    ],
)
def test_text_that_has_no_value(text: bytes | str, rule: str, said: str) -> None:
    for name in ("session/v4/event", "wire/deepseek-messages"):
        (finding,) = Validator(name).findings_json(text)
        assert (finding.rule, finding.severity, finding.path) == (rule, "error", "")
        assert said in finding.message
        assert finding.fix
        assert not Validator(name).is_valid_json(text)


def test_text_that_has_no_value_is_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        Validator("session/v4/event").validate_json(b"{")
    assert [f.rule for f in refused.value.findings] == ["json/syntax"]


def test_the_value_of_a_text_is_what_javascript_reads() -> None:
    text = '{"time":1.0,"seq":1e0,"type":"turn/start","data":{"turn":3},"seq":2}'
    value = Validator("session/v4/event").validate_json(text)
    assert json.dumps(value) == ('{"time": 1, "seq": 2, "type": "turn/start", "data": {"turn": 3}}')


def test_numbers_that_a_log_cannot_keep_are_errors_and_come_first() -> None:
    text = '{"type":"turn/start","seq":4,"time":1e999,"data":{"turn":0,"x":[-0]}}'
    found = Validator("session/v4/event").findings_json(text)
    assert [(f.rule, f.severity, f.seq, f.path) for f in found] == [
        ("json/finite", "error", 4, "/time"),
        ("json/negative-zero", "error", 4, "/data/x/0"),
        # That time is no integer and x is not declared is said already.
        ("schema/payload", "warning", 4, "/data/turn"),
    ]


def test_a_request_may_hold_any_number() -> None:
    example = next(e for e in examples() if e.schema == "wire/deepseek-messages" and e.valid)
    text = json.dumps({**example.value, "temperature": -0.0})
    assert Validator("wire/deepseek-messages").findings_json(text) == []


# ---- Models ------------------------------------------------------------------------------------


def test_every_schema_has_a_model() -> None:
    for name in schema_names():
        assert callable(builder(find(name))), name


def test_the_model_of_every_valid_example_dumps_to_it() -> None:
    any_value: TypeAdapter[Any] = TypeAdapter(Any)
    count = 0
    for example in examples():
        if example.valid:
            model = validator(example).model(example.value)
            assert any_value.dump_python(model, mode="json") == example.value, example.place
            count += isinstance(model, BaseModel)
    assert count > 500


def test_an_invalid_value_has_no_model() -> None:
    with pytest.raises(RefusedError) as refused:
        Validator("session/v4/event").model(BROKEN)
    assert [f.path for f in refused.value.findings] == [path for _, path in BROKEN_PLACES]


def test_a_model_wants_integers_as_loads_gives_them() -> None:
    events = Validator("session/v4/event")
    assert events.is_valid({**TURN_START, "seq": 1.0})
    with pytest.raises(ValidationError):
        events.model({**TURN_START, "seq": 1.0})
    assert events.model(events.validate_json(json.dumps({**TURN_START, "seq": 1.0}))).seq == 1


def test_types() -> None:
    """What mypy makes of the names, checked when the tests are type checked."""
    events = Validator("session/v4/event")
    assert_type(events, Validator[v4.SessionEvent])
    event = events.model(TURN_START)
    assert_type(event, v4.SessionEvent)
    assert isinstance(event, TurnStartEvent)
    assert event.data.turn == 1
    assert_type(Validator("session/v4/header"), Validator[SessionHeader])
    assert_type(Validator("wire/deepseek-chat"), Validator[ChatRequest])
    assert_type(Validator("session/v4/TurnStartEvent"), Validator[Any])
    assert_type(events.validate(TURN_START), dict[str, object])
    unparametrized: Validator = events
    assert unparametrized.name == "session/v4/event"


# ---- Cost and sharing --------------------------------------------------------------------------

QUIET = """
import sys
from dsh_protocol import Validator
text = '{"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": 1}}'
events = Validator("session/v4/event")
assert events.is_valid_json(text)
assert events.findings_json(text[1:])
heavy = {"jsonschema", "referencing", "pydantic", "yaml", "typer"} & set(sys.modules)
assert not heavy, heavy
events.model(events.validate_json(text))
assert "pydantic" in sys.modules
assert "dsh_protocol_models.session.v3.events" not in sys.modules
"""

COLD_THREADS = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
import jsonschema_rs
from dsh_protocol import Validator

compile_, compiled = jsonschema_rs.validator_for, []
def counted(schema):
    compiled.append(schema.get("description"))
    return compile_(schema)
jsonschema_rs.validator_for = counted

good = {"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": 1}}
bad = {"type": "user/message", "seq": 1, "time": 1, "surfaceOp": "append", "data": {"content": [{}]}}
together = Barrier(8)

def ask(_):
    together.wait()
    events = Validator("session/v4/event")
    return [events.is_valid(good), *((f.keyword, f.path) for f in events.findings(bad))]

with ThreadPoolExecutor(8) as pool:
    answers = list(pool.map(ask, range(8)))
assert answers == [answers[0]] * 8 and answers[0][0] is True and len(answers[0]) > 3, answers
repeated = {d for d in compiled if compiled.count(d) > 2}
assert not repeated, repeated
"""


@pytest.mark.parametrize("code", [QUIET, COLD_THREADS], ids=["what is loaded", "cold threads"])
def test_in_a_fresh_process(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- Bounds ------------------------------------------------------------------------------------


def todos(entries: list[Any]) -> dict[str, Any]:
    return {"type": "todo/write", "seq": 0, "time": 1, "data": {"todos": entries}}


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_a_hostile_value_has_a_bounded_number_of_findings(engine: Engine) -> None:
    events = Validator("session/v4/event", engine=engine)
    assert len(events.findings(todos([5] * 3000))) == 1000
    assert len(events.findings(TURN_START | {f"k{i}": 1 for i in range(3000)})) == 1000
    (first,) = events.findings(todos([5] * 30_000))
    assert (first.path, first.keyword) == ("/data/todos/0", "type")
    fine = {"content": "c", "status": "pending"}
    (only,) = events.findings(todos([fine] * 10_000 + [5]))
    assert (only.path, only.keyword) == ("/data/todos/10000", "type")


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize(
    ("entries", "repeated"),
    [
        ([{"a": i} for i in range(5000)], False),
        ([{"a": 1, "b": [2]}, {"b": [2], "a": 1}], True),
        ([1, True, "1", [1], 0, False, None], False),
        ([1, 1.0], True),
        ([[1, [2]], [1, [2]]], True),
    ],
)
def test_entries_are_unique_as_json_values(
    engine: Engine, entries: list[Any], repeated: bool
) -> None:
    # A lone surrogate leaves the fast engine no choice but the other one.
    data = {"title": "\ud800", "messageSeqs": entries, "source": {"kind": "fallback"}}
    event = {"type": "session/title", "seq": 9, "time": 1, "data": data}
    found = {f.keyword for f in Validator("session/v4/event", engine=engine).findings(event)}
    assert ("uniqueItems" in found) == repeated
