"""What a schema refuses, as a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dsh_protocol.findings import Finding
from dsh_protocol.jsonvalue import is_count, pointer
from dsh_protocol.rules import Words, refuse

from ._engines import Path
from ._leaves import Leaf
from ._texts import describe

_RULE = "schema/payload"


@dataclass(frozen=True, slots=True)
class SchemaFinding(Finding):
    """One place of a value that a schema refuses: a finding of the rule `schema/payload`.

    `keyword` is the broken JSON Schema keyword and `path` the JSON Pointer of the value it
    applies to. For `required`, `dependentRequired`, `additionalProperties` and `propertyNames` that
    is the object, and `member` names the missing or undeclared member (`""` otherwise). Inside a
    union only the branch that the value names by its tag is looked at (`spec/examples/README.md`
    says what holds when it names none). `definition` is the object, list or union in the schema
    that declares the place.

    The severity is that of the rule, a warning: released readers take such values. `seq` is the
    number of an event, null for other values and where the event has none.
    """

    keyword: str = ""
    definition: str = ""
    member: str = ""

    @property
    def place(self) -> str:
        """The JSON Pointer of the refused value; of the member itself where one is named."""
        return self.path + pointer(self.member) if self.member else self.path


def schema_finding(leaf: Leaf, value: Any) -> SchemaFinding:
    """The finding for one refused place of `value`."""
    words = describe(leaf, _at(value, leaf.path))
    found = refuse(
        _RULE,
        seq=seq_of(value),
        path=pointer(*leaf.path),
        keyword=Words(leaf.keyword),
        detail=Words(words),
    )
    return SchemaFinding(
        rule=found.rule,
        severity=found.severity,
        seq=found.seq,
        line=None,
        path=found.path,
        message=found.message,
        fix=found.fix,
        keyword=leaf.keyword,
        definition=leaf.site.definition,
        member=leaf.subject,
    )


def seq_of(value: Any) -> int | None:
    """The number of an event, null for another value and for an event that has none that counts."""
    seq = value.get("seq") if isinstance(value, dict) else None
    return seq if is_count(seq) else None


def without_repeats(
    found: Iterable[SchemaFinding], refused: Iterable[Finding]
) -> Iterator[SchemaFinding]:
    """What a schema refuses, without what is about a place that a rule has already refused."""
    paths = [finding.path for finding in refused]
    for finding in found:
        if not any(finding.path == path or _overlap(finding.place, path) for path in paths):
            yield finding


def _overlap(one: str, other: str) -> bool:
    """Whether one JSON Pointer is the other, or leads to a place inside it (the whole value counts as no place)."""
    if not other:
        return False
    return one == other or one.startswith(other + "/") or other.startswith(one + "/")


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value
