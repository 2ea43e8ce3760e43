"""For each rule one conformance case that keeps it and one that breaks it, so that the installed package can show them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .errors import GenerateError

Case = dict[str, Any]

_CURRENT = 4
_SHOWN = ("id", "title", "formats", "op", "input", "expect")


def load_cases(suites: Path) -> list[Case]:
    """The cases of all suites.

    Raises:
        GenerateError: the folder holds no suite, or a file is no JSON.
    """
    cases: list[Case] = []
    for path in sorted(suites.glob("*.json")):
        try:
            # A suite of examples has no cases of its own.
            cases += json.loads(path.read_text(encoding="utf-8")).get("cases", [])
        except ValueError as error:
            raise GenerateError(f"conformance/suites/{path.name}: {error}") from error
    if not cases:
        raise GenerateError("conformance/suites: no case")
    return cases


def rule_examples(rules: list[dict[str, Any]], cases: list[Case]) -> dict[str, dict[str, Case]]:
    """`accepts` and `refuses` of each rule, where the suites have such a case: the smallest and plainest one."""
    found = {}
    for rule in rules:
        own = {}
        for name, test in (("accepts", _keeps), ("refuses", _breaks)):
            case = _plainest(rule["id"], cases, test)
            if case is not None:
                own[name] = {member: case[member] for member in _SHOWN}
        found[rule["id"]] = own
    return found


def loop_examples(rules: list[dict[str, Any]], cases: list[Case]) -> dict[str, Case]:
    """For each rule of what a loop writes the plainest case that cites it, where there is one."""
    found = {}
    for rule in rules:
        cited = rule["id"].replace("/", ":")
        case = min((c for c in cases if cited in c.get("cites", ())), key=_size, default=None)
        if case is not None:
            found[rule["id"]] = {member: case[member] for member in _SHOWN}
    return found


def write_lines(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object with one line for each member."""
    members = (f"{json.dumps(name)}: {_compact(member)}" for name, member in value.items())
    path.write_text("{\n" + ",\n".join(members) + "\n}\n", encoding="utf-8")


def _plainest(rule_id: str, cases: list[Case], test: Callable[[Case, str], bool]) -> Case | None:
    def cost(case: Case) -> tuple[Any, ...]:
        broken = list(_broken(case))
        return (
            bool(broken) and rule_id not in broken,
            not case["id"].startswith(rule_id + "/"),
            len(broken) > 1,
            _CURRENT not in case["formats"],
            len(_compact(case)),
            case["id"],
        )

    return min((case for case in cases if test(case, rule_id)), key=cost, default=None)


def _size(case: Case) -> tuple[Any, ...]:
    return (_CURRENT not in case["formats"], len(_compact(case)), case["id"])


def _keeps(case: Case, rule_id: str) -> bool:
    accepts = not case["expect"].keys().isdisjoint({"ok", "steps"})
    return rule_id in case["rules"] and accepts and rule_id not in _broken(case)


def _breaks(case: Case, rule_id: str) -> bool:
    """Whether the case breaks the rule itself, or the log is refused for a rule that only ever follows from others."""
    if rule_id not in case["rules"]:
        return False
    follows = "refused" in case["expect"] and case["expect"].get("readable") is False
    return rule_id in _broken(case) or follows


def _broken(case: Case) -> Iterator[str]:
    expect = case["expect"]
    for answer in (expect, *(step or {} for step in expect.get("steps", []))):
        for name in ("refused", "warned"):
            told = answer.get(name, [])
            for finding in told if isinstance(told, list) else [told]:
                yield finding.get("rule", "")


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)
