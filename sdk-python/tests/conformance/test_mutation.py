"""Each rule switched off in turn: at least one case has to notice."""

from __future__ import annotations

import pytest
from ops import run
from suites import corpus
from test_corpus import UNTESTABLE

from dsh_protocol.conformance.cases import Case
from dsh_protocol.conformance.judge import Verdict
from dsh_protocol.rules import rules, rules_off


def _fails(case: Case, version: int) -> bool:
    try:
        return run(case, version).verdict is not Verdict.passed
    except Exception:
        # The code behind the rule relied on it.
        return True


# A violation of a schema is no part of an answer about a log; its cases are asked without the rule.
SWITCHED = [rule_id for rule_id in rules() if rule_id not in UNTESTABLE | {"schema/payload"}]


@pytest.mark.parametrize("rule_id", SWITCHED)
def test_a_case_notices_that_the_rule_is_off(rule_id: str) -> None:
    about = [(c, v) for c in corpus().cases if rule_id in c.rules for v in c.formats]
    with rules_off(rule_id):
        noticed = [(case, version) for case, version in about if _fails(case, version)]
    assert any(not _fails(case, version) for case, version in noticed)
