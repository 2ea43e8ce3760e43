"""Where a value breaks a schema: keyword and JSON Pointer, in a union of the meant branch only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import jsonschema_rs
from jsonschema import Draft202012Validator

Place = tuple[str, str]
Schema = dict[str, Any]


class BundleValidator:
    """The definitions of one bundle, as the reference validator and as the fast one."""

    def __init__(self, bundle: Mapping[str, Any]) -> None:
        self._definitions: dict[str, Schema] = bundle["$defs"]
        self._slow: dict[str, Draft202012Validator] = {}
        self._fast: dict[str, Any] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._definitions

    @cached_property
    def event_types(self) -> Mapping[str, str]:
        """The definition of each event type that has one; none in a bundle without events."""
        union = self._definitions.get("KnownSessionEvent")
        mapping = union["discriminator"]["mapping"] if union else {}
        return {type_: _name(ref) for type_, ref in mapping.items()}

    def places(self, name: str, value: object) -> set[Place]:
        """Every place where `value` breaks the definition `name`; empty when it is valid."""
        return set(self._places({"$ref": f"#/$defs/{name}"}, value, ""))

    def is_valid_fast(self, name: str, value: object) -> bool:
        """The verdict of jsonschema-rs."""
        if name not in self._fast:
            self._fast[name] = jsonschema_rs.Draft202012Validator(self._standalone(name))
        return bool(self._fast[name].is_valid(value))

    def _standalone(self, name: str) -> Schema:
        return {"$ref": f"#/$defs/{name}", "$defs": self._definitions}

    def _places(self, schema: Schema, value: object, at: str) -> Iterator[Place]:
        if "$ref" in schema:
            name = _name(schema["$ref"])
            target = self._definitions[name]
            if "oneOf" in target or "anyOf" in target:
                yield from self._union(target, value, at)
                return
            if name not in self._slow:
                self._slow[name] = Draft202012Validator(self._standalone(name))
            validator = self._slow[name]
        else:
            validator = Draft202012Validator(schema)
        for error in validator.iter_errors(value):
            here = at + _pointer(error.absolute_path)
            if error.validator in ("oneOf", "anyOf"):
                assert isinstance(error.schema, dict)
                yield from self._union(error.schema, error.instance, here)
            else:
                named = "propertyNames" in error.absolute_schema_path
                yield "propertyNames" if named else str(error.validator), here

    def _union(self, union: Schema, value: object, at: str) -> Iterator[Place]:
        if "discriminator" in union:
            yield from self._tagged(union, value, at)
            return
        branches = union["anyOf"]
        known = [branch for branch in branches if self._tag(branch) is not None]
        if known:
            tags = self._tag(known[0]) or {}
            others = [branch for branch in branches if branch not in known]
            chosen = known[0] if self._tag_of(known[0], value) in tags else others[0]
            yield from self._places(chosen, value, at)
            return
        found = [list(self._places(branch, value, at)) for branch in branches]
        if all(found):
            # The branch that takes this kind of value, else the first one.
            yield from next((places for places in found if not _wrong_kind(places, at)), found[0])

    def _tagged(self, union: Schema, value: object, at: str) -> Iterator[Place]:
        tag = union["discriminator"]["propertyName"]
        mapping = self._mapping(union)
        if not isinstance(value, dict):
            yield "type", at
        elif tag not in value:
            yield "required", at
        elif not isinstance(value[tag], str) or value[tag] not in mapping:
            yield "enum", f"{at}/{tag}"
        else:
            yield from self._places({"$ref": mapping[value[tag]]}, value, at)

    def _mapping(self, union: Schema) -> dict[str, str]:
        """The branch of each tag, from the mapping or from the constants of the branches."""
        discriminator = union["discriminator"]
        if "mapping" in discriminator:
            mapping: dict[str, str] = discriminator["mapping"]
            return mapping
        refs = [branch["$ref"] for branch in union["oneOf"]]
        properties = [self._definitions[_name(ref)]["properties"] for ref in refs]
        tag = discriminator["propertyName"]
        return {own[tag]["const"]: ref for ref, own in zip(refs, properties, strict=True)}

    def _tag(self, branch: Schema) -> Mapping[str, str] | None:
        target = self._definitions[_name(branch["$ref"])] if "$ref" in branch else branch
        return self._mapping(target) if "discriminator" in target else None

    def _tag_of(self, branch: Schema, value: object) -> str | None:
        target = self._definitions[_name(branch["$ref"])]
        tag = (
            value.get(target["discriminator"]["propertyName"]) if isinstance(value, dict) else None
        )
        return tag if isinstance(tag, str) else None


def _wrong_kind(places: list[Place], at: str) -> bool:
    return any(keyword in ("type", "const", "enum") and path == at for keyword, path in places)


def _name(ref: str) -> str:
    return ref.removeprefix("#/$defs/")


def _pointer(parts: Any) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
