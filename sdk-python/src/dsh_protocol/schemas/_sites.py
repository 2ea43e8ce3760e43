"""Places in a bundle of schemas, and the unions among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ._catalog import DIALECT, Schema, Target, definitions, reachable, reference

Step = str | int


@dataclass(frozen=True, slots=True)
class Site:
    """A schema in a bundle, past any reference that stood in its place.

    `steps` leads to it from the definitions. `definition` is the innermost definition of an object,
    a list or a union around it: definitions of single numbers and texts give way to the one that
    uses them. `members` leads from there to the site, with `*` for list entries.
    """

    bundle: str
    steps: tuple[Step, ...]
    definition: str
    members: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        """The schema itself."""
        return _at(self.bundle, self.steps)

    def child(self, *steps: Step, member: str | None = None) -> Site:
        """The site below this one; `member` when it is about a member or an entry of the value."""
        members = self.members if member is None else (*self.members, member)
        return _entered(Site(self.bundle, (*self.steps, *steps), self.definition, members))

    @property
    def is_union(self) -> bool:
        """Whether the schema is a choice between branches."""
        return "oneOf" in self.schema or "anyOf" in self.schema


def site_of(target: Target) -> Site:
    """Where a definition stands."""
    return _entered(Site(target.bundle, (target.definition,), target.definition))


@cache
def _at(bundle: str, steps: tuple[Step, ...]) -> Schema:
    found: Any = definitions(bundle)
    for step in steps:
        found = found[step]
    schema: Schema = found
    return schema


@cache
def _entered(site: Site) -> Site:
    name = reference(site.schema)
    if name is None:
        return site
    if _has_parts(definitions(site.bundle)[name]):
        return _entered(Site(site.bundle, (name,), name))
    return _entered(Site(site.bundle, (name,), site.definition, site.members))


def _has_parts(schema: Schema) -> bool:
    return schema.get("type") in ("object", "array") or "oneOf" in schema or "anyOf" in schema


# ---- Unions --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Union:
    """A choice between branches.

    In a tagged union the member `tag` selects a branch in `by_tag`; `others`, when there is one, is
    the branch for all other tags. In another union the JSON type of the value selects from
    `branches`.
    """

    tag: str | None
    by_tag: Mapping[str, Site]
    others: Site | None
    branches: tuple[Site, ...]


@cache
def union_at(site: Site) -> Union:
    """The union that stands at a site."""
    schema = site.schema
    branches = tuple(
        site.child(keyword, index)
        for keyword in ("oneOf", "anyOf")
        for index in range(len(schema.get(keyword, ())))
    )
    if "discriminator" in schema:
        mapping = schema["discriminator"]["mapping"]
        by_tag = {t: site_of(Target(site.bundle, ref.split("/")[-1])) for t, ref in mapping.items()}
        return Union(schema["discriminator"]["propertyName"], by_tag, None, branches)
    inner = [union_at(branch) for branch in branches if branch.is_union]
    tagged = next((union for union in inner if union.tag is not None), None)
    if tagged is None:
        return Union(None, {}, None, branches)
    others = next((branch for branch in branches if not branch.is_union), None)
    return Union(tagged.tag, tagged.by_tag, others, branches)


# ---- Documents that engines compile ----------------------------------------------------------


def whole(site: Site) -> Schema:
    """A site with everything that it refers to, as one document."""
    known = definitions(site.bundle)
    inner = sorted(reachable(known, site.schema))
    return {"$schema": DIALECT, **site.schema, "$defs": {name: known[name] for name in inner}}


def list_of(site: Site) -> Schema:
    """A list of what a site takes, as one document."""
    document = whole(site)
    known = document.pop("$defs")
    return {"$schema": DIALECT, "type": "array", "items": document, "$defs": known}


def without_unions(site: Site) -> Schema:
    """The same document, with unions that take any value: what is left has no alternatives."""
    known = {name: _opened(schema) for name, schema in definitions(site.bundle).items()}
    opened = _opened(site.schema)
    inner = sorted(reachable(known, opened))
    return {"$schema": DIALECT, **opened, "$defs": {name: known[name] for name in inner}}


def _opened(value: Any) -> Any:
    if isinstance(value, dict):
        # A member of an object may have these names as well; its schema is no list.
        if any(isinstance(value.get(keyword), list) for keyword in ("oneOf", "anyOf")):
            return {}
        return {key: _opened(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_opened(child) for child in value]
    return value
