"""What of the schemas of a bundle occurs in values: declared members, values of lists, branches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from schema_constraints import tag_of

# (definition, member path from there, value of a list or "").
Feature = tuple[str, str, str]

_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "array": (list,),
    "integer": (int,),
    "null": (type(None),),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}


@dataclass
class Shapes:
    """Which features the definitions declare, and which of them were met in values."""

    known: Mapping[str, dict[str, Any]]
    declared: set[Feature] = field(default_factory=set)
    met: set[Feature] = field(default_factory=set)
    _entered: set[str] = field(default_factory=set)

    def declare(self, name: str) -> None:
        """Note everything that a definition, and those it refers to, declare."""
        if name not in self._entered:
            self._entered.add(name)
            self._declare(self.known[name], name, "")

    def meet(self, name: str, value: Any) -> None:
        """Note everything of a definition that occurs in a valid value."""
        self._meet(self.known[name], name, "", value)

    def _declare(self, schema: dict[str, Any], name: str, path: str) -> None:
        if "$ref" in schema:
            self.declare(_target(schema))
        for value in schema.get("enum", ()):
            self.declared.add((name, path, str(value)))
        for member, inner in schema.get("properties", {}).items():
            self.declared.add((name, f"{path}/{member}", ""))
            self._declare(inner, name, f"{path}/{member}")
        for keyword in ("items", "additionalProperties"):
            if isinstance(schema.get(keyword), dict):
                self._declare(schema[keyword], name, f"{path}/*")
        for branch in _branches(schema):
            self._declare(branch, name, path)

    def _meet(self, schema: dict[str, Any], name: str, path: str, value: Any) -> None:
        if "$ref" in schema:
            target = _target(schema)
            self._meet(self.known[target], target, "", value)
            return
        if isinstance(value, (str, int)):
            self.met.add((name, path, str(value)))
        for member, inner in schema.get("properties", {}).items():
            if isinstance(value, dict) and member in value:
                self.met.add((name, f"{path}/{member}", ""))
                self._meet(inner, name, f"{path}/{member}", value[member])
        others = schema.get("additionalProperties")
        if isinstance(others, dict) and isinstance(value, dict):
            for member in value.keys() - schema.get("properties", {}).keys():
                self._meet(others, name, f"{path}/*", value[member])
        if "items" in schema and isinstance(value, list):
            for entry in value:
                self._meet(schema["items"], name, f"{path}/*", entry)
        if _branches(schema):
            self._meet(self._chosen(schema, value), name, path, value)

    def _chosen(self, union: dict[str, Any], value: Any) -> dict[str, Any]:
        tag = tag_of(union, self.known)
        if tag is None:
            return next(b for b in _branches(union) if self._takes(b, value))
        branches = [self._by_tag(branch, value[tag]) for branch in _branches(union)]
        chosen = [branch for branch in branches if branch is not None]
        return chosen[0] if chosen else _branches(union)[-1]

    def _by_tag(self, branch: dict[str, Any], tag: str) -> dict[str, Any] | None:
        """The branch, when it or one inside it is for this tag."""
        target = self.known[_target(branch)]
        for own in target.get("properties", {}).values():
            if own.get("const") == tag or tag in own.get("enum", ()):
                return branch
        inner = [self._by_tag(other, tag) for other in _branches(target)]
        return next((found for found in inner if found is not None), None)

    def _takes(self, branch: dict[str, Any], value: Any) -> bool:
        if "const" in branch:
            return bool(branch["const"] == value)
        if "$ref" in branch:
            return self._takes(self.known[_target(branch)], value)
        return isinstance(value, _PYTHON_TYPES[branch["type"]])


def _branches(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [*schema.get("oneOf", ()), *schema.get("anyOf", ())]


def _target(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]
