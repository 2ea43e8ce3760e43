"""Whether the vocabulary and the schemas say the same: which event types a format has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from .errors import GenerateError
from .schemas import Schema

Problems = Iterator[str]


def check_vocabulary(vocabulary: Mapping[str, Any], bundles: Mapping[str, Schema]) -> None:
    """Compare the content of `vocabulary.yaml` with the bundles of the session formats.

    Raises:
        GenerateError: a list of types is not the same in both places.
    """
    counts = Counter(entry["type"] for entry in vocabulary["types"])
    problems = [f"{type_}: listed twice" for type_, count in counts.items() if count > 1]
    for name, bundle in bundles.items():
        version = name.removeprefix("session-v")
        if version != name:
            problems += [
                f"format {version}: {text}" for text in _format(vocabulary, version, bundle)
            ]
    if problems:
        raise GenerateError(*(f"spec/session/vocabulary.yaml: {text}" for text in problems))


def _format(vocabulary: Mapping[str, Any], version: str, bundle: Schema) -> Problems:
    entries = [entry for entry in vocabulary["types"] if int(version) in entry["formats"]]
    if vocabulary["counts"].get(version) != len(entries):
        yield f"{len(entries)} types, counts say {vocabulary['counts'].get(version)}"
    tags: dict[str, str] = bundle["$defs"]["KnownSessionEvent"]["discriminator"]["mapping"]
    described = {entry["type"] for entry in entries if entry["schema"]}
    for type_ in sorted(described ^ tags.keys()):
        yield f"{type_}: has a schema in one of the vocabulary and KnownSessionEvent only"
    for entry in entries:
        ref = tags.get(entry["type"], "")
        if ref:
            yield from _surface(entry, bundle["$defs"][ref.rpartition("/")[2]])
    yield from _opaque(entries, bundle["$defs"]["OpaqueEvent"]["properties"]["type"]["pattern"])


def _surface(entry: Mapping[str, Any], schema: Schema) -> Problems:
    if entry["surface"] != ("surfaceOp" in schema["required"]):
        yield f"{entry['type']}: surface is not what the event's surfaceOp says"
    if schema["properties"]["type"].get("const") != entry["type"]:
        yield f"{entry['type']}: the definition has another type"


def _opaque(entries: list[Mapping[str, Any]], pattern: str) -> Problems:
    """The pattern of an unknown type refuses exactly the types of the format."""
    unknown = re.compile(pattern)
    for entry in entries:
        if unknown.search(entry["type"]):
            yield f"{entry['type']}: OpaqueEvent takes it as unknown"
    for near in (f"{entries[0]['type']}x", f"x{entries[0]['type']}", "plugin:x"):
        if not unknown.search(near):
            yield f"OpaqueEvent does not take {near}"
    if pattern.count("|") != len(entries) - 1:
        yield f"OpaqueEvent names {pattern.count('|') + 1} types"
