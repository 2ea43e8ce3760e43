"""The corpus of conformance cases itself: its shape, its manifest, and that it covers every rule."""

from __future__ import annotations

import ast
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from ops import OPS
from suites import ROOT, Json, breaks, cases, refusals, suites

import dsh_protocol
from dsh_protocol.rules import Rule, rules

FORMATS = (3, 4)
NOT_HERE = {
    "json/depth": "an input deeper than 512 levels; unit tests set a small limit",
    "storage/row-limit": "an input of more than 64 MiB; unit tests set a small limit",
    "storage/log-limit": "an input of more than the reader's limit; unit tests set a small limit",
    "storage/too-many-findings": "an input with a thousand defects; unit tests set a small limit",
    "storage/work-limit": "an input that costs ten million steps; unit tests set a small limit",
    "schema/payload": "schemas have examples of their own, and a schema warning is no part of an answer",
}
FOLLOWERS = {
    "storage/committed-history": "always follows from the malformed row, which is what the case names",
    "storage/committed-frame": "always follows from the malformed row, which is what the case names",
}
EMITTERS = frozenset({"refuse", "add", "storage_error", "format_error", "_fail", "is_active"})


def test_every_suite_has_the_shape_of_its_schema() -> None:
    schema = json.loads((ROOT / "case.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert suites()
    for name, suite in suites().items():
        errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(suite)]
        assert not errors, f"{name}: {errors[:5]}"


def test_files_are_ascii_so_that_nothing_depends_on_an_editor() -> None:
    for path in (ROOT / "suites").glob("*.json"):
        assert path.read_bytes().isascii(), path.name


def test_a_case_belongs_to_the_suite_that_its_id_names() -> None:
    for name, suite in suites().items():
        assert suite["suite"] == name
        assert {case["id"].split("/")[0] for case in suite["cases"]} == {name}


def test_ids_are_unique() -> None:
    repeated = [id_ for id_, n in Counter(case["id"] for case in cases()).items() if n > 1]
    assert not repeated


def test_the_id_of_a_case_for_one_format_says_so() -> None:
    for case in cases():
        for version in FORMATS:
            if case["id"].endswith(f"-v{version}"):
                assert case["formats"] == [version], case["id"]


def test_the_manifest_lists_every_case_and_no_other() -> None:
    expected = sorted(" ".join([case["id"], *case["rules"]]) for case in cases())
    assert (ROOT / "MANIFEST").read_text(encoding="utf-8").splitlines() == expected


def test_every_op_is_known_and_used() -> None:
    assert {case["op"] for case in cases()} == set(OPS)


def test_a_case_names_known_rules_that_hold_in_its_formats() -> None:
    for case in cases():
        for rule_id in case["rules"]:
            assert rule_id in rules(), f"{case['id']}: {rule_id}"
            entry = rules()[rule_id]
            assert all(entry.holds_in(version) for version in case["formats"]), case["id"]


def test_a_case_names_the_rules_that_it_expects_to_be_broken() -> None:
    for case in cases():
        warned = case["expect"].get("warned")
        found = [*refusals(case), *([] if warned is None else [warned])]
        assert {finding["rule"] for finding in found} <= set(case["rules"]), case["id"]


def test_a_refusal_is_an_error_and_a_warning_is_none() -> None:
    for case in cases():
        warned = case["expect"].get("warned")
        assert warned is None or rules()[warned["rule"]].severity == "warning", case["id"]
        if case["op"] == "check":
            severities = {rules()[finding["rule"]].severity for finding in refusals(case)}
            assert severities <= {"error"}, case["id"]


def test_exceptions_are_about_rules_that_exist() -> None:
    assert NOT_HERE.keys() | FOLLOWERS.keys() <= rules().keys()
    assert not [rule_id for rule_id in NOT_HERE if any(breaks(case, rule_id) for case in cases())]


def _accepts(case: Json, entry: Rule, version: int) -> bool:
    named = entry.id in case["rules"] and version in case["formats"]
    return named and "ok" in case["expect"] and not breaks(case, entry.id)


def _refuses(case: Json, entry: Rule, version: int) -> bool:
    if entry.id not in case["rules"] or version not in case["formats"]:
        return False
    if entry.id in FOLLOWERS:
        effects = {rules()[finding["rule"]].read_effect(version) for finding in refusals(case)}
        return effects == {"drop-tail"} and case["expect"].get("readable") is False
    return breaks(case, entry.id)


@pytest.mark.parametrize("version", FORMATS)
def test_every_rule_has_an_accepting_and_a_refusing_case(version: int) -> None:
    holes = []
    for entry in rules().values():
        if entry.id in NOT_HERE or not entry.holds_in(version):
            continue
        for kind, test in (("accepting", _accepts), ("refusing", _refuses)):
            if not any(test(case, entry, version) for case in cases()):
                holes.append(f"{entry.id}: no {kind} case")
    assert not holes


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
