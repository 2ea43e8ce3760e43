"""Each rule switched off in turn: at least one case has to notice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ops import run
from suites import cases
from test_corpus import NOT_HERE

from dsh_protocol.rules import rules, rules_off


def _differs(case: dict[str, Any], version: int) -> bool:
    try:
        answer = run(case, version)
    except Exception:
        # The code behind the rule relied on it.
        return True
    expected = case["expect"]
    names = ("ok", "refused", "readable", *(["warned"] if "warned" in expected else []))
    return any(_text(answer.get(name)) != _text(expected.get(name)) for name in names)


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = sorted(value, key=json.dumps)
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("rule_id", [rule_id for rule_id in rules() if rule_id not in NOT_HERE])
def test_a_case_notices_that_the_rule_is_off(rule_id: str) -> None:
    about = [(case, v) for case in cases() if rule_id in case["rules"] for v in case["formats"]]
    with rules_off(rule_id):
        noticed = [(case, version) for case, version in about if _differs(case, version)]
    assert any(not _differs(case, version) for case, version in noticed)
