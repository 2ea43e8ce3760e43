"""Is it the adapter or the implementation? A short conversation that only finds fault with adapters.

A wrong answer is the implementation's; that one comes at all, in time, in the right shape, to the right question and
the same twice, is the adapter's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .cases import Case, Corpus
from .implementations import Capabilities, Conversation, Implementation
from .judge import RIGHT, Verdict, judge
from .process import AdapterFailure

Json = dict[str, Any]

_UNKNOWN_INPUT = {"nothing": "that this op takes"}


@dataclass
class Smoke:
    """What a short conversation showed: problems of the adapter, and doubts about the implementation."""

    implementation: Json = field(default_factory=dict)
    asked: int = 0
    right: int = 0
    answered: set[str] = field(default_factory=set)
    """The ops of which some sample was answered."""
    problems: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether the adapter can be used."""
        return not self.problems


def smoke(corpus: Corpus, implementation: Implementation, *, limit: float) -> Smoke:
    """Ask a few easy cases of each op that the adapter takes, each twice, and some input that no op takes."""
    found = Smoke()
    conversation = Conversation.with_(implementation, corpus.root, limit)
    try:
        capabilities = conversation.start()
    except AdapterFailure as failure:
        found.problems.append(f"it does not start: {failure.kind}: {failure.why}")
        return found
    found.implementation = capabilities.implementation
    samples = list(_samples(corpus, capabilities))
    _look_at_ops(corpus, capabilities, found)
    try:
        for cases, version in samples:
            _ask_first(corpus, conversation, cases, version, found)
        _look_at_answers(samples, found)
        _ask_nonsense(conversation, samples, found)
    finally:
        how = conversation.adapter.stop()
        if how:
            found.problems.append(f"it {how}")
    return found


def _samples(corpus: Corpus, capabilities: Capabilities) -> Iterator[tuple[list[Case], int]]:
    """The smallest accepting and the smallest refusing case of each op in each format, with others in case that the
    adapter leaves it out: the smallest of each kind, by what stands in front of the last part of its id."""
    for op, formats in capabilities.ops.items():
        cases = [case for case in corpus.cases if case.op == op]
        for version in formats:
            for kind in ("ok", "refused", "steps"):
                fitting = [c for c in cases if kind in c.expect and version in c.formats]
                if fitting:
                    yield _smallest_of_kinds(fitting), version


def _smallest_of_kinds(cases: list[Case]) -> list[Case]:
    smallest: dict[str, Case] = {}
    for case in sorted(cases, key=lambda case: (len(str(case.input)), case.id)):
        smallest.setdefault(case.id.rpartition("/")[0], case)
    return list(smallest.values())


def _look_at_ops(corpus: Corpus, capabilities: Capabilities, found: Smoke) -> None:
    known = {case.op for case in corpus.cases}
    if not known & capabilities.ops.keys():
        found.problems.append("it takes no op that a case has")
    for op in sorted(capabilities.ops.keys() - known):
        found.problems.append(f"it takes {op}, which no case has")


def _ask_first(
    corpus: Corpus, conversation: Conversation, cases: list[Case], version: int, found: Smoke
) -> None:
    """Ask the first of these cases that the adapter does not leave out."""
    found.asked += 1
    for case in cases:
        if _ask_twice(corpus, conversation, case, version, found):
            return


def _ask_twice(
    corpus: Corpus, conversation: Conversation, case: Case, version: int, found: Smoke
) -> bool:
    """Ask a case twice. Whether the adapter takes it."""
    given = corpus.resolve(case.input)
    try:
        first, second = (conversation.ask(case.id, case.op, version, given) for _ in range(2))
    except AdapterFailure as failure:
        found.problems.append(f"{case.id}: {failure.kind}: {failure.why}")
        return True
    if _said(first) != _said(second):
        found.problems.append(f"{case.id}: it answers the same question in two ways")
    reports = conversation.capabilities.reports if conversation.capabilities else frozenset()
    judgement = judge(corpus.resolve(case.expect), first, reports)
    if judgement.verdict is Verdict.unsupported:
        return False
    found.answered.add(case.op)
    if judgement.verdict in RIGHT:
        found.right += 1
    else:
        found.doubts.append(f"{case.id}: {judgement.verdict.value}: {judgement.why}")
    return True


def _said(answer: Json) -> Json:
    return {name: value for name, value in answer.items() if name not in ("number", "note")}


def _look_at_answers(samples: list[tuple[list[Case], int]], found: Smoke) -> None:
    for op in sorted({cases[0].op for cases, _ in samples} - found.answered):
        found.problems.append(f"it takes {op}, and answers no sample of it")
    if samples and not found.right:
        found.problems.append(
            "no answer at all is right: the adapter may ask the implementation something else"
        )


def _ask_nonsense(
    conversation: Conversation, samples: list[tuple[list[Case], int]], found: Smoke
) -> None:
    for op, version in {cases[0].op: version for cases, version in samples}.items():
        try:
            conversation.ask("smoke/input/unknown", op, version, _UNKNOWN_INPUT)
        except AdapterFailure as failure:
            found.problems.append(
                f"{op}: it does not survive an input that the op does not take: {failure.kind}: {failure.why}"
            )
