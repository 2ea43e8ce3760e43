"""A run: every chosen case to one implementation, in every format that the case holds in."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .cases import Case, Corpus
from .implementations import Capabilities, Conversation, Implementation
from .judge import RIGHT, Judgement, Verdict, judge
from .known import KnownFailures, Reason
from .process import AdapterFailure

Json = dict[str, Any]
Tick = Callable[[int, int], None]

CASE_LIMIT = 10.0
"""Seconds for an answer, unless a run says otherwise."""
_MAX_FAILURES_IN_A_ROW = 5
_BROKEN = frozenset({Verdict.crashed, Verdict.hung, Verdict.invalid})


@dataclass(frozen=True, slots=True)
class Result:
    """What came of one case in one format. `reason` is set when the failure is a known one."""

    case: Case
    format: int
    verdict: Verdict
    why: str
    seconds: float
    reason: Reason | None = None

    @property
    def explained(self) -> bool:
        """Whether nobody needs to look at this."""
        return self.verdict in RIGHT or self.verdict is Verdict.unsupported or bool(self.reason)


@dataclass
class Run:
    """All results of one implementation."""

    implementation: Implementation
    capabilities: Capabilities | None = None
    results: list[Result] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    """Cases that are listed as known failures, and do not fail or do not exist."""
    problem: str = ""
    """Why there are no results, or the adapter did not end as it has to."""

    @property
    def counts(self) -> Counter[str]:
        """How many results of each verdict there are; `known` counts explained failures apart."""
        return Counter("known" if r.reason else r.verdict.value for r in self.results)

    @property
    def answered(self) -> int:
        """How many questions got a right or an explained answer."""
        return sum(self.counts[name] for name in ("passed", "bare", "known"))

    @property
    def unexplained(self) -> list[Result]:
        """The failures that no one has explained."""
        return [result for result in self.results if not result.explained]

    @property
    def passed(self) -> bool:
        """Whether there is nothing to explain. A run without any answer has not passed."""
        return not (self.problem or self.unexplained or self.stale) and self.answered > 0


def run(
    corpus: Corpus,
    cases: Sequence[Case],
    implementation: Implementation,
    *,
    known: KnownFailures | None = None,
    limit: float = CASE_LIMIT,
    tick: Tick | None = None,
) -> Run:
    """Ask an implementation all these cases. Whatever it does, the result is a run and no exception.

    An adapter that crashes, hangs or breaks the protocol fails that case and is started again; after five such
    failures in a row the rest is not asked.
    """
    known = known or KnownFailures()
    done = Run(implementation)
    conversation = Conversation.with_(implementation, corpus.root, limit)
    try:
        done.capabilities = conversation.start()
        questions = [(case, version) for case in cases for version in case.formats]
        for case, version, judgement, seconds in _results(corpus, conversation, questions):
            reason = known.cases.get(case.id) if _has_failed(judgement) else None
            result = Result(case, version, judgement.verdict, judgement.why, seconds, reason)
            done.results.append(result)
            if tick is not None:
                tick(len(done.results), len(questions))
    except AdapterFailure as failure:
        done.problem = f"does not start ({failure.kind}): {failure.why}"
    finally:
        how = conversation.adapter.stop()
        done.problem = done.problem or how
    done.stale = _stale(corpus, done.results, known)
    return done


def _results(
    corpus: Corpus, conversation: Conversation, questions: Sequence[tuple[Case, int]]
) -> Iterator[tuple[Case, int, Judgement, float]]:
    in_a_row = 0
    last = Judgement(Verdict.crashed)
    for case, version in questions:
        started = time.monotonic()
        if in_a_row >= _MAX_FAILURES_IN_A_ROW:
            why = f"not asked: the adapter {last.verdict.value} {in_a_row} times in a row"
            yield case, version, Judgement(last.verdict, why), 0.0
            continue
        last = _ask(corpus, conversation, case, version)
        in_a_row = in_a_row + 1 if last.verdict in _BROKEN else 0
        yield case, version, last, time.monotonic() - started


def _ask(corpus: Corpus, conversation: Conversation, case: Case, version: int) -> Judgement:
    capabilities = conversation.capabilities
    assert capabilities is not None
    if not capabilities.takes(case.op, version):
        return Judgement(Verdict.unsupported, f"{case.op} in format {version}")
    try:
        answer = conversation.ask(case.id, case.op, version, corpus.resolve(case.input))
    except AdapterFailure as failure:
        return Judgement(Verdict(failure.kind), failure.why)
    return judge(corpus.resolve(case.expect), answer, capabilities.reports)


def _has_failed(judgement: Judgement) -> bool:
    return judgement.verdict not in RIGHT and judgement.verdict is not Verdict.unsupported


def _stale(corpus: Corpus, results: Sequence[Result], known: KnownFailures) -> list[str]:
    """The known failures of which no format failed, among the cases that were asked, and those that do not exist."""
    existing = {case.id for case in corpus.cases}
    asked = {result.case.id for result in results}
    failed = {result.case.id for result in results if result.reason}
    listed = known.cases.keys()
    return sorted((listed & (asked - failed)) | (listed - existing))
