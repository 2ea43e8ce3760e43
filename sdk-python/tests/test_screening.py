"""What a quick look takes, a close look finds nothing in: the shortcuts of a check change no report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from corpus import corpus
from example_files import examples
from recorded import recorded
from variations import variations

from dsh_protocol.check import check_file
from dsh_protocol.dialect import Dialect, dialect
from dsh_protocol.findings import UsageError
from dsh_protocol.jsonvalue import check_lossless, dump_bytes, loads
from dsh_protocol.rows import Event, open_log
from dsh_protocol.schemas import Validator, schema_names, struct_type
from dsh_protocol.screening import Screen
from dsh_protocol.state import LEFT_OPEN, LogState, messages, payload
from dsh_protocol.state._losses import Losses
from dsh_protocol.state._report import Report
from dsh_protocol.state.relations import Relations
from dsh_protocol.state.relations._scene import Scene
from dsh_protocol.state.surface import Surface
from dsh_protocol.streams import Ordinary

FORMATS = pytest.mark.parametrize("version", [3, 4])


def valid_events(version: int) -> list[dict[str, Any]]:
    """The events that the examples show: at least one of each type."""
    name = f"session/v{version}/event"
    validator = Validator(name)
    found = [example.value for example in examples() if example.schema == name and example.valid]
    return [event for event in found if validator.covers(event["type"])]


def payloads(version: int, event_type: str) -> list[Any]:
    """The data of the examples and of the recordings of one type, each once."""
    logs = [open_log(entry.log) for entry in recorded((f"v{version}",))]
    found = [e["data"] for e in valid_events(version) if e["type"] == event_type]
    found += [e.data for log in logs for e in log.events if e.type == event_type]
    return list({dump_bytes(data): data for data in found}.values())


def stored(version: int, event: dict[str, Any]) -> Event:
    """The event as the reader of a log gives it."""
    header: dict[str, Any] = {"type": "session", "version": version, "id": "s", "createdAt": 1}
    rest: dict[str, Any] = {"isSeeded": False, "delegationDepth": 0}
    rows = b"".join(dump_bytes(row) + b"\n" for row in (header | rest, event))
    (found,) = open_log(rows).events
    return found


# ---- Structs ---------------------------------------------------------------------------------------


def all_struct_types(version: int) -> Iterator[tuple[str, Any]]:
    for name in schema_names():
        if name.startswith(f"session/v{version}/"):
            with suppress(UsageError):
                yield name, struct_type(name)


@FORMATS
def test_a_value_that_a_struct_takes_is_valid(version: int) -> None:
    types = dict(all_struct_types(version))
    assert len(types) > 200
    taken: Counter[bool] = Counter()
    for event in valid_events(version):
        name = _data_schema(version, event["type"])
        if name not in types:
            continue
        decode, validator = msgspec.json.Decoder(types[name]).decode, Validator(name)
        for value in (event["data"], *list(variations(event["data"]))[::3]):
            try:
                decode(dump_bytes(value))
            except msgspec.ValidationError:
                taken[False] += 1
            else:
                taken[True] += 1
                assert validator.is_valid(value), (name, value)
    assert taken[True] > 200
    assert taken[False] > 5000


def _data_schema(version: int, event_type: str) -> str:
    """The name of the schema of the data of a type."""
    validator: Any = Validator(f"session/v{version}/event")
    data = validator._union.by_tag[event_type].child("properties", "data", member="data")
    return f"session/v{version}/{data.definition}"


@pytest.mark.parametrize(
    "text",
    [
        '{"turn":1,"step":1.0}',
        '{"turn":1,"step":1e0}',
        '{"turn":1,"step":true}',
        '{"turn":1,"step":"1"}',
        '{"turn":1,"step":null}',
        '{"turn":1,"step":9007199254740992}',
        '{"turn":1,"step":1,"step":0}',
        '{"turn":1,"step":0,"step":1}',
        '{"turn":1,"step":1,"\\ud800":1}',
        '{"turn":1}',
        "[1,1]",
        "null",
    ],
)
def test_a_struct_takes_no_number_or_text_that_javascript_might_read_otherwise(text: str) -> None:
    decode = msgspec.json.Decoder(struct_type("session/v4/StepData")).decode
    with pytest.raises((msgspec.ValidationError, msgspec.DecodeError)):
        decode(text.encode())


def test_a_schema_that_no_struct_describes_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        struct_type("session/v4/ImageOffloadData")
    assert refused.value.code == "schemas/no-struct"


@FORMATS
def test_values_that_are_read_many_at_a_time_are_valid_and_those_of_the_texts(version: int) -> None:
    validator = Validator(f"session/v{version}/event")
    taken: Counter[bool] = Counter()
    for event in valid_events(version):
        data = event["data"]
        texts = [dump_bytes(value) for value in (data, *list(variations(data))[1::3])]
        for text in (*texts, *(text.replace(b"1", b"-0") for text in texts)):
            values = validator.read_members(event["type"], "data", [text])
            taken[values is not None] += 1
            if values is not None:
                value = loads(text)
                assert values == [value]
                assert check_lossless(value) == []
                assert validator.is_valid({**event, "data": value})
        valid = validator.read_members(event["type"], "data", texts[:1] * 3)
        assert valid in (None, [loads(texts[0])] * 3)
    assert taken[True] > 200
    assert taken[False] > 5000


# ---- Gists -----------------------------------------------------------------------------------------


@FORMATS
@pytest.mark.parametrize("event_type", sorted(Ordinary.types))
def test_data_with_a_gist_is_in_order(version: int, event_type: str) -> None:
    ordinary = Ordinary(version)
    template = next(e for e in valid_events(version) if e["type"] == event_type)
    validator = Validator(f"session/v{version}/event")
    given: Counter[bool] = Counter()
    for data in payloads(version, event_type)[:12]:
        for value in (data, *variations(data)):
            event = stored(version, {**template, "surfaceOp": "append", "data": value})
            gist = ordinary.gist(event)
            given[gist is not None] += 1
            if gist is None:
                continue
            assert validator.findings(event.shape) == []
            assert payload.is_sound(dialect(version), event)
            assert _contains(event.data, gist)
    assert given[True] > 20
    assert given[False] > 1000


def _contains(value: Any, gist: Any) -> bool:
    """Whether a gist says nothing that the value does not say; of blocks it may leave some out."""
    if isinstance(gist, dict):
        # What a result answers is told in two ways, each in a place of its own in each format.
        known = {name: value.get(name, inner) for name, inner in gist.items()}
        return all(_contains(known[name], inner) for name, inner in gist.items())
    if isinstance(gist, list):
        calls = [block for block in value if block.get("type") == "tool-call"]
        return calls == gist
    return bool(value == gist)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"index":0', '"index":-0'),
        ('"totalTokens":174', '"totalTokens":-0'),
        ('"version":1', '"version":-0.0'),
        ('"version":1', '"version":1e400'),
        ('"sig1"', "[-0]"),
    ],
)
def test_data_that_loses_a_number_has_no_gist(old: str, new: str) -> None:
    (scenario,) = [entry for entry in recorded(("v4",)) if entry.name == "v4/tools"]
    row = next(e.raw for e in open_log(scenario.log).events if e.type == "assistant/message")
    event = stored(4, json.loads(row))
    assert Ordinary(4).gist(event) is not None
    changed = row.decode().replace(old, new)
    assert changed != row.decode()
    header = b'{"type":"session","version":4,"id":"s","createdAt":1,"isSeeded":false,"delegationDepth":0}'
    (event,) = open_log(header + b"\n" + changed.encode() + b"\n").events
    assert check_lossless(event.data) != []
    assert Ordinary(4).gist(event) is None


# ---- What a schema implies -------------------------------------------------------------------------


def checked_types(version: int) -> list[str]:
    """The types whose data breaks no rule by itself once its schema takes it, and of which that is not plain."""
    known = dialect(version)
    return sorted((messages.CHECKED | known.surface_types) - LEFT_OPEN)


@FORMATS
def test_data_that_its_schema_takes_breaks_no_rule_by_itself(version: int) -> None:
    known, validator = dialect(version), Validator(f"session/v{version}/event")
    taken: Counter[str] = Counter()
    for event_type in checked_types(version):
        template = next((e for e in valid_events(version) if e["type"] == event_type), None)
        if template is None:
            assert not validator.covers(event_type)
            continue
        for data in payloads(version, event_type):
            for value in (data, *variations(data)):
                event = {**template, "data": value}
                if validator.is_valid(event):
                    taken[event_type] += 1
                    assert payload.is_sound(known, Event.from_value(event)), event
    assert taken["user/message"] > 100
    assert taken["agent/inbox/spliced"] > 100
    assert min(taken.values()) > 20


@FORMATS
def test_an_event_that_its_schema_takes_breaks_no_implied_relation(version: int) -> None:
    known, validator = dialect(version), Validator(f"session/v{version}/event")
    relations = Relations(known, None, Surface(known, lambda _: None))
    implied = [aspect for aspect in relations._aspects if aspect.implied]
    assert implied
    looked = 0
    for template in valid_events(version):
        checks = [a.check_of(template["type"]) for a in implied if template["type"] in a.checked]
        for data in variations(template["data"]) if checks else ():
            event = {**template, "data": data}
            if not validator.is_valid(event):
                continue
            report = Report(version, template["seq"], None)
            for check in checks:
                check(_scene(report, Event.from_value(event)))
            assert report.findings == [], event
            looked += 1
    assert looked > 1000


def _scene(report: Report, event: Event) -> Scene:
    scene = Scene(report, Losses())
    scene.event, scene.type, scene.data, scene.seq = event, event.type, event.data, event.seq
    return scene


@FORMATS
def test_an_event_taken_by_the_short_way_conforms_when_its_data_does(version: int) -> None:
    known, validator = dialect(version), Validator(f"session/v{version}/event")
    state = LogState(known, rules="envelope")
    seen = 0
    for example in valid_events(version):
        for envelope in _envelopes(known, example):
            event = stored(version, envelope)
            state._numbering.expected, event.line = event.seq, None
            if state.take(event, event.data):
                assert validator.findings(event.shape) == [], envelope
                seen += 1
    assert seen > 100


def _envelopes(known: Dialect, example: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An event with every envelope that its data might stand in, sound or not."""
    bare = {name: example[name] for name in ("type", "data")}
    start, end = known.replace_keys
    for seq, time in ((0, 0), (9, -1), (2**53 - 1, 2**53 - 1)):
        for flag in ({}, {"ignorable": True}, {"ignorable": False}):
            for operation in (
                {},
                {"surfaceOp": "append"},
                {"surfaceOp": {"op": "replace", start: 1, end: 1}},
            ):
                cited: dict[str, Any]
                for cited in (
                    {},
                    {"sourceEventSeqs": [1]},
                    {"sourceEventSeqs": []},
                    {"sourceEventSeqs": [1, 2]},
                ):
                    yield {**bare, "seq": seq, "time": time, **flag, **operation, **cited}


# ---- Whole logs ------------------------------------------------------------------------------------


def test_a_check_without_shortcuts_reports_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    paths = [entry.log for entry in recorded()]
    for number, (_, data, _) in enumerate(corpus()[::7]):
        path = tmp_path / f"{number}.log"
        path.write_bytes(data)
        paths.append(path)
    quick = [check_file(path).to_json() for path in paths]
    assert sum(len(report["findings"]) for report in quick) > 100
    monkeypatch.setattr(Screen, "gists", _no_gists(Screen.gists))
    monkeypatch.setattr(LogState, "take", lambda *_: False)
    assert [check_file(path).to_json() for path in paths] == quick


def _no_gists(gists: Any) -> Any:
    def look(screen: Screen, batch: list[Event]) -> list[None]:
        # What is found about numbers stays.
        return [None for _ in gists(screen, batch)]

    return look
