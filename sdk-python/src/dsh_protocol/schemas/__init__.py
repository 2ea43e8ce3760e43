"""Validators for the named schemas of the protocol.

A schema says what is intended; released readers leave much of it unchecked. What a schema refuses
is therefore a finding about a place (keyword and JSON Pointer), and what follows from it is the
caller's business.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dsh_protocol.jsonvalue import pointer

from ._catalog import Target, find, schema, schema_names, tag_name, tagged
from ._engines import (
    CannotValidate,
    Engine,
    Path,
    Violation,
    fast_violations,
    is_valid,
    reference_violations,
)
from ._leaves import Leaf, leaves
from ._texts import describe

__all__ = ["SchemaFinding", "Validator", "schema", "schema_names"]


@dataclass(frozen=True, slots=True)
class SchemaFinding:
    """One place of a value that a schema refuses.

    `keyword` is the broken JSON Schema keyword and `path` the JSON Pointer of the value it
    applies to. For `required`, `dependentRequired`, `additionalProperties` and `propertyNames` that
    is the object, and `member` names the missing or undeclared member (`""` otherwise). Inside a
    union only the branch that the value names by its tag is looked at (`spec/examples/README.md`
    says what holds when it names none). `definition` is the object, list or union in the schema
    that declares the place.
    """

    keyword: str
    path: str
    message: str
    definition: str
    member: str = ""


class Validator:
    """Checks values against one named schema; may be shared by threads.

    Compiled on first use, a tagged union branch by branch. `engine="reference"` uses the reference
    implementation of JSON Schema throughout: the same findings, but slower.

    Raises:
        UsageError: `schemas/unknown-name`, no schema has this name.
    """

    def __init__(self, name: str, *, engine: Engine = "fast") -> None:
        self.name = name
        self._engine = engine
        self._target = find(name)
        self._tag = tag_name(self._target)
        self._by_tag = tagged(self._target)

    def covers(self, tag: str) -> bool:
        """Whether a tagged union has this tag; for events, whether the type has a schema."""
        return tag in self._by_tag

    def findings(self, value: Any) -> list[SchemaFinding]:
        """Everything that the schema refuses about a JSON value, ordered by path.

        The value is one that `dsh_protocol.jsonvalue.loads` could give: nested 512 deep at most.
        """
        target = self._branch(value)
        try:
            violations = self._violations(target, value)
        except CannotValidate:
            return [_too_deep(target)]
        if not violations:
            return []
        return _findings(leaves(target, violations, value), value)

    def _branch(self, value: Any) -> Target:
        if self._tag is None or not isinstance(value, dict):
            return self._target
        tag = value.get(self._tag)
        return self._by_tag.get(tag, self._target) if isinstance(tag, str) else self._target

    def _violations(self, target: Target, value: Any) -> tuple[Violation, ...]:
        if self._engine == "fast":
            try:
                return () if is_valid(target, value) else fast_violations(target, value)
            except CannotValidate:
                pass  # A lone surrogate, for instance, which JSON and the log allow.
        return reference_violations(target, value)


def _findings(found: Iterable[Leaf], value: Any) -> list[SchemaFinding]:
    ordered = sorted(found, key=lambda leaf: (_order(leaf.path), leaf.keyword, leaf.subject))
    return [
        SchemaFinding(
            keyword=leaf.keyword,
            path=pointer(*leaf.path),
            message=describe(leaf, _at(value, leaf.path)),
            definition=leaf.place.definition,
            member=leaf.subject,
        )
        for leaf in ordered
    ]


def _too_deep(target: Target) -> SchemaFinding:
    return SchemaFinding("type", "", "the value nests too deep to be checked", target.definition)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _order(path: Path) -> tuple[tuple[int, int, str], ...]:
    """Entries of a list in their order, members of an object by name."""
    return tuple((0, step, "") if isinstance(step, int) else (1, 0, step) for step in path)
