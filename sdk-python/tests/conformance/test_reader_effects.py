"""What the rules say about released readers, changed entry by entry: at least one case has to notice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from ops import run
from suites import corpus
from test_corpus import UNTESTABLE

from dsh_protocol import rules as registry
from dsh_protocol.conformance.judge import Verdict
from dsh_protocol.rules import Rule

RULES = dict(registry.rules())
VERSIONS = (3, 4)


def with_more_refusals(entry: Rule) -> Iterator[tuple[int, Rule]]:
    """The rule, refused by the reader of one format that accepts it, or drops the row."""
    for version in VERSIONS:
        if entry.holds_in(version) and entry.read_effect(version) != "refuse":
            effects: dict[str, Any] = {str(v): entry.read_effect(v) for v in VERSIONS}
            yield version, replace(entry, read=effects | {str(version): "refuse"})


def without_types(entry: Rule, member: str) -> Iterator[tuple[int, Rule]]:
    """The rule, each time without one of the event types that a member names for a format."""
    named: Mapping[str, Any] = getattr(entry, member)
    for version, types in named.items():
        for gone in ["all"] if types is True else types:
            left = [] if types is True else [type_ for type_ in types if type_ != gone]
            members: dict[str, Any] = {member: {**named, version: left}}
            yield int(version), replace(entry, **members)


def changed(entry: Rule) -> list[tuple[int, Rule]]:
    """Every change to the rule that a case has to notice, with the format that it is about."""
    members = [*without_types(entry, "hard"), *without_types(entry, "late")]
    # A log cannot break the rules of services, of warnings no case says whether the log is readable, and what no case can
    # break no case can show.
    is_shown = entry.level != "service" and entry.severity == "error" and entry.id not in UNTESTABLE
    return [*members, *(with_more_refusals(entry) if is_shown else ())]


def notices(rule_id: str, version: int) -> bool:
    """Whether a case about the rule fails now."""
    about = (c for c in corpus().cases if rule_id in c.rules and version in c.formats)
    return any(run(c, version).verdict is Verdict.failed for c in about if c.op == "check")


@pytest.mark.parametrize("rule_id", [id_ for id_, entry in RULES.items() if changed(entry)])
def test_a_case_notices_another_effect(rule_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unnoticed = []
    for version, entry in changed(RULES[rule_id]):
        with monkeypatch.context() as patched:
            patched.setattr(registry, "rules", lambda entry=entry: {**RULES, entry.id: entry})
            if not notices(rule_id, version):
                unnoticed.append((version, entry.read, entry.hard, entry.late))
    assert unnoticed == []
