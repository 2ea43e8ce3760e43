"""From a tree of violations to its leaves; in a broken union, those of the meant branch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ._catalog import Target, tag_of
from ._engines import Path, Violation
from ._places import Place, locate

_IDENTITY = ("const", "enum")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One refused place.

    `subject` is the missing or undeclared member where the keyword is about one, `limit` the
    value of the keyword.
    """

    keyword: str
    path: Path
    place: Place
    limit: Any
    subject: str = ""


def leaves(target: Target, violations: Iterable[Violation], value: object) -> list[Leaf]:
    """Every refused place, once.

    A value of the wrong type is outside the list of values beside the type as well: that is one
    defect.
    """
    descent = _Descent(target, value)
    every = [leaf for violation in violations for leaf in descent.of(violation)]
    found = {(leaf.path, leaf.keyword, leaf.subject): leaf for leaf in every}
    mistyped = {leaf.path for leaf in every if leaf.keyword == "type"}
    return [x for x in found.values() if x.keyword not in _IDENTITY or x.path not in mistyped]


@dataclass(frozen=True, slots=True)
class _Descent:
    target: Target
    root: object

    def of(self, violation: Violation) -> Iterator[Leaf]:
        place = locate(self.target, violation.schema_path)
        if violation.branches:
            yield from self._union(violation, place)
            return
        limit = place.schema.get(violation.keyword)
        for subject in _subjects(violation.keyword, place, self._value(violation.path)):
            yield Leaf(violation.keyword, violation.path, place, limit, subject)

    def _union(self, union: Violation, place: Place) -> Iterator[Leaf]:
        tag = tag_of(place.schema, self.target.definitions)
        value = self._value(union.path)
        if tag is not None and isinstance(value, dict) and tag not in value:
            yield Leaf("required", union.path, place, [tag], tag)
            return
        meant = [branch for branch in union.branches if not _refuses(branch, union.path, tag)]
        if meant:
            yield from min((self._all(branch) for branch in meant), key=len)
        elif tag is not None and isinstance(value, dict):
            yield from self._tag(union, place, (*union.path, tag))
        else:
            yield from self._kind(union, place)

    def _all(self, branch: Iterable[Violation]) -> list[Leaf]:
        return [leaf for violation in branch for leaf in self.of(violation)]

    def _tag(self, union: Violation, place: Place, path: Path) -> Iterator[Leaf]:
        """No branch has this tag: what the one for all other tags says, or the list of tags."""
        others = [v for branch in union.branches for v in branch if v.path == path]
        if others and "discriminator" not in place.schema:
            yield from self.of(others[0])
        else:
            yield Leaf("enum", path, place, sorted(place.schema["discriminator"]["mapping"]))

    def _kind(self, union: Violation, place: Place) -> Iterator[Leaf]:
        """No branch takes this type of value, or one takes the type but only one value."""
        others = [v for v in _flat(union) if v.path == union.path and v.keyword != "type"]
        if others:
            yield from self.of(others[0])
            return
        types = [locate(self.target, v.schema_path).schema["type"] for v in _flat(union)]
        names = dict.fromkeys(name for t in types for name in ([t] if isinstance(t, str) else t))
        yield Leaf("type", union.path, place, list(names))

    def _value(self, path: Path) -> Any:
        value: Any = self.root
        for step in path:
            value = value[step]
        return value


def _refuses(branch: Iterable[Violation], path: Path, tag: str | None) -> bool:
    """Whether the branch was not meant: it takes another kind of value, or one with another tag."""
    return any(_is_refusal(violation, path, tag) for violation in branch)


def _is_refusal(violation: Violation, path: Path, tag: str | None) -> bool:
    if violation.branches:
        return violation.path == path and all(_refuses(b, path, tag) for b in violation.branches)
    if violation.path == path:
        return violation.keyword in ("type", *_IDENTITY)
    return tag is not None and violation.path == (*path, tag)


def _flat(union: Violation) -> Iterator[Violation]:
    for branch in union.branches:
        for violation in branch:
            if violation.branches:
                yield from _flat(violation)
            else:
                yield violation


def _subjects(keyword: str, place: Place, value: Any) -> Iterator[str]:
    """The members that the keyword is about, one leaf each; `""` for a keyword about the value."""
    if keyword == "required":
        yield from (name for name in place.schema["required"] if name not in value)
    elif keyword == "additionalProperties":
        yield from (name for name in value if name not in place.schema.get("properties", {}))
    elif keyword == "propertyNames":
        allowed = place.schema["propertyNames"]["pattern"]
        yield from (name for name in value if re.search(allowed, name) is None)
    elif keyword == "dependentRequired":
        for name, needed in place.schema["dependentRequired"].items():
            if name in value:
                yield from (other for other in needed if other not in value)
    else:
        yield ""
