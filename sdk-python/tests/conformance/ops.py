"""A case, answered by the adapter of this package and judged as the harness does."""

from __future__ import annotations

from suites import corpus

from dsh_protocol.conformance.adapter import answer
from dsh_protocol.conformance.cases import Case
from dsh_protocol.conformance.judge import Judgement, judge


def run(case: Case, version: int) -> Judgement:
    """What comes of a case in one of its formats."""
    given = corpus().resolve(case.input)
    return judge(corpus().resolve(case.expect), answer(case.op, given, version))
