"""Every conformance case, answered by this package."""

from __future__ import annotations

import pytest
from ops import run
from suites import cases, corpus

from dsh_protocol.conformance.cases import Case, Suite
from dsh_protocol.conformance.judge import Judgement, Verdict

EXAMPLES = [suite for suite in corpus().suites.values() if suite.from_examples]
PASSED = Judgement(Verdict.passed)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_case(case: Case) -> None:
    for version in case.formats:
        assert run(case, version) == PASSED, case.title


@pytest.mark.parametrize("suite", EXAMPLES, ids=lambda suite: suite.name)
def test_examples(suite: Suite) -> None:
    failed = {case.id: run(case, case.formats[0]).why for case in suite.cases}
    assert {id_: why for id_, why in failed.items() if why} == {}
    assert len(suite.cases) > 300
