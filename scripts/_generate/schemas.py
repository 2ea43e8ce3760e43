"""The schema files of `spec/`: loading them, and the references between them."""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import GenerateError

Schema = dict[str, Any]

# Folders of spec/ that hold schemas. `*.schema.json` files describe the YAML files beside them
# and are no part of the protocol.
SCHEMA_FOLDERS = ("session", "prompt", "wire")

_REF = re.compile(r"^(?P<file>[^#]*)#/\$defs/(?P<name>[A-Za-z0-9]+)$")


@dataclass(frozen=True)
class Definition:
    """One entry of a file's `$defs`. `file` is the path below `spec/`, with forward slashes."""

    file: str
    name: str
    schema: Schema

    @property
    def place(self) -> str:
        """Where to look for it."""
        return f"spec/{self.file}#/$defs/{self.name}"


@dataclass(frozen=True)
class SchemaFile:
    """One schema file; `name` is its path below `spec/`, with forward slashes."""

    name: str
    value: Schema

    def definitions(self) -> Iterator[Definition]:
        """Its definitions in file order."""
        for name, schema in self.value.get("$defs", {}).items():
            yield Definition(self.name, name, schema)


def load_schemas(spec: Path) -> dict[str, SchemaFile]:
    """Every schema file below `spec/` by name, sorted.

    Raises:
        GenerateError: a file is not a JSON object, or no file exists.
    """
    paths = sorted(
        path
        for folder in SCHEMA_FOLDERS
        for path in (spec / folder).rglob("*.json")
        if not path.name.endswith(".schema.json")
    )
    files = {}
    for path in paths:
        name = path.relative_to(spec).as_posix()
        files[name] = SchemaFile(name, _load_object(path, name))
    if not files:
        raise GenerateError("spec/ holds no schema file")
    return files


def _load_object(path: Path, name: str) -> Schema:
    try:
        value = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_no_twins)
    except ValueError as error:
        raise GenerateError(f"spec/{name}: not usable JSON: {error}") from error
    if not isinstance(value, dict):
        raise GenerateError(f"spec/{name}: a schema file is a JSON object")
    return value


def _no_twins(pairs: list[tuple[str, Any]]) -> Schema:
    counts = Counter(key for key, _ in pairs)
    twins = sorted(key for key, count in counts.items() if count > 1)
    if twins:
        raise ValueError(f"the same member twice: {', '.join(twins)}")
    return dict(pairs)


def split_ref(ref: str, file: str) -> tuple[str, str]:
    """The file and the definition that `ref`, written in `file`, names.

    Raises:
        ValueError: the reference has another form than `path#/$defs/Name`.
    """
    match = _REF.match(ref)
    if match is None:
        raise ValueError(f'"{ref}" is not of the form "path.json#/$defs/Name"')
    if not match["file"]:
        return file, match["name"]
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), match["file"])), match["name"]


def subschemas(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """The schema and every schema inside it, with its JSON Pointer from the start."""
    yield path, schema
    for key, child in schema.items():
        for step, inner in _children(key, child):
            yield from subschemas(inner, f"{path}/{step}")


def _children(key: str, child: object) -> Iterator[tuple[str, Schema]]:
    if key in ("items", "additionalProperties", "contains", "not", "if", "then", "else"):
        if isinstance(child, dict):
            yield key, child
    elif key in ("oneOf", "anyOf", "allOf", "prefixItems") and isinstance(child, list):
        for index, inner in enumerate(child):
            if isinstance(inner, dict):
                yield f"{key}/{index}", inner
    elif key in ("properties", "patternProperties", "$defs") and isinstance(child, Mapping):
        for name, inner in child.items():
            if isinstance(inner, dict):
                yield f"{key}/{name}", inner
