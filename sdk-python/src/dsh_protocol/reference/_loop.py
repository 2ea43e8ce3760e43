"""One rule of `spec/loop` explained: what a loop writes, and a case that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import dsh_protocol_data
from dsh_protocol.dialect import CURRENT, OLDEST

from ._cases import Case
from ._words import SOURCES, unknown_rule


@dataclass(frozen=True, slots=True)
class LoopExplanation:
    """A rule of what a loop writes. No reader minds a log that was written otherwise, so there is no finding and no remedy.

    `formats` are those whose loops do so, `source` says in words where the rule comes from, `supersedes` is the id of the
    rule in whose place it came. `shown` is a small case in which a loop keeps it; null where there is none.
    """

    id: str
    statement: str
    formats: tuple[int, ...]
    source: str
    divergence: str | None
    supersedes: str | None
    shown: Case | None

    def to_json(self) -> dict[str, Any]:
        """This explanation as a JSON object."""
        return {
            "id": self.id,
            "statement": self.statement,
            "formats": list(self.formats),
            "source": self.source,
            "divergence": self.divergence,
            "supersedes": self.supersedes,
            "shown": self.shown and self.shown.value,
        }


@cache
def loop_rules() -> Mapping[str, LoopExplanation]:
    """Every rule of what a loop writes by id, in the order of the specification."""
    entries: list[dict[str, Any]] = dsh_protocol_data.load("loop_rules")["rules"]
    return MappingProxyType({entry["id"]: _explained(entry) for entry in entries})


def explain_loop(rule_id: str) -> LoopExplanation:
    """The rule of what a loop writes with this id, such as `loop/prompt-first`.

    Raises:
        UsageError: `rules/unknown-id`, no such rule has this id; `fix` lists similar ids.
    """
    found = loop_rules().get(rule_id)
    if found is None:
        raise unknown_rule(rule_id, loop_rules())
    return found


def _explained(entry: Mapping[str, Any]) -> LoopExplanation:
    last = CURRENT if entry["until"] is None else entry["until"]
    case = dsh_protocol_data.load("loop_examples").get(entry["id"])
    return LoopExplanation(
        id=entry["id"],
        statement=entry["statement"],
        formats=tuple(v for v in range(OLDEST, CURRENT + 1) if entry["since"] <= v <= last),
        source=SOURCES[entry["source"]],
        divergence=entry.get("divergence"),
        supersedes=entry.get("supersedes"),
        shown=None if case is None else Case(case),
    )
