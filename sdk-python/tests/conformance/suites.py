"""The conformance corpus, as it lies in the repository."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from dsh_protocol.conformance.cases import Case, Corpus

ROOT = Path(__file__).parents[3] / "conformance"


@cache
def corpus() -> Corpus:
    """All suites."""
    return Corpus.open(ROOT)


@cache
def cases() -> list[Case]:
    """The cases that suites list, without those that are made of examples."""
    return [c for suite in corpus().suites.values() if not suite.from_examples for c in suite.cases]
