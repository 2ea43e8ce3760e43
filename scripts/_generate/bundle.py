"""One self-contained JSON Schema for each format, with all its definitions in one `$defs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .errors import GenerateError
from .layout import Bundle
from .schemas import Definition, Schema, SchemaFile, split_ref


def bundle(kind: Bundle, files: Mapping[str, SchemaFile]) -> Schema:
    """The bundle of this kind.

    The root repeats the definition that `kind.root` names, because a root that is a `$ref` stops
    several type generators. Definitions that a folder of the bundle refers to elsewhere in `spec/`
    are taken in as well.

    Raises:
        GenerateError: two definitions have one name, or the root does not exist.
    """
    definitions = _collect(kind, files)
    if kind.root not in definitions:
        raise GenerateError(f"{kind.name}: no definition {kind.root} in {', '.join(kind.folders)}")
    rewritten = {name: _rewrite(d.schema, d.file) for name, d in sorted(definitions.items())}
    root = {key: value for key, value in rewritten[kind.root].items() if key != "title"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{_base_id(files)}/bundled/{kind.name}.schema.json",
        "title": kind.root,
        **root,
        "$defs": rewritten,
    }


def homes(kind: Bundle, files: Mapping[str, SchemaFile]) -> dict[str, str]:
    """The file of each definition in the bundle of this kind, by the name of the definition."""
    return {name: d.file for name, d in sorted(_collect(kind, files).items())}


def _base_id(files: Mapping[str, SchemaFile]) -> str:
    """What the `$id`s of all files have in front of the file name (lint compares the rest)."""
    bases = {str(file.value["$id"]).removesuffix("/" + file.name) for file in files.values()}
    if len(bases) != 1:
        raise GenerateError(f"the $ids of spec/ have different bases: {', '.join(sorted(bases))}")
    return bases.pop()


def _collect(kind: Bundle, files: Mapping[str, SchemaFile]) -> dict[str, Definition]:
    by_place = {(d.file, d.name): d for file in files.values() for d in file.definitions()}
    found: dict[str, Definition] = {}
    waiting = list(_inside(kind, files))
    while waiting:
        definition = waiting.pop()
        twin = found.setdefault(definition.name, definition)
        if twin.file != definition.file:
            raise GenerateError(f"{kind.name}: one name for {twin.place} and {definition.place}")
        targets = (by_place[split_ref(ref, definition.file)] for ref in _refs(definition.schema))
        waiting += [target for target in targets if found.get(target.name) is not target]
    return found


def _inside(kind: Bundle, files: Mapping[str, SchemaFile]) -> Iterator[Definition]:
    for file in files.values():
        if file.name.startswith(tuple(folder + "/" for folder in kind.folders)):
            yield from file.definitions()


def _refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for child in value.values():
            yield from _refs(child)
    elif isinstance(value, list):
        for child in value:
            yield from _refs(child)


def _rewrite(value: Any, file: str) -> Any:
    """The same schema with every reference, also in a mapping of tags, into one `$defs`."""
    if isinstance(value, list):
        return [_rewrite(child, file) for child in value]
    if not isinstance(value, dict):
        return value
    result = {key: _rewrite(child, file) for key, child in value.items()}
    if isinstance(value.get("$ref"), str):
        result["$ref"] = _local(value["$ref"], file)
    if isinstance(value.get("discriminator"), dict):
        mapping = value["discriminator"].get("mapping", {})
        result["discriminator"] = {
            **value["discriminator"],
            "mapping": {tag: _local(ref, file) for tag, ref in mapping.items()},
        }
    return result


def _local(ref: str, file: str) -> str:
    return f"#/$defs/{split_ref(ref, file)[1]}"
