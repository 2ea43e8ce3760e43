"""What is fuzzed: random logs are sound, changes are reproducible, and no log at all ends in an exception."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from typing import Any

import pytest

from _fuzz.compare import differences, text_differences
from _fuzz.logs import random_log
from _fuzz.mutations import mutate
from _fuzz.prompts import agree, question
from _fuzz.texts import mutate_text, text_of
from _fuzz.writer import Json, Log
from _fuzz.writing import writing_questions
from dsh_protocol.conformance.adapter import answer

FORMATS = pytest.mark.parametrize("version", [3, 4])


def given(log: Log) -> Json:
    return {"header": log.header, "events": log.events}


def logs(version: int, count: int, seed: str = "test") -> list[Log]:
    return [random_log(random.Random(f"{seed}{index}"), version) for index in range(count)]


@FORMATS
def test_random_logs_are_sound(version: int) -> None:
    types: Counter[str] = Counter()
    replacements = 0
    for log in logs(version, 150):
        found = answer("check", given(log), version)
        # Owners may have their doubts about what a random log says of goals and teams; that is a warning.
        assert (found.get("ok"), found.get("refused")) == ({"events": len(log.events)}, None)
        types.update(event["type"] for event in log.events)
        replacements += answer("fold", given(log), version)["ok"]["replaceGeneration"]
    assert len(types) >= 26
    assert replacements > 50


@FORMATS
def test_no_change_ends_in_an_exception(version: int) -> None:
    verdicts: Counter[str] = Counter()
    changes: Counter[str] = Counter()
    for index, log in enumerate(logs(version, 300, "broken")):
        changes[mutate(random.Random(index), log)] += 1
        for op in ("check", "fold", "messages"):
            if log.header.get("version") == version:
                (kind,) = answer(op, given(log), version).keys() & {"ok", "refused"}
                verdicts[f"{op} {kind}"] += 1
    assert len(changes) >= 12
    assert min(verdicts.values()) > 20


@FORMATS
def test_writers_are_asked_what_is_taken_and_what_is_refused(version: int) -> None:
    verdicts: Counter[str] = Counter()
    for index, log in enumerate(logs(version, 300, "writing")):
        rng = random.Random(index)
        before = copy.deepcopy(given(log))
        for op, asked in writing_questions(rng, log, version):
            found = answer(op, asked, version)
            verdicts[f"{op} {'refused' if 'refused' in found else 'ok'}"] += 1
            verdicts[f"{op} adds"] += bool(found.get("ok", {}).get("events"))
        assert given(log) == before
    assert verdicts["repair adds"] > 50
    assert (
        min(verdicts[f"{op} {said}"] for op in ("fork", "append") for said in ("ok", "refused"))
        > 20
    )


@FORMATS
def test_no_text_ends_in_an_exception(version: int) -> None:
    verdicts: Counter[str] = Counter()
    for index, log in enumerate(logs(version, 200, "text")):
        text = text_of(log)
        mutate_text(random.Random(index), text)
        (kind,) = answer("check", text.given(), version).keys() & {"ok", "refused"}
        verdicts[kind] += 1
    assert min(verdicts.values()) > 10


def test_a_log_depends_on_its_seed_alone() -> None:
    def made() -> list[Any]:
        log = random_log(random.Random("7"), 4)
        text = text_of(log)
        changes = [mutate(random.Random("8"), log), mutate_text(random.Random("9"), text)]
        return [log.events, text.given(), changes]

    assert json.dumps(made()) == json.dumps(made())


def ask_of(answers: dict[str, Json]) -> Any:
    return lambda op, _given: answers[op]


def ours(log: Log) -> dict[str, Json]:
    return {op: answer(op, given(log), 4) for op in ("check", "fold", "messages")}


def test_equal_answers_are_no_difference() -> None:
    log = random_log(random.Random("3"), 4)
    assert log.events
    assert differences(log, 4, ask_of(ours(log))) == []


def test_other_answers_are_differences() -> None:
    log = random_log(random.Random("3"), 4)
    right = ours(log)
    folded = copy.deepcopy(right)
    folded["fold"]["ok"]["nodes"].append(99)
    (found,) = differences(log, 4, ask_of(folded))
    assert (found.op, found.reason) == ("fold", None)
    refused = {"refused": True, "readable": False}
    # What the reader refuses, no session is built from.
    (found,) = differences(log, 4, ask_of({**folded, "check": refused}))
    assert found.op == "check"
    # A gap before the end of a turn: the reader refuses the log.
    log.events[0]["seq"] = 5
    assert differences(log, 4, ask_of({**right, "check": refused})) == []
    dropped = {"refused": True, "readable": True}
    (found,) = differences(log, 4, ask_of({**right, "check": dropped}))
    assert found.op == "check"
    text = text_of(log)
    text.lines[0] = "{"
    assert text_differences(text, 4, ask_of({"check": {"refused": True, "readable": False}})) == []
    assert text_differences(text, 4, ask_of({"check": {"ok": {"events": 1}}}))


@FORMATS
def test_random_questions_about_prompts_are_answered(version: int) -> None:
    ops: Counter[str] = Counter()
    for index in range(300):
        op, asked = question(random.Random(f"prompts{index}"), version)
        told = answer(op, asked, version)
        assert agree(told, told)
        kinds = [
            kind for step in told.get("steps", [told]) for kind in ("ok", "refused") if kind in step
        ]
        ops.update(f"{op} {kind}" for kind in kinds)
    wanted = {"prompt.attempt ok", "prompt.header ok"}
    if version == 4:
        services = ("prompt.run", "prompt.interpolate", "tools.run", "tools.schema")
        wanted |= {f"{op} {kind}" for op in services for kind in ("ok", "refused")}
    assert wanted <= {name for name, count in ops.items() if count >= 3}


@pytest.mark.parametrize(
    ("ours", "theirs", "same"),
    [
        ({"ok": {"a": 1}}, {"ok": {"a": 1.0}}, True),
        ({"ok": {"a": 1}}, {"ok": {"a": 2}}, False),
        ({"ok": None}, {"refused": {"text": "no"}}, False),
        # Words that are the implementation's own, and words that a log has.
        (
            {"refused": {"rule": "prompt/order-finite", "text": "a"}},
            {"refused": {"text": "b"}},
            True,
        ),
        (
            {"refused": {"rule": "prompt/reference-name", "text": "a"}},
            {"refused": {"text": "b"}},
            False,
        ),
        (
            {"refused": {"code": "THROWN", "text": "a"}},
            {"refused": {"code": "THROWN", "text": "b"}},
            False,
        ),
        ({"refused": {"code": "INACTIVE_EFFECT"}}, {"refused": {"text": "b"}}, False),
        ({"steps": [{"ok": 1}, {"ok": 2}]}, {"steps": [{"ok": 1}, {"ok": 2}]}, True),
        ({"steps": [{"ok": 1}, {"ok": 2}]}, {"steps": [{"ok": 1}]}, False),
    ],
)
def test_answers_about_prompts_are_compared(ours: Json, theirs: Json, same: bool) -> None:
    assert agree(ours, theirs) is same
