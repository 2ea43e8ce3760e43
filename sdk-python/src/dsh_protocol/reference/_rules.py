"""One rule explained: what holds, what released readers do where it is broken, and a case of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import dsh_protocol_data
from dsh_protocol.dialect import CURRENT, OLDEST
from dsh_protocol.rules import ReadEffect, Rule, rules

from ._cases import Case
from ._loop import loop_rules
from ._words import LEVELS, RELEASES, SOURCES, unknown_rule

_EFFECTS: dict[ReadEffect, str] = {
    "accept": "opens the log all the same",
    "drop-tail": (
        "drops this row and all later ones, or refuses the log when a later row is a turn/end"
    ),
    "refuse": "refuses the log",
}


@dataclass(frozen=True, slots=True)
class ReaderEffect:
    """What the released reader of one format does with a stored log that breaks a rule.

    `hard` names the event types for which it does not even look whether it drops the row: true for
    all, empty for none. `late` names those whose rows it does not drop, but refuses the log for.
    `verdicts` are those that are false then, in rows that it keeps. `in_logs` is false for a rule
    about calls, which no log can break.
    """

    format: int
    release: str
    effect: ReadEffect
    hard: bool | tuple[str, ...]
    late: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    in_logs: bool = True

    @property
    def text(self) -> str:
        """The effect in words."""
        if not self.in_logs:
            return f"release {self.release} checks it when it is called; no log can break it"
        words = f"release {self.release} {_EFFECTS[self.effect]}"
        if self.late:
            words += f"; it refuses the log for a row of {', '.join(self.late)} that it does not drop anyway"
        if not self.hard:
            return words
        where = "even in rows that it drops"
        if isinstance(self.hard, tuple):
            where += f", for {', '.join(self.hard)}"
        if self.effect == "refuse":
            return f"{words}, {where}"
        return f"{words}; it refuses the log for it {where}"

    def to_json(self) -> dict[str, Any]:
        """This effect as a JSON object."""
        hard = list(self.hard) if isinstance(self.hard, tuple) else self.hard
        return {
            "format": self.format,
            "release": self.release,
            "effect": self.effect,
            "hard": hard,
            "late": list(self.late),
            "verdicts": list(self.verdicts),
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that is known about a rule.

    `accepts` and `refuses` are a small case that keeps it and one that breaks it. They are null for
    a rule about sizes, whose cases would be too large, and for the rule that schemas are, which
    have examples of their own.
    """

    rule: Rule
    readers: tuple[ReaderEffect, ...]
    accepts: Case | None
    refuses: Case | None

    @property
    def level(self) -> str:
        """Where released software enforces the rule, in words."""
        return LEVELS[self.rule.level]

    @property
    def source(self) -> str:
        """Where the rule comes from, in words."""
        return SOURCES[self.rule.source]

    def to_json(self) -> dict[str, Any]:
        """This explanation as a JSON object."""
        return {
            "id": self.rule.id,
            "statement": self.rule.statement,
            "message": self.rule.message,
            "remedy": self.rule.remedy,
            "severity": self.rule.severity,
            "formats": [reader.format for reader in self.readers],
            "level": self.rule.level,
            "source": self.rule.source,
            "readers": [reader.to_json() for reader in self.readers],
            "divergence": self.rule.divergence,
            "deferred": self.rule.deferred,
            "supersedes": self.rule.supersedes,
            "accepts": self.accepts and self.accepts.value,
            "refuses": self.refuses and self.refuses.value,
        }


def explain(rule_id: str) -> Explanation:
    """The rule with this id. Those of what a loop writes (`loop/...`), which no log can break, are `explain_loop`'s.

    Raises:
        UsageError: `rules/unknown-id`, no rule has this id; `fix` lists similar ids.
    """
    entry = rules().get(rule_id)
    if entry is None:
        raise unknown_rule(rule_id, (*rules(), *loop_rules()))
    cases: dict[str, Any] = dsh_protocol_data.load("rule_examples").get(rule_id, {})
    formats = (version for version in range(OLDEST, CURRENT + 1) if entry.holds_in(version))
    return Explanation(
        rule=entry,
        readers=tuple(_effect(entry, version) for version in formats),
        accepts=Case(cases["accepts"]) if "accepts" in cases else None,
        refuses=Case(cases["refuses"]) if "refuses" in cases else None,
    )


def _effect(entry: Rule, version: int) -> ReaderEffect:
    hard = entry.hard.get(str(version), [])
    in_logs = entry.level != "service"
    return ReaderEffect(
        format=version,
        release=RELEASES[version],
        effect=entry.read_effect(version),
        hard=True if hard is True else tuple(hard),
        late=tuple(entry.late.get(str(version), ())),
        verdicts=tuple(_false_verdicts(entry, version)) if in_logs else (),
        in_logs=in_logs,
    )


def _false_verdicts(entry: Rule, version: int) -> Iterator[str]:
    """The verdicts on a log that breaks the rule. A row that is dropped leaves open what can be done with the others."""
    effect = entry.read_effect(version)
    if effect == "refuse":
        yield "readable"
    if entry.is_invalid(version):
        yield "valid"
    if effect == "refuse" or (effect == "accept" and entry.bars_resume(version)):
        yield "resumable"
    if entry.level == "provider":
        yield "wireValid"
