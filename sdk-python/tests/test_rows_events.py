"""Events: what a row says, whichever way it is read."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
import synthetic
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dsh_protocol import jsonvalue
from dsh_protocol.rows import Event, Log, decode_payloads, decode_seqs, make_event, open_log
from dsh_protocol.rows._event import decode_exactly, decode_loose

RECORDINGS = Path(__file__).parents[2] / "conformance" / "recordings"
STORED = sorted(RECORDINGS.glob("v[34]/*/sessions/*/*/session.v*.jsonl"))
HEADER = synthetic.line(synthetic.header())
MEMBERS = ("type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable")


def read(*rows: bytes) -> Log:
    return open_log(HEADER + b"".join(row + b"\n" for row in rows))


def one(row: bytes) -> Event:
    log = read(row)
    assert log.findings == []
    (event,) = log.events
    return event


def logical(row: bytes) -> dict[str, Any]:
    value = json.loads(row)
    if any(isinstance(member, list) for member in value.get("sourceEventSeqs", [])):
        value["sourceEventSeqs"] = decode_seqs(value["sourceEventSeqs"], value["seq"])
    return dict(value)


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.relative_to(RECORDINGS).parts[:2])
def test_events_of_recordings(path: Path) -> None:
    for event in open_log(path).events:
        expected = logical(event.raw)
        assert event.value == expected
        assert list(event.value) == list(expected)
        assert event.value["data"] is event.data
        assert (event.type, event.seq, event.time) == tuple(expected[n] for n in MEMBERS[:3])
        assert event.surface_op == expected.get("surfaceOp")
        assert event.source_event_seqs == expected.get("sourceEventSeqs")
        assert event.ignorable is expected.get("ignorable", False)
        again = Event.from_value(expected)
        assert again.row_bytes() == event.raw
        assert again.well_formed
        assert again.line is None


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.relative_to(RECORDINGS).parts[:2])
def test_payloads_at_once_and_one_by_one(path: Path) -> None:
    log, other = open_log(path), open_log(path)
    assert decode_payloads(log.events[::2]) == []
    log.decode_payloads()
    assert [event.data for event in log.events] == [event.data for event in other.events]


def test_models_of_both_formats() -> None:
    for version in (3, 4):
        log = open_log(synthetic.log_bytes(synthetic.events(version), version=version))
        for event in log.events:
            assert type(event.model).__module__.startswith("dsh_protocol_models.session")
            dumped = event.model.model_dump(mode="json")
            assert dumped == event.value
    event = one(b'{"type":"turn/start","seq":0,"time":1,"data":{"turn":"x"}}')
    with pytest.raises(ValidationError):
        assert event.model


ROW = '{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}'

# What the released reader (0.2.1-rc.2) takes as an event.
TAKEN = {
    "integral seq": ROW.replace('"seq":0', '"seq":0.0'),
    "exponent": ROW.replace('"time":1', '"time":1e3'),
    "negative time": ROW.replace('"time":1', '"time":-5'),
    "largest time": ROW.replace('"time":1', '"time":9007199254740991'),
    "repeated member": ROW.replace('"seq":0', '"seq":5,"seq":0'),
    "escaped member": ROW.replace('"seq"', '"s\\u0065q"'),
    "null data": ROW.replace('{"turn":1}', "null"),
    "empty type": ROW.replace("turn/start", ""),
    "white space": f" {ROW.replace(':', ' : ')}\t\r",
    "lone surrogate": ROW.replace("1}}", '1,"x":"\\ud800"}}'),
    "huge number": ROW.replace("1}}", '1,"x":123456789012345678901234567890}}'),
    "odd numbers": ROW.replace("1}}", '1,"x":[-0,1e400]}}'),
    "index keys": ROW.replace("1}}", '1,"2":1,"1":2}}'),
    "ignorable": ROW.replace('"data"', '"ignorable":true,"data"'),
    "plugin type": ROW.replace("turn/start", "plugin:x").replace(
        '"data"', '"ignorable":true,"data"'
    ),
}
REFUSED = {
    "text seq": ROW.replace('"seq":0', '"seq":"0"'),
    "fractional seq": ROW.replace('"seq":0', '"seq":0.5'),
    "minus zero seq": ROW.replace('"seq":0', '"seq":-0'),
    "minus zero seq, fractional": ROW.replace('"seq":0', '"seq":-0.0'),
    "negative seq": ROW.replace('"seq":0', '"seq":-1'),
    "seq beyond 2^53": ROW.replace('"seq":0', '"seq":9007199254740992'),
    "true seq": ROW.replace('"seq":0', '"seq":true'),
    "no seq": ROW.replace('"seq":0,', ""),
    "last seq wins": ROW.replace('"seq":0', '"seq":0,"seq":"x"'),
    "minus zero time": ROW.replace('"time":1', '"time":-0'),
    "fractional time": ROW.replace('"time":1', '"time":1.5'),
    "time beyond 2^53": ROW.replace('"time":1', '"time":9007199254740992'),
    "number type": ROW.replace('"turn/start"', "3"),
    "no type": ROW.replace('"type":"turn/start",', ""),
    "no data": '{"type":"turn/start","seq":0,"time":1}',
    "ignorable false": ROW.replace('"data"', '"ignorable":false,"data"'),
    "ignorable null": ROW.replace('"data"', '"ignorable":null,"data"'),
    "ignorable 1": ROW.replace('"data"', '"ignorable":1,"data"'),
    "unknown member": ROW.replace('"data"', '"x":1,"data"'),
    "__proto__": ROW.replace('"data"', '"__proto__":1,"data"'),
    "null operation": ROW.replace('"data"', '"surfaceOp":null,"data"'),
}


@pytest.mark.parametrize("row", TAKEN.values(), ids=TAKEN.keys())
def test_well_formed_rows(row: str) -> None:
    event = one(row.encode())
    assert event.well_formed
    value = jsonvalue.loads(row)
    assert event.value == value
    assert jsonvalue.dumps(event.value) == jsonvalue.dumps(value)
    assert event.row_bytes() == row.encode()


@pytest.mark.parametrize("row", REFUSED.values(), ids=REFUSED.keys())
def test_rows_that_are_not_well_formed_say_what_they_have(row: str) -> None:
    event = one(row.encode())
    assert not event.well_formed
    assert event.value == jsonvalue.loads(row)
    assert event.row_bytes() == row.encode()
    assert isinstance(event.type, str)
    assert event.seq is None or jsonvalue.is_count(event.seq)


@pytest.mark.parametrize("value", ["null", "1", '"x"', "[]", "{}", "true"])
@pytest.mark.parametrize(
    "name",
    [
        "line",
        "raw",
        "well_formed",
        "payload",
        "encoded_seqs",
        "surface_op",
        "_row",
        "_data",
        "model",
    ],
)
def test_a_row_cannot_set_attributes(name: str, value: str) -> None:
    row = ROW.replace('"data"', f'"{name}":{value},"data"').encode()
    event = one(row)
    assert not event.well_formed
    assert event.value[name] == json.loads(value)
    assert (event.line, event.raw, event.seq) == (2, row, 0)


REPLACE = '{"op":"replace","startSeq":0,"endSeq":2}'
OPERATIONS = {
    '"append"': True,
    REPLACE: True,
    '{"endSeq":2,"op":"replace","startSeq":2}': True,
    '{"op":"replace","startSeq":0.0,"endSeq":2}': True,
    '{"op":"replace","startSeq":-0,"endSeq":2}': False,
    '{"op":"replace","start":0,"end":2}': False,
    '{"op":"replace","startSeq":0,"endSeq":2,"start":0}': False,
    '{"op":"replace","startSeq":0}': False,
    '{"op":"insert","startSeq":0,"endSeq":2}': False,
    '{"op":"replace","startSeq":"0","endSeq":2}': False,
    '"replace"': False,
    "{}": False,
    "[]": False,
}


@pytest.mark.parametrize(("operation", "proven"), OPERATIONS.items(), ids=str)
def test_surface_operations(operation: str, proven: bool) -> None:
    row = f'{{"type":"user/message","seq":3,"time":1,"data":{{}},"surfaceOp":{operation}}}'
    event = one(row.encode())
    assert event.well_formed is proven
    assert event.value["surfaceOp"] == jsonvalue.loads(operation)
    if proven:
        assert event.surface_op == json.loads(operation)


def cited(seqs: str, type_: str = "user/message", more: str = "") -> Log:
    rows = [f'{{"type":"turn/end","seq":{n},"time":1,"data":{{}}}}'.encode() for n in range(9)]
    row = f'{{"type":"{type_}","seq":9,"time":1,"data":{{}}{more},"sourceEventSeqs":{seqs}}}'
    return read(*rows, row.encode())


@pytest.mark.parametrize(
    ("seqs", "meaning"),
    [
        ("[1]", [1]),
        ("[0]", [0]),
        ("[]", []),
        ("[3,1,2]", [3, 1, 2]),
        ("[[0,3],5]", [0, 1, 2, 3, 5]),
        ("[[2,2]]", [2]),
        ("[1.0,[3,5]]", [1, 3, 4, 5]),
        # Left to the rules about citations:
        ("[1,1]", [1, 1]),
        ("[12]", [12]),
    ],
)
def test_citations(seqs: str, meaning: list[int]) -> None:
    log = cited(seqs)
    event = log.events[-1]
    assert log.findings == []
    assert event.well_formed
    assert event.source_event_seqs == meaning
    assert event.value["sourceEventSeqs"] == meaning


@pytest.mark.parametrize(
    ("seqs", "left"),
    [
        ("[[3,2]]", [2, 3]),
        ("[[7,9]]", [7]),
        ("[2,[1,3]]", [1, 2, 3]),
        ("[[0,1],[1,2]]", [0, 1, 2]),
        ("[[0,1,2]]", [0, 1, 2]),
        ("[[1],5]", [1, 5]),
        ('[["a",2]]', [2]),
        ("[[-0,2]]", [2]),
        ("[[]]", None),
        ("[[1.5,true]]", None),
    ],
)
def test_pairs_that_make_no_sense(seqs: str, left: list[int] | None) -> None:
    log = cited(seqs)
    event = log.events[-1]
    (finding,) = log.findings
    assert (finding.rule, finding.seq, finding.line) == ("envelope/source-seqs-encoding", 9, 11)
    assert finding.path == "/sourceEventSeqs"
    assert not event.well_formed
    # What can be made out is kept, so that no other rule suffers.
    assert event.value.get("sourceEventSeqs") == left


@pytest.mark.parametrize("seqs", ["null", '"x"', "{}", "[true]", '["1"]', "[-0]", "[1.5]"])
def test_lists_that_are_no_numbers_are_left_to_the_rules_about_citations(seqs: str) -> None:
    log = cited(seqs)
    assert log.findings == []
    assert not log.events[-1].well_formed
    assert log.events[-1].value["sourceEventSeqs"] == jsonvalue.loads(seqs)


@pytest.mark.parametrize("seqs", ["null", '"x"', "[12]", "[1,1]", "[[3,2]]", "[-0]"])
def test_citations_of_unknown_events_are_decoded_too(seqs: str) -> None:
    more = ',"ignorable":true'
    assert [f.rule for f in cited(seqs, "x/y", more).findings] == ["envelope/source-seqs-encoding"]
    assert cited("[[0,3]]", "x/y", more).events[-1].source_event_seqs == [0, 1, 2, 3]


def test_a_new_event_has_the_released_order_of_members() -> None:
    event = make_event(
        "user/message",
        9,
        5,
        {"b": 1, "a": 2},
        source_event_seqs=[1, 2, 3, 7],
        surface_op={"op": "replace", "startSeq": 1, "endSeq": 3},
    )
    assert event.row_bytes() == (
        b'{"type":"user/message","seq":9,"time":5,"data":{"b":1,"a":2},'
        b'"sourceEventSeqs":[[1,3],7],"surfaceOp":{"op":"replace","startSeq":1,"endSeq":3}}'
    )
    assert event.well_formed
    assert make_event("plugin:x", 0, 5, None, ignorable=True).row_bytes() == (
        b'{"type":"plugin:x","seq":0,"time":5,"data":null,"ignorable":true}'
    )


@pytest.mark.parametrize("seqs", [[[1, 3]], ["1"], None, "x", [1.5]])
def test_a_logical_event_cites_plain_numbers(seqs: Any) -> None:
    row = {"type": "user/message", "seq": 9, "time": 1, "data": {}, "sourceEventSeqs": seqs}
    event = Event.from_value(row)
    assert not event.well_formed
    assert event.source_event_seqs is None
    assert event.value == row


def test_a_value_does_not_depend_on_the_stack_of_the_caller() -> None:
    row = ROW.replace("{", '{"ignorable":true,', 1).replace("1}", "[" * 500 + "]" * 500 + "}")
    event = one(row.encode())

    def call(remaining: int) -> Any:
        return call(remaining - 1) if remaining else event.value

    assert list(call(700)) == ["ignorable", "type", "seq", "time", "data"]


def test_events_are_read_by_many_threads() -> None:
    log = open_log(synthetic.log_bytes(synthetic.events()))
    expected = [json.loads(event.raw)["data"] for event in log.events]
    found: list[list[Any]] = []
    threads = [
        threading.Thread(target=lambda: found.append([event.data for event in log.events]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


# ---- The three ways agree --------------------------------------------------------------------------

COUNTS = st.integers(-1, 12) | st.sampled_from([2**53 - 1, 2**53, 1.0, 2.5, -0.0, True, None, "1"])
SEQS = st.lists(COUNTS | st.lists(COUNTS, max_size=3), max_size=4)
REPLACEMENTS = st.fixed_dictionaries(
    {"op": st.sampled_from(["replace", "append"]), "startSeq": COUNTS, "endSeq": COUNTS},
    optional={"start": COUNTS},
)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(["turn/start", "user/message", "plugin:x", "", 3]),
    "seq": COUNTS,
    "time": COUNTS,
    "data": st.sampled_from([None, {}, {"a": [1, 2.5, -0.0]}, [], "é"]),
    "surfaceOp": st.sampled_from(["append", None, 1]) | REPLACEMENTS,
    "sourceEventSeqs": SEQS,
    "ignorable": st.sampled_from([True, False, None, 1]),
    "extra": st.just(1),
}
STORED_ROWS = st.permutations(list(VALUES)).flatmap(
    lambda names: st.fixed_dictionaries(
        {},
        optional={name: VALUES[name] for name in names},
    )
)
LIKELY_ROWS = st.fixed_dictionaries(
    {name: VALUES[name] for name in MEMBERS[:4]},
    optional={name: VALUES[name] for name in MEMBERS[4:]},
)


def attributes(event: Event) -> dict[str, Any]:
    return {
        "type": event.type,
        "seq": event.seq,
        "time": event.time,
        "data": event.data,
        "surface_op": event.surface_op,
        "source_event_seqs": event.source_event_seqs,
        "ignorable": event.ignorable,
        "well_formed": event.well_formed,
        "value": json.dumps(event.value),
    }


@given(STORED_ROWS | LIKELY_ROWS)
@settings(max_examples=600, deadline=None)
def test_all_ways_of_reading_give_the_same_event(row: dict[str, Any]) -> None:
    text = json.dumps(row, separators=(",", ":")).encode()
    value = jsonvalue.loads(text)
    assert isinstance(value, dict)
    exact = decode_exactly(4, value)
    loose = decode_loose(4, text)
    if loose is not None:
        loose.raw = text
        assert attributes(loose) == attributes(exact)
    log = read(text)
    (event,) = log.events
    if not log.findings and event.seq is None:
        # Without a number of its own, pairs cannot be decoded; what they seem to say is kept.
        assert not event.well_formed
    elif not log.findings:
        assert attributes(event) == attributes(exact)
    else:
        assert [f.rule for f in log.findings] == ["envelope/source-seqs-encoding"]
        assert not event.well_formed
    assert event.row_bytes() == text
