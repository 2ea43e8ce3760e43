"""The corpus of conformance cases itself: its lint, what it is traced to, and that the rules are the code's."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from suites import ROOT, cases, corpus

import dsh_protocol
from dsh_protocol.conformance.adapter import OPS
from dsh_protocol.conformance.known import KnownFailures
from dsh_protocol.conformance.lint import lint
from dsh_protocol.conformance.trace import trace
from dsh_protocol.rules import rules

EMITTERS = frozenset({"refuse", "add", "storage_error", "format_error", "_fail", "is_active"})
LISTED = json.loads((ROOT / "trace.json").read_bytes())
UNTESTABLE = frozenset(
    key.removeprefix("rule:") for key in LISTED["untestable"] if key.startswith("rule:")
)


def test_nothing_is_wrong_with_the_corpus() -> None:
    assert lint(corpus()) == []


def test_there_are_cases() -> None:
    assert len(cases()) > 2800


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.schema.json")), ids=lambda path: path.name)
def test_schemas_are_schemas(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_bytes()))


def test_every_op_is_known_and_used() -> None:
    assert {case.op for case in corpus().cases} == set(OPS)


def test_every_rule_and_every_type_is_shown() -> None:
    traced = trace(corpus())
    assert [(hole.id, hole.format, hole.missing) for hole in traced.holes] == []
    assert traced.problems == ()
    assert len(traced.items) > 350


def test_every_known_failure_of_an_adapter_exists_and_names_a_divergence() -> None:
    known = {case.id for case in corpus().cases}
    paths = sorted((ROOT / "adapters").glob("*/known-failures.json"))
    assert paths
    for path in paths:
        failures = KnownFailures.read(path, ROOT)
        assert failures.cases.keys() <= known
        assert {reason.id for reason in failures.cases.values()} == set(failures.reasons)
        for reason in failures.reasons.values():
            assert reason.rule is None or rules()[reason.rule].divergence, reason.id


def test_every_reason_of_a_known_failure_is_told_with_who_is_right() -> None:
    page = (ROOT.parent / "docs" / "disagreements.md").read_text(encoding="utf-8")
    section = page.partition("## What the adapters have as known failures")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| `")]
    told = {name: row[2] for row in rows for name in re.findall("`([^`]+)`", row[0])}
    words = {"case": "here", "implementation": "official", "both": "both", "undecided": "undecided"}
    failures = [
        KnownFailures.read(path, ROOT) for path in (ROOT / "adapters").glob("*/known-failures.json")
    ]
    reasons = [reason for known in failures for reason in known.reasons.values()]
    assert told == {reason.id: words[reason.right] for reason in reasons}


# ---- The rules and the code ------------------------------------------------------------------------


def _modules() -> Iterator[ast.Module]:
    for path in Path(dsh_protocol.__path__[0]).rglob("*.py"):
        yield ast.parse(path.read_text(encoding="utf-8"))


def _strings(tree: ast.AST) -> set[str]:
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _emitted(tree: ast.Module) -> Iterator[str]:
    """The rule ids that calls of an emitter spell out as their first argument."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else None
        name = node.func.id if isinstance(node.func, ast.Name) else name
        first = node.args[0]
        if name not in EMITTERS or not isinstance(first, ast.Constant):
            continue
        if isinstance(first.value, str) and "/" in first.value:
            yield first.value


def test_every_rule_occurs_in_the_code() -> None:
    spelled: set[str] = set().union(*map(_strings, _modules()))
    assert not [rule_id for rule_id in rules() if rule_id not in spelled]


def test_the_code_emits_no_rule_that_does_not_exist() -> None:
    emitted = {rule_id for tree in _modules() for rule_id in _emitted(tree)}
    assert emitted
    assert not emitted - rules().keys()
