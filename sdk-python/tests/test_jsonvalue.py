"""JSON as JavaScript has it. `data/javascript_json.json` is what Node.js answered for each text."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_protocol import jsonvalue
from dsh_protocol.findings import JsonError
from dsh_protocol.jsonvalue import JsonValue

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "javascript_json.json").read_text("ascii")
)


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: ascii(case["text"])[:40])
def test_reads_and_writes_as_node_does(case: dict[str, Any]) -> None:
    data = case["text"].encode("utf-8", "surrogatepass")
    if case["stringify"] is None:
        with pytest.raises(JsonError) as caught:
            jsonvalue.loads(data)
        assert caught.value.code == "json/syntax"
        return
    value = jsonvalue.loads(data)
    assert jsonvalue.dumps(value) == case["stringify"]
    assert jsonvalue._write_exactly(value, fast_levels=0) == case["stringify"]
    assert jsonvalue.loads(case["text"]) == value


def test_both_verdicts_occur_in_the_vectors() -> None:
    refused = sum(case["stringify"] is None for case in VECTORS)
    assert 40 < refused < len(VECTORS) - 100


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3.0", 3),
        ("1e3", 1000),
        ("-0.5", -0.5),
        ("9007199254740993", 9007199254740992),
        ("1e22", 10**22),
        ('{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
        (r'"\ud800"', "\ud800"),
        (r'"\ud83d\ude00"', "\U0001f600"),
    ],
)
def test_values(text: str, value: JsonValue) -> None:
    read = jsonvalue.loads(text)
    assert read == value
    assert type(read) is type(value)


def test_what_no_python_integer_can_hold_is_a_float() -> None:
    assert jsonvalue.loads("1e400") == math.inf
    assert jsonvalue.loads("-1e400") == -math.inf
    assert jsonvalue.loads("9" * 400) == math.inf
    for text in ("-0", "-0.0", "-0e5", "-1e-400"):
        zero = jsonvalue.loads(text)
        assert isinstance(zero, float)
        assert math.copysign(1, zero) == -1
    assert type(jsonvalue.loads("0.0")) is int


@pytest.mark.parametrize(
    ("data", "code", "message"),
    [
        (b'{"a":\xff}', "json/encoding", "byte 5"),
        (b'{"\xc3\xa9":"\xff"}', "json/encoding", "byte 7"),
        (b'"\xed\xa0\x80"', "json/encoding", "byte 1"),
        ('["é", nope]'.encode(), "json/syntax", "byte 7"),
        (b"[1] x", "json/syntax", "byte 4"),
        (b"NaN", "json/syntax", "NaN"),
        (b"\xef\xbb\xbf1", "json/syntax", "byte 0"),
    ],
)
def test_errors_have_a_code_and_a_place(data: bytes, code: str, message: str) -> None:
    with pytest.raises(JsonError) as caught:
        jsonvalue.loads(data)
    assert caught.value.code == code
    assert message in caught.value.message


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def test_depth_limit_is_exact() -> None:
    assert jsonvalue.loads(nested(512)) is not None
    assert jsonvalue.loads(b'{"a":' * 512 + b"1" + b"}" * 512) is not None
    flat = b"[" + b",".join([b'{"a":["]]]]","[[[["]}'] * 2000) + b"]"
    assert jsonvalue.loads(flat) is not None
    assert jsonvalue.loads(nested(3), max_depth=3) == [[[]]]
    for text, limit in ((nested(513), 512), (nested(4), 3), (nested(200_000), 512)):
        with pytest.raises(JsonError) as caught:
            jsonvalue.loads(text, max_depth=limit)
        assert caught.value.code == "json/depth"


def test_depth_does_not_depend_on_the_stack_of_the_caller() -> None:
    deepest = nested(512)

    def call(remaining: int) -> JsonValue:
        return call(remaining - 1) if remaining else jsonvalue.loads(deepest)

    value = call(600)
    assert jsonvalue.dump_bytes(value) == deepest

    def write(remaining: int) -> bytes:
        return write(remaining - 1) if remaining else jsonvalue.dump_bytes(value)

    assert write(600) == deepest


def test_unbalanced_brackets_do_not_hurt() -> None:
    for text in (b"[" * 1_000_000, b"]" * 1_000_000, b'[{"' * 100_000, b'"\\' * 100_000):
        with pytest.raises(JsonError):
            jsonvalue.loads(text)


def test_a_cycle_is_refused() -> None:
    ring: list[Any] = []
    ring.append(ring)
    for refuse in (jsonvalue.dumps, jsonvalue.dump_bytes):
        with pytest.raises(JsonError) as caught:
            refuse(ring)
        assert caught.value.code == "json/depth"
    assert jsonvalue.check_lossless(ring) == [("/0" * 512, "json/depth")]


@pytest.mark.parametrize("value", [{"a": {1: 2}}, {"a": {None: 2}}, [object()], {"a": [{1, 2}]}])
def test_what_is_no_json_value_is_refused(value: Any) -> None:
    with pytest.raises(JsonError) as caught:
        jsonvalue.check_lossless(value)
    assert caught.value.code == "json/value"
    assert caught.value.path in ("/a", "/0", "/a/0")


def test_an_integer_that_no_double_equals_is_refused() -> None:
    assert jsonvalue.check_lossless([2**53, 2**64, 10**22]) == []
    with pytest.raises(JsonError) as caught:
        jsonvalue.check_lossless({"n": 2**53 + 1})
    assert (caught.value.code, caught.value.path) == ("json/value", "/n")


def test_lossless_rules_name_every_place() -> None:
    text = b'{"a":[-0,1],"b/c":{"~":1e400},"d":-0.0,"e":[0,0.5,1e300,"-0"]}'
    assert jsonvalue.check_lossless(jsonvalue.loads(text)) == [
        ("/a/0", "json/negative-zero"),
        ("/b~1c/~0", "json/finite"),
        ("/d", "json/negative-zero"),
    ]
    assert not jsonvalue.is_surely_lossless(text)
    assert jsonvalue.is_surely_lossless(b'{"a":[0,0.5,1e30,"2024-05-06"]}')


def test_equality_of_json_values() -> None:
    assert jsonvalue.equal({"a": 1, "b": [1.5, None]}, {"b": [1.5, None], "a": 1.0})
    assert jsonvalue.equal("\ud83d" + "\ude00", "\U0001f600")
    different: list[tuple[Any, Any]] = [
        (1, True),
        (0, False),
        (None, False),
        ("1", 1),
        ([], {}),
        ([1], [1, 1]),
        ({"a": 1}, {"a": 1, "b": 1}),
        ({"a": [True]}, {"a": [1]}),
        ("\ud83d", "\U0001f600"),
    ]
    for a, b in different:
        assert not jsonvalue.equal(a, b)
        assert not jsonvalue.equal(b, a)


def test_halves_of_a_character_are_written_joined() -> None:
    # In JavaScript "\ud83d" + "\ude00" is one character, and JSON.stringify writes it raw.
    text = "".join(["\ud83d", "\ude00", "\ude00"])
    assert jsonvalue.dumps({text: text}) == '{"\U0001f600\\ude00":"\U0001f600\\ude00"}'
    assert jsonvalue.join_surrogates(text) == "\U0001f600\ude00"


def test_pointer_and_small_helpers() -> None:
    assert jsonvalue.pointer() == ""
    assert jsonvalue.pointer("a/b", 0, "~", "") == "/a~1b/0/~0/"
    assert jsonvalue.utf8_error("é\u2028".encode()) is None
    assert jsonvalue.utf8_error(b"abc\xc3") == 3
    assert jsonvalue.is_count(0)
    assert jsonvalue.is_count(2**53 - 1)
    for value in (-1, 2**53, True, 1.5, -0.0, "1", None):
        assert not jsonvalue.is_count(value)


def same(a: Any, b: Any) -> bool:
    """Equal with member order, type and sign of zero."""
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    return bool(a == b)


KEYS = st.text(max_size=3) | st.sampled_from(["0", "1", "10", "01", "4294967295", "-1", "٣"])
NUMBER_TEXTS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True
)
STRING_TEXTS = (st.text(max_size=8) | st.sampled_from(["\ud800", "a\ude00b"])).map(json.dumps)
LEAVES = NUMBER_TEXTS | STRING_TEXTS | st.sampled_from(["true", "false", "null"])


def arrays(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(items, max_size=4).map(lambda parts: f"[{' ,'.join(parts)}]")


def objects(items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    member = st.tuples(KEYS.map(json.dumps), st.sampled_from([":", " : "]), items).map("".join)
    return st.lists(member, max_size=4).map(lambda parts: f"{{{','.join(parts)}}}")


TEXTS = st.recursive(LEAVES, lambda items: arrays(items) | objects(items), max_leaves=12)


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_fast_and_exact_paths_agree(text: str) -> None:
    value = jsonvalue.loads(text.encode())
    assert same(value, jsonvalue._read_exactly(text))
    written = jsonvalue.dump_bytes(value)
    assert written.decode() == jsonvalue._write_exactly(value, fast_levels=0)
    if not jsonvalue.check_lossless(value):
        assert same(jsonvalue.loads(written), value)
    if jsonvalue.is_surely_lossless(text.encode()):
        assert jsonvalue.check_lossless(value) == []


@given(st.lists(TEXTS, max_size=6))
@settings(max_examples=100, deadline=None)
def test_many_texts_give_the_same_values_as_one_by_one(texts: list[str]) -> None:
    many = jsonvalue.loads_many([text.encode() for text in texts])
    assert same(many, [jsonvalue.loads(text) for text in texts])


@given(st.binary(max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_bytes_give_a_value_or_a_json_error(data: bytes) -> None:
    try:
        value = jsonvalue.loads(data)
    except JsonError:
        return
    assert jsonvalue.dumps(value)


def test_many_texts_of_which_one_is_deep() -> None:
    with pytest.raises(JsonError) as caught:
        jsonvalue.loads_many([b"1", nested(600)])
    assert caught.value.code == "json/depth"


@pytest.mark.parametrize("name", ["a", "b", "", "1"])
def test_one_member_of_many_texts(name: str) -> None:
    texts = [
        b'{"a":1,"b":{"2":0,"1":1.0}}',
        b"[1]",
        b"null",
        b'{"b":-0,"a":9007199254740993}',
        b'{"a":"\\ud800"}',
        b'{"a":1,"a":2}',
        b'{"":[1e400]}',
    ]
    for some in (texts, texts[:1], texts[5:6]):
        whole = [jsonvalue.loads(text) for text in some]
        expected = [value.get(name) if isinstance(value, dict) else None for value in whole]
        found = jsonvalue.load_members(some, name)
        assert [jsonvalue.dumps(v) for v in found] == [jsonvalue.dumps(v) for v in expected]
