"""What a schema refuses about a value, each at its place: unions are entered through the meant branch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from ._engines import Engine, Path, Violation, is_non_finite, is_valid, violations
from ._sites import Site, Union, union_at

_Part: TypeAlias = tuple[Site, Any, Path]

MOST = 1000
"""The most places of one value that are told: a hostile value can have one for every few bytes."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One refused place.

    `limit` is the value of the keyword, `subject` the missing or undeclared member where the keyword
    is about one.
    """

    keyword: str
    path: Path
    site: Site
    limit: Any
    subject: str = ""


def leaves(site: Site, value: Any, engine: Engine) -> list[Leaf]:
    """Every refused place, once.

    A value of the wrong type is outside the list of values beside the type as well: one defect. Past
    `MOST` places no more are looked for.
    """
    found: list[Leaf] = []
    waiting: list[Iterator[_Part]] = [iter([(site, value, ())])]
    while waiting and len(found) < MOST:
        part = next(waiting[-1], None)
        if part is None:
            waiting.pop()
            continue
        site, value, path = part
        if engine == "fast" and is_valid(site, value):
            continue
        if site.is_union:
            branch, refused = _choice(site, value, path, engine)
            found += refused
            if branch is not None:
                waiting.append(iter([(branch, value, path)]))
        else:
            found += islice(_plain(site, value, path, engine), MOST)
            waiting.append(_unions(site, value, path))
    found = found[:MOST]
    mistyped = {leaf.path for leaf in found if leaf.keyword == "type"}
    return [x for x in found if x.keyword not in ("const", "enum") or x.path not in mistyped]


def _plain(site: Site, value: Any, path: Path, engine: Engine) -> Iterator[Leaf]:
    """What is refused outside of unions."""
    for violation in violations(site, value, engine):
        place, keyword = _site_of(site, violation)
        at = value
        for step in violation.path:
            at = at[step]
        for subject in _subjects(keyword, place, at):
            limit = place.schema.get(keyword)
            yield Leaf(keyword, (*path, *violation.path), place, limit, subject)


def _site_of(site: Site, violation: Violation) -> tuple[Site, str]:
    *steps, keyword = violation.schema_path
    while steps:
        step = steps.pop(0)
        if step == "properties":
            name = str(steps.pop(0))
            site = site.child(step, name, member=name)
        else:
            site = site.child(step, member="*")
    return site, str(keyword)


def _unions(site: Site, value: Any, path: Path) -> Iterator[_Part]:
    """Every union that the schema has for a part of the value, outside of other unions."""
    if site.is_union:
        yield site, value, path
    elif isinstance(value, dict):
        for name in site.schema.get("properties", {}).keys() & value.keys():
            child = site.child("properties", name, member=name)
            yield from _unions(child, value[name], (*path, name))
    elif isinstance(value, list) and "items" in site.schema:
        child = site.child("items", member="*")
        for index, entry in enumerate(value):
            yield from _unions(child, entry, (*path, index))


def _subjects(keyword: str, site: Site, value: Any) -> Iterator[str]:
    """The members that the keyword is about, one leaf each; `""` for a keyword about the value."""
    if keyword == "required":
        yield from (name for name in site.schema["required"] if name not in value)
    elif keyword == "additionalProperties":
        yield from (name for name in value if name not in site.schema.get("properties", {}))
    elif keyword == "propertyNames":
        allowed = site.schema["propertyNames"]["pattern"]
        yield from (name for name in value if re.search(allowed, name) is None)
    elif keyword == "dependentRequired":
        for name, needed in site.schema["dependentRequired"].items():
            if name in value:
                yield from (other for other in needed if other not in value)
    else:
        yield ""


# ---- The meant branch ----------------------------------------------------------------------------

_Choice = tuple[Site | None, list[Leaf]]


def _choice(site: Site, value: Any, path: Path, engine: Engine) -> _Choice:
    """The branch to go on with, or what is refused because there is none."""
    union = union_at(site)
    if union.tag is None:
        return _by_type(site, union, value, path, engine)
    if not isinstance(value, dict):
        return None, [Leaf("type", path, site, "object")]
    if union.tag not in value:
        return None, [Leaf("required", path, site, [union.tag], union.tag)]
    tag = value[union.tag]
    if isinstance(tag, str) and tag in union.by_tag:
        return union.by_tag[tag], []
    at = (*path, union.tag)
    if union.others is None:
        return None, [Leaf("enum", at, site, sorted(union.by_tag))]
    own = union.others.child("properties", union.tag, member=union.tag)
    refused = list(_plain(own, tag, at, engine))
    return (None, refused) if refused else (union.others, [])


def _by_type(site: Site, union: Union, value: Any, path: Path, engine: Engine) -> _Choice:
    fitting = [branch for branch in union.branches if _types(branch) & _types_of(value)]
    if len(fitting) == 1:
        return fitting[0], []
    if fitting:
        found = [_below(branch, value, path, engine) for branch in fitting]
        return None, min(found, key=len)
    constant = next((branch for branch in union.branches if "const" in branch.schema), None)
    if constant is not None:
        return None, [Leaf("const", path, constant, constant.schema["const"])]
    types = dict.fromkeys(name for branch in union.branches for name in sorted(_types(branch)))
    return None, [Leaf("type", path, site, list(types))]


def _below(branch: Site, value: Any, path: Path, engine: Engine) -> list[Leaf]:
    return [
        Leaf(leaf.keyword, (*path, *leaf.path), leaf.site, leaf.limit, leaf.subject)
        for leaf in leaves(branch, value, engine)
    ]


def _types(site: Site) -> set[str]:
    """The JSON types that a schema can take."""
    schema = site.schema
    if "const" in schema:
        return _types_of(schema["const"])
    if site.is_union:
        return {name for branch in union_at(site).branches for name in _types(branch)}
    stated = schema["type"]
    return {stated} if isinstance(stated, str) else set(stated)


def _types_of(value: Any) -> set[str]:
    """The JSON types that a value is of."""
    if value is None:
        return {"null"}
    if is_non_finite(value):
        return set()
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int | float):
        return {"integer", "number"} if value == int(value) else {"number"}
    if isinstance(value, str):
        return {"string"}
    return {"array"} if isinstance(value, list) else {"object"}
