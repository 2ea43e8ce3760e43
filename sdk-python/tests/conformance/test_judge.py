"""Whether answers are right: values, refusals, what an adapter does not say, matchers and steps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dsh_protocol.conformance.judge import REPORTED, judge

Json = dict[str, Any]
PLACE = {"rule": "a/b", "seq": 3, "path": "/data"}
OTHER = {"rule": "a/c", "seq": 4, "path": ""}


def verdict(expect: Json, answer: Json, *reports: str) -> str:
    return judge(expect, answer, reports or REPORTED).verdict.value


@pytest.mark.parametrize(
    ("expect", "answer", "why"),
    [
        (1, 1.0, ""),
        (0, -0.0, ""),
        ({"a": 1, "b": [None]}, {"b": [None], "a": 1}, ""),
        (1, True, "true, expected 1"),
        (True, 1, "1, expected true"),
        (None, False, "false, expected null"),
        ("1", 1, '1, expected "1"'),
        ([1, 2], [1, 3], "/1: 3, expected 2"),
        ([1, 2], [1], "1 entries, expected 2"),
        ([1], [1, 2], "2 entries, expected 1"),
        ({"a/b": {"c": 1}}, {"a/b": {"c": 2}}, "/a~1b/c: 2, expected 1"),
        ({"a": 1}, {"a": 1, "b": 2}, 'the member "b" is not expected'),
        ({"a": 1}, {}, 'the member "a" is missing'),
        ({"a": 1}, [1], '[1], expected {"a": 1}'),
        ("\ud800", "\ud800", ""),
    ],
)
def test_values(expect: Any, answer: Any, why: str) -> None:
    assert judge({"ok": expect}, {"ok": answer}) == (("failed" if why else "passed"), why)


def test_shown_values_are_short_and_harmless() -> None:
    why = judge({"ok": "a"}, {"ok": "\x1b[31m" + "x" * 1000}).why
    assert len(why) < 250
    assert "\x1b" not in why


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"refused": True, "note": "no"}, 'refused "no", expected ok'),
        ({"refused": PLACE}, f"refused {json.dumps(PLACE)}, expected ok"),
        ({"steps": []}, "steps [], expected ok"),
    ],
)
def test_a_refusal_in_place_of_a_value(answer: Json, why: str) -> None:
    assert judge({"ok": 1}, answer) == ("failed", why)


def test_no_answer_at_all() -> None:
    assert judge({"ok": 1}, {"unsupported": "no"}) == ("unsupported", "no")
    assert judge({"ok": 1}, {"error": "a bug"}) == ("errored", "a bug")


@pytest.mark.parametrize(
    ("expect", "answer", "reports", "found"),
    [
        (PLACE, PLACE, REPORTED, "passed"),
        (PLACE, [PLACE], REPORTED, "passed"),
        ([OTHER, PLACE], [PLACE, OTHER], REPORTED, "passed"),
        (PLACE, OTHER, REPORTED, "failed"),
        (PLACE, {**PLACE, "path": ""}, REPORTED, "failed"),
        ([OTHER, PLACE], PLACE, REPORTED, "failed"),
        (PLACE, [PLACE, PLACE], REPORTED, "failed"),
        # Refused without a rule by one that names rules.
        (PLACE, True, REPORTED, "failed"),
        (PLACE, True, (), "bare"),
        (PLACE, {"rule": "a/b"}, ("rule",), "bare"),
        (PLACE, {"rule": "a/c"}, ("rule",), "failed"),
        (PLACE, {"rule": "a/b", "seq": 3, "path": "/data"}, ("rule", "seq", "path"), "passed"),
        ({"code": "X", "path": ""}, {"code": "X"}, ("code",), "bare"),
        ({"code": "X", "path": ""}, {"code": "Y"}, ("code",), "failed"),
        # The code says nothing about a rule, so that it is not compared.
        (PLACE, True, ("code",), "bare"),
    ],
)
def test_refusals(expect: Any, answer: Any, reports: tuple[str, ...], found: str) -> None:
    assert judge({"refused": expect}, {"refused": answer}, reports).verdict == found


@pytest.mark.parametrize(
    ("expect", "answer", "found"),
    [
        ({**PLACE, "text": "so"}, {**PLACE, "text": "so"}, "passed"),
        ({**PLACE, "text": "so"}, {**PLACE, "text": "or so"}, "failed"),
        ({**PLACE, "text": "so"}, PLACE, "failed"),
        # The words are the implementation's own where the case has none.
        (PLACE, {**PLACE, "text": "in my words"}, "passed"),
        ([PLACE, OTHER], [{**OTHER, "text": "x"}, {**PLACE, "text": "y"}], "passed"),
    ],
)
def test_the_words_of_a_refusal(expect: Any, answer: Any, found: str) -> None:
    assert verdict({"refused": expect}, {"refused": answer}) == found
    steps = {"steps": [{"refused": expect}]}, {"steps": [{"refused": answer}]}
    assert verdict(*steps) == found


def test_words_that_are_not_reported() -> None:
    expect = {"refused": {**PLACE, "text": "so"}}
    assert verdict(expect, {"refused": PLACE}, "rule", "seq", "path") == "bare"
    assert verdict(expect, {"refused": {"text": "so"}}, "text") == "bare"
    assert verdict(expect, {"refused": {"text": "or so"}}, "text") == "failed"


def test_a_value_in_place_of_a_refusal() -> None:
    assert judge({"refused": PLACE}, {"ok": 1}, ()) == ("failed", "ok 1, expected refused")


@pytest.mark.parametrize(
    ("expect", "answer", "reports", "found"),
    [
        ({"readable": True}, {"readable": True}, REPORTED, "passed"),
        ({"readable": True}, {"readable": False}, REPORTED, "failed"),
        ({"readable": True}, {}, REPORTED, "failed"),
        ({"readable": True}, {}, ("rule", "seq", "path"), "bare"),
        ({"readable": True}, {"readable": False}, ("readable",), "failed"),
        ({"warned": OTHER}, {"warned": OTHER}, REPORTED, "passed"),
        ({"warned": OTHER}, {"warned": [OTHER]}, REPORTED, "passed"),
        ({"warned": OTHER}, {"warned": PLACE}, REPORTED, "failed"),
        # Beside a refusal, other warnings do not count.
        ({}, {"warned": OTHER}, REPORTED, "passed"),
    ],
)
def test_beside_a_refusal(expect: Json, answer: Json, reports: tuple[str, ...], found: str) -> None:
    refused = {"refused": PLACE}
    answered = refused if "rule" in reports else {"refused": True}
    assert judge({**refused, **expect}, {**answered, **answer}, reports).verdict == found


@pytest.mark.parametrize(
    ("expect", "answer", "found"),
    [({}, {}, "passed"), ({}, {"warned": OTHER}, "failed"), ({"warned": OTHER}, {}, "failed")],
)
def test_warnings_beside_a_value(expect: Json, answer: Json, found: str) -> None:
    assert verdict({"ok": 1, **expect}, {"ok": 1, **answer}) == found


def test_warnings_of_one_that_has_none() -> None:
    assert verdict({"ok": 1, "warned": OTHER}, {"ok": 1}, "rule") == "bare"


ID = {"$match": "string", "pattern": "^m-", "as": "id"}


@pytest.mark.parametrize(
    ("expect", "answer", "right"),
    [
        ({"$match": "any"}, [1], True),
        ({"$match": "string"}, "", True),
        ({"$match": "string"}, 1, False),
        ({"$match": "string", "pattern": "^a+$"}, "aa", True),
        ({"$match": "string", "pattern": "^a+$"}, "ab", False),
        ({"$match": "integer"}, 3, True),
        ({"$match": "integer"}, 3.0, True),
        ({"$match": "integer"}, 3.5, False),
        ({"$match": "integer"}, True, False),
        ({"$match": "integer"}, float("inf"), False),
        ({"$match": "integer", "minimum": 4}, 3, False),
        ([ID, {"id": ID}], ["m-1", {"id": "m-1"}], True),
        ([ID, {"id": ID}], ["m-1", {"id": "m-2"}], False),
        ([{"$match": "any", "as": "x"}, {"$match": "any", "as": "y"}], [1, 1], True),
        ([{"$match": "any", "as": "x"}, {"$match": "any", "as": "x"}], [1, True], False),
        ({"a": {"$match": "any"}}, {}, False),
        ({"$literal": {"$match": "any"}}, {"$match": "any"}, True),
        ({"$literal": {"$match": "any"}}, 5, False),
    ],
)
def test_matchers(expect: Any, answer: Any, right: bool) -> None:
    assert verdict({"ok": expect}, {"ok": answer}) == ("passed" if right else "failed")


STEPS = [{"ok": {"id": ID}}, {"refused": PLACE}, None, {"ok": ID}]


def test_steps() -> None:
    right = [{"ok": {"id": "m-1"}}, {"refused": PLACE}, {"ok": 17}, {"ok": "m-1"}]
    assert judge({"steps": STEPS}, {"steps": right}) == ("passed", "")
    assert verdict({"steps": STEPS}, {"steps": right[:3]}) == "failed"
    assert judge({"steps": STEPS}, {"steps": [*right[:3], {"ok": "m-2"}]}) == (
        "failed",
        "step 3: another id",
    )
    bare = [right[0], {"refused": True}, *right[2:]]
    assert verdict({"steps": STEPS}, {"steps": bare}) == "failed"
    assert verdict({"steps": STEPS}, {"steps": bare}, "readable") == "bare"
    taken = [right[0], {"ok": 1}, *right[2:]]
    assert judge({"steps": STEPS}, {"steps": taken}).why == "step 1: ok 1, expected refused"
