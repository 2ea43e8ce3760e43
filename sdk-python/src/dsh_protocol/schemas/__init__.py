"""Validators for the named schemas of the protocol.

A schema says what is intended; released readers leave much of it unchecked. What a schema refuses
is therefore a finding about a place (keyword and JSON Pointer), and what follows from it is the
caller's business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dsh_protocol.jsonvalue import pointer

from ._catalog import find, schema, schema_names
from ._engines import Engine, Path
from ._leaves import Leaf, leaves
from ._sites import Site, Union, site_of, union_at
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
        self._site = site_of(find(name))
        self._union = union_at(self._site) if self._site.is_union else Union(None, {}, None, ())

    def covers(self, tag: str) -> bool:
        """Whether a tagged union has this tag; for events, whether the type has a schema."""
        return tag in self._union.by_tag

    def findings(self, value: Any) -> list[SchemaFinding]:
        """Everything that the schema refuses about a JSON value, ordered by path.

        The value is one that `dsh_protocol.jsonvalue.loads` could give: nested 512 deep at most.
        """
        found = leaves(self._branch(value), value, self._engine)
        if not found:
            return []
        found.sort(key=lambda leaf: (_order(leaf.path), leaf.keyword, leaf.subject))
        return [_finding(leaf, value) for leaf in found]

    def _branch(self, value: Any) -> Site:
        """The branch of a tagged union, so that only what is needed is compiled and asked."""
        if self._union.tag is None or not isinstance(value, dict):
            return self._site
        tag = value.get(self._union.tag)
        return self._union.by_tag.get(tag, self._site) if isinstance(tag, str) else self._site


def _finding(leaf: Leaf, value: Any) -> SchemaFinding:
    return SchemaFinding(
        keyword=leaf.keyword,
        path=pointer(*leaf.path),
        message=describe(leaf, _at(value, leaf.path)),
        definition=leaf.site.definition,
        member=leaf.subject,
    )


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _order(path: Path) -> tuple[tuple[int, int, str], ...]:
    """Entries of a list in their order, members of an object by name."""
    return tuple((0, step, "") if isinstance(step, int) else (1, 0, step) for step in path)
