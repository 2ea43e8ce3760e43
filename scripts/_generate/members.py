"""Whether what is said about members of payloads agrees with the schemas: history, enforcement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .errors import GenerateError
from .schemas import Schema

Problems = Iterator[str]


@dataclass(frozen=True)
class Payloads:
    """The payloads of the events of one format, from its bundle."""

    known: Mapping[str, Schema]

    def types(self) -> Mapping[str, str]:
        """The definition of the event of each type, as a reference."""
        tags: dict[str, str] = self.known["KnownSessionEvent"]["discriminator"]["mapping"]
        return tags

    def at(self, type_: str, path: str) -> list[Schema]:
        """Every schema that stands at a path of the payload, in whatever branch of a union."""
        found = self._resolved({"$ref": self.types()[type_]})
        for part in ["data", *path.split("/")[1:]]:
            found = [inner for schema in found for inner in self._step(schema, part)]
        return found

    def members(self, type_: str) -> set[str]:
        """The declared members of the payload, in all branches."""
        return {name for schema in self.at(type_, "") for name in schema.get("properties", {})}

    def _step(self, schema: Schema, part: str) -> Iterator[Schema]:
        inner = schema.get("items") if part == "*" else schema.get("properties", {}).get(part)
        if inner is not None:
            yield from self._resolved(inner)

    def _resolved(self, schema: Schema) -> list[Schema]:
        if "$ref" in schema:
            return self._resolved(self.known[schema["$ref"].rpartition("/")[2]])
        branches = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
        if branches:
            return [leaf for branch in branches for leaf in self._resolved(branch)]
        return [schema]


def check_members(
    history: Mapping[str, Any], enforcement: Mapping[str, Any], bundles: Mapping[str, Schema]
) -> None:
    """Compare `member_history.yaml` and `enforcement.yaml` with the bundles of the formats.

    Raises:
        GenerateError: a path leads nowhere, a member is in a format it is not said to be in, or a
            member of a payload is not listed exactly once.
    """
    formats = {
        int(name.removeprefix("session-v")): Payloads(bundle["$defs"])
        for name, bundle in bundles.items()
        if name.startswith("session-v")
    }
    problems = [f"spec/session/member_history.yaml: {p}" for p in _history(history, formats)]
    problems += [f"spec/session/enforcement.yaml: {p}" for p in _enforcement(enforcement, formats)]
    if problems:
        raise GenerateError(*problems)


def _history(history: Mapping[str, Any], formats: Mapping[int, Payloads]) -> Problems:
    keys = [(e["type"], e["path"], e.get("value")) for e in history["members"]]
    yield from (f"{key}: said twice" for key, count in Counter(keys).items() if count > 1)
    for entry in history["members"]:
        for version, payloads in formats.items():
            said = version in entry["formats"]
            if entry["type"] not in payloads.types():
                is_there = False
            elif "value" in entry:
                is_there = _has_value(payloads.at(entry["type"], entry["path"]), entry["value"])
            else:
                is_there = bool(payloads.at(entry["type"], entry["path"]))
            if said != is_there:
                place = f"{entry['type']} {entry['path']} {entry.get('value', '')}".rstrip()
                yield f"{place}: the schema of format {version} has it: {is_there}, said: {said}"


def _has_value(schemas: list[Schema], value: object) -> bool:
    return any(value == s.get("const") or value in s.get("enum", ()) for s in schemas)


def _enforcement(enforcement: Mapping[str, Any], formats: Mapping[int, Payloads]) -> Problems:
    entries = {entry["type"]: entry for entry in enforcement["types"]}
    if len(entries) != len(enforcement["types"]):
        yield "a type is listed twice"
    every = {type_ for payloads in formats.values() for type_ in payloads.types()}
    yield from (f"{type_}: not in both lists of types" for type_ in sorted(every ^ entries.keys()))
    for type_ in sorted(every & entries.keys()):
        for version, payloads in formats.items():
            if type_ in payloads.types():
                paths = list(_paths(entries[type_], version))
                for problem in _listed(paths, payloads.members(type_)):
                    yield f"{type_}, format {version}: {problem}"
        yield from _leads_nowhere(entries[type_], formats)


def _paths(entry: Mapping[str, Any], version: int) -> Iterator[str]:
    yield from entry.get("schema_only", ())
    for member in entry.get("enforced", ()):
        if version in member.get("formats", (version,)):
            yield member["path"]


def _listed(paths: list[str], members: set[str]) -> Problems:
    yield from (f"{path}: listed twice" for path, count in Counter(paths).items() if count > 1)
    yield from (f"/{name}: not listed" for name in sorted(members) if f"/{name}" not in paths)


def _leads_nowhere(entry: Mapping[str, Any], formats: Mapping[int, Payloads]) -> Problems:
    type_ = entry["type"]
    with_type = {v: p for v, p in formats.items() if type_ in p.types()}
    places = [(path, tuple(with_type)) for path in entry.get("schema_only", ())]
    places += [(m["path"], tuple(m.get("formats", with_type))) for m in entry.get("enforced", ())]
    for path, versions in places:
        known = [version for version in versions if version in with_type]
        if not known or not any(with_type[version].at(type_, path) for version in known):
            yield f"{type_} {path}: no member of the payload"
