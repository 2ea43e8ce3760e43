"""Which conformance cases stand for a rule in the installed package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from _generate.errors import GenerateError
from _generate.examples import load_cases, rule_examples, write_lines

RULE = {"id": "a/b"}


def case(id_: str, refused: Any = None, **more: Any) -> dict[str, Any]:
    expect = {"ok": 1} if refused is None else {"refused": refused, "readable": False}
    made = {"id": id_, "title": "t", "rules": ["a/b"], "formats": [4], "op": "check", "input": {}}
    return made | {"expect": expect} | more


def broken(rule: str) -> dict[str, Any]:
    return {"rule": rule, "seq": 1, "path": ""}


def chosen(*cases: dict[str, Any]) -> dict[str, str]:
    found = rule_examples([RULE], list(cases))["a/b"]
    return {kind: example["id"] for kind, example in found.items()}


def test_the_smallest_of_the_current_format_stands_for_the_rule() -> None:
    long = {"input": {"text": "x" * 50}}
    assert chosen(
        case("a/b/long", **long),
        case("a/b/old", formats=[3]),
        case("a/b/short"),
        case("a/b/refused-old", broken("a/b"), formats=[3]),
        case("a/b/refused-long", broken("a/b"), **long),
    ) == {"accepts": "a/b/short", "refuses": "a/b/refused-long"}


def test_cases_of_its_own_and_single_defects_come_first() -> None:
    assert chosen(
        case("a/c/other"),
        case("a/b/own", input={"text": "longer"}),
        case("a/b/two", [broken("a/b"), broken("a/c")]),
        case("a/b/one", broken("a/b"), input={"text": "longer"}),
    ) == {"accepts": "a/b/own", "refuses": "a/b/one"}


def test_a_rule_that_only_follows_is_shown_by_what_it_follows_from() -> None:
    follows = case("a/b/follows", broken("a/c"))
    assert chosen(follows) == {"refuses": "a/b/follows"}
    assert chosen(follows, case("x/y/direct", broken("a/b")))["refuses"] == "x/y/direct"
    assert chosen(case("a/b/elsewhere", broken("a/b"), rules=["a/c"])) == {}


def test_a_warning_is_a_refusal_and_no_acceptance() -> None:
    warned = case("a/b/warned", expect={"ok": 1, "warned": broken("a/b")})
    assert chosen(warned) == {"refuses": "a/b/warned"}


def test_one_line_for_each_member(tmp_path: Path) -> None:
    value = {"a/b": {"x": "\u2028"}, "c/d": {}}
    write_lines(tmp_path / "x.json", value)
    text = (tmp_path / "x.json").read_text(encoding="ascii")
    assert json.loads(text) == value
    assert text.count("\n") == 4


@pytest.mark.parametrize("content", [None, "{", "{}"])
def test_suites_that_cannot_be_used(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "x.json").write_text(content, encoding="utf-8")
    with pytest.raises(GenerateError, match="conformance/suites"):
        load_cases(tmp_path)
