"""The harness, with adapters that are broken on purpose: every fault is a result, and none ends the run."""

from __future__ import annotations

import json
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from suites import ROOT, corpus

from dsh_protocol.conformance import process
from dsh_protocol.conformance.errors import ImplementationError
from dsh_protocol.conformance.implementations import Implementation, find_implementation
from dsh_protocol.conformance.known import KnownFailures
from dsh_protocol.conformance.run import Run, run
from dsh_protocol.conformance.smoke import Smoke, smoke

TOY = Path(__file__).parent / "toys" / "toy.py"
CASES = corpus().select(ops=["seqs.encode"])
QUESTIONS = sum(len(case.formats) for case in CASES)


PATIENT = 60.0
"""Seconds for an answer that comes: a busy machine may take long, and a test that passes takes no longer for it."""


@pytest.fixture(autouse=True)
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A toy that does not end is not waited for as long as a real one, and one that does is waited for longer."""
    arguments = getattr(request.node, "callspec", None)
    way = arguments.params.get("way") if arguments else None
    monkeypatch.setattr(
        process, "_PATIENCE", 0.5 if way in ("no-stop", "flood-at-stop") else PATIENT
    )


def toy(way: str) -> Implementation:
    return Implementation(way, (sys.executable, str(TOY), way))


def asked(way: str, *, limit: float = PATIENT, known: KnownFailures | None = None) -> Run:
    return run(corpus(), CASES, toy(way), limit=limit, known=known)


def test_an_adapter_without_fault() -> None:
    done = asked("right")
    assert done.counts == Counter(passed=QUESTIONS)
    assert done.passed
    assert done.capabilities is not None
    assert done.capabilities.implementation == {"name": "toy", "language": "Python"}


@pytest.mark.parametrize(
    ("way", "verdict", "why"),
    [
        ("crash", "crashed", "ended with code 3: the reason stands here"),
        ("noise-in-cases", "invalid", "a line that is no JSON: loading ..."),
        ("not-an-object", "invalid", "a line that is no JSON object"),
        ("endless", "invalid", "bytes without an end"),
        ("two-verdicts", "invalid", "answer $: "),
        ("unknown-member", "invalid", "'seqs' was unexpected"),
        ("wrong-number", "invalid", "an answer to another question"),
        ("byte-order-mark", "invalid", "a line that is no JSON: "),
        ("latin-1", "invalid", "a line that is no UTF-8: "),
        ("deep", "invalid", "an answer that nests too deeply"),
    ],
)
def test_a_broken_adapter_fails_each_case_and_is_given_up(way: str, verdict: str, why: str) -> None:
    done = asked(way)
    assert done.counts == Counter({verdict: QUESTIONS})
    assert why in done.results[0].why
    assert done.results[5].why == f"not asked: the adapter {verdict} 5 times in a row"
    assert not done.passed


def test_a_hang_is_a_result() -> None:
    done = asked("hang", limit=0.2)
    assert done.counts == Counter(hung=QUESTIONS)
    assert done.results[0].why == "no answer within 0.2 s"


def test_who_says_two_things_has_answered_one_question_at_most() -> None:
    # Whether the second line is there in time decides what it is taken for.
    done = asked("twice")
    assert done.results[0].verdict.value == "passed"
    assert {r.verdict.value for r in done.results[1:]} <= {"invalid", "passed"}
    whys = {"more than one line for the question before", "an answer to another question"}
    assert {r.why for r in done.results if r.verdict.value == "invalid"} <= whys
    assert not done.passed


def test_a_process_that_has_ended_did_not_hang() -> None:
    """What it has started may still hold its output."""
    done = run(corpus(), CASES[:1], toy("heir"), limit=1.0)
    assert done.results[0].verdict.value == "crashed"
    assert done.results[0].why == "ended with code 4"


def test_after_a_hang_the_next_question_goes_to_a_new_process() -> None:
    # The second question is never answered, and the process that gets the third one is another.
    done = run(corpus(), CASES[:2], toy("hang-once"), limit=5.0)
    assert [r.verdict.value for r in done.results] == ["passed", "hung", "passed", "passed"]


@pytest.mark.parametrize(
    ("way", "verdict"),
    [
        ("always-wrong", "failed"),
        ("always-refuses", "failed"),
        ("always-fails", "errored"),
    ],
)
def test_a_wrong_implementation(way: str, verdict: str) -> None:
    done = asked(way)
    assert done.counts == Counter({verdict: QUESTIONS})
    assert len(done.unexplained) == QUESTIONS


def test_a_run_without_any_answer_has_not_passed() -> None:
    done = asked("lies-about-support")
    assert done.counts == Counter(unsupported=QUESTIONS)
    assert not done.passed


@pytest.mark.parametrize(
    ("way", "problem"),
    [
        ("crash-at-start", "does not start (crashed): ended with code 3: the reason stands here"),
        ("noise", "does not start (invalid): a line that is no JSON: loading ..."),
        ("other-protocol", "does not start (invalid): started $.protocol: 1 was expected"),
        (
            "no-capabilities",
            "does not start (invalid): capabilities $: 'ops' is a required property",
        ),
        ("no-stop", "does not end with code 0 when it is told to stop"),
        ("flood-at-stop", "does not end with code 0 when it is told to stop"),
        ("bye", 'says more than it was asked: {"bye": true}'),
        ("bad-exit", "does not end with code 0 when it is told to stop"),
    ],
)
def test_problems_of_the_conversation(way: str, problem: str) -> None:
    done = asked(way)
    assert done.problem == problem
    assert not done.passed


def test_a_hang_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsh_protocol.conformance.implementations.START_LIMIT", 0.3)
    assert asked("hang-at-start").problem == "does not start (hung): no answer within 0.3 s"


def test_a_command_that_does_not_exist() -> None:
    done = run(corpus(), CASES, Implementation("x", ("/nowhere/at/all",)))
    assert done.problem.startswith("does not start (crashed): cannot be started")


def test_only_supported_ops_and_formats_are_asked() -> None:
    done = run(corpus(), corpus().select(ops=["json.roundtrip", "fold"]), toy("right"))
    by_op = {(r.case.op, r.format): r.verdict.value == "unsupported" for r in done.results}
    assert by_op[("fold", 4)]
    assert by_op[("json.roundtrip", 3)]
    assert not by_op[("json.roundtrip", 4)]


# ---- Known failures --------------------------------------------------------------------------------


def known(tmp_path: Path, cases: dict[str, str], **reasons: Any) -> KnownFailures:
    path = tmp_path / "known.json"
    why = {"text": "It is a toy, and answers nothing right.", "right": "case"}
    path.write_text(json.dumps({"reasons": reasons or {"toy": why}, "cases": cases}))
    return KnownFailures.read(path, ROOT)


def test_known_failures_are_explained(tmp_path: Path) -> None:
    listed = known(tmp_path, dict.fromkeys((case.id for case in CASES), "toy"))
    done = asked("always-wrong", known=listed)
    assert done.passed
    assert done.counts == Counter(known=QUESTIONS)


def test_a_stale_entry_fails_the_run(tmp_path: Path) -> None:
    listed = known(tmp_path, {CASES[0].id: "toy", "no/such/case": "toy"})
    done = asked("right", known=listed)
    assert done.stale == sorted([CASES[0].id, "no/such/case"])
    assert not done.passed


def test_an_entry_whose_case_is_not_asked_is_not_stale(tmp_path: Path) -> None:
    other = corpus().select(ops=["fold"])[0].id
    assert asked("right", known=known(tmp_path, {other: "toy"})).passed


@pytest.mark.parametrize(
    "content",
    [
        "no json",
        "{}",
        '{"reasons": {}, "cases": {"a/b/c": "missing"}}',
        '{"reasons": {"x": {"text": "short", "right": "case"}}, "cases": {}}',
    ],
)
def test_known_failures_that_cannot_be_read(tmp_path: Path, content: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(content)
    with pytest.raises(ImplementationError) as caught:
        KnownFailures.read(path, ROOT)
    assert caught.value.code == "conformance/known-failures"


# ---- Smoke -----------------------------------------------------------------------------------------


def smoked(way: str, limit: float = PATIENT) -> Smoke:
    return smoke(corpus(), toy(way), limit=limit)


def test_smoke_of_an_adapter_without_fault() -> None:
    found = smoked("right")
    assert found.problems == []
    assert found.passed
    assert (found.asked, found.right) == (4, 4)


@pytest.mark.parametrize(
    ("way", "problem"),
    [
        ("crash-at-start", "it does not start: crashed"),
        ("crash", "crashed: ended with code 3"),
        ("noise", "it does not start: invalid"),
        ("two-ways", "it answers the same question in two ways"),
        ("lies-about-support", "it takes seqs.encode, and answers no sample of it"),
        (
            "crash-on-nonsense",
            "seqs.encode: it does not survive an input that the op does not take",
        ),
        ("always-wrong", "no answer at all is right"),
        ("no-stop", "it does not end with code 0"),
        ("unknown-op", "it takes sums.add, which no case has"),
    ],
)
def test_smoke_finds_fault_with_the_adapter(way: str, problem: str) -> None:
    found = smoked(way)
    assert not found.passed
    assert any(problem in line for line in found.problems), found.problems


def test_smoke_leaves_wrong_answers_to_the_implementation() -> None:
    # It refuses everything, which is right where a case refuses.
    found = smoked("always-refuses")
    assert found.passed
    assert found.right == 1
    assert len(found.doubts) == 3


# ---- Names -----------------------------------------------------------------------------------------


def test_what_a_name_means() -> None:
    assert find_implementation("python", ROOT).command[0] == sys.executable
    official = find_implementation("official-runtime", ROOT)
    assert official.command == (str(ROOT / "adapters" / "official-runtime" / "run"),)
    assert official.known_failures == ROOT / "adapters" / "official-runtime" / "known-failures.json"
    words = ["node", "a b.mjs"]
    assert find_implementation(shlex.join(words), ROOT).command == tuple(words)
    with pytest.raises(ImplementationError):
        find_implementation("", ROOT)
