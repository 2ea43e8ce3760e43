"""Which schemas exist, what they are called, and each as one self-contained document."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import dsh_protocol_data
from dsh_protocol.findings import UsageError

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MOST_SUGGESTIONS = 5

_SESSION_NAMES = {
    "event": "SessionEvent",
    "header": "SessionHeader",
    "stored-event": "StoredEventRow",
    "stored-header": "StoredSessionHeader",
}
_WIRE_NAMES = {
    "deepseek-chat": "ChatRequest",
    "deepseek-messages": "MessagesRequest",
    "generate-options": "GenerateOptions",
    "pi-ai-context": "PiAiContext",
    "route": "Route",
}


_PROMPT_NAMES = {
    "assemble-context": "AssembleContext",
    "section": "PromptSection",
    "context": "PromptContext",
    "variable": "PromptVariable",
    "tool-provider-result": "ToolProviderResult",
    "assembly": "PromptAssembly",
    "config": "PromptConfig",
    "persona": "PersonaConfig",
    "output-schema": "OutputSchema",
    "value-spec": "ValueSpec",
    "parameter-specs": "ParameterSpecs",
    "tool-definition": "ToolDefinition",
    "tool-restriction": "ToolRestriction",
    "tool-invocation": "ToolInvocation",
    "tool-success": "ToolSuccess",
    "tool-failure": "ToolFailure",
    "pre-decision": "PreToolDecision",
    "post-decision": "PostToolDecision",
    "surface-commit": "SurfaceCommit",
    "projection-input": "PromptProjectionInput",
    "prepared-call": "PreparedCall",
    "header-decision": "HeaderDecision",
}


@dataclass(frozen=True)
class _Family:
    """The schemas of one bundle: its definitions, and short names of the entry points."""

    bundle: str
    short_names: Mapping[str, str]


_FAMILIES = {
    "session/v3": _Family("session-v3", _SESSION_NAMES),
    "session/v4": _Family("session-v4", _SESSION_NAMES),
    "wire": _Family("wire", _WIRE_NAMES),
    "prompt": _Family("prompt", _PROMPT_NAMES),
}


ENTRY_POINTS: Mapping[str, str] = {
    name: definition
    for family in _FAMILIES.values()
    for name, definition in family.short_names.items()
}
"""The definitions behind the short names of entry points, which no two families use for different ones."""


@dataclass(frozen=True, slots=True)
class Target:
    """A definition of a bundle: what a schema name stands for."""

    bundle: str
    definition: str

    @property
    def is_wire(self) -> bool:
        """Whether it describes requests or prompts, and not what stands in a log."""
        return self.bundle in ("wire", "prompt")


def schema_names() -> list[str]:
    """Every schema name: of each family the entry points first (`session/v4/event`)."""
    return [
        f"{prefix}/{name}"
        for prefix, family in _FAMILIES.items()
        for name in (*family.short_names, *definitions(family.bundle))
    ]


def schema(name: str) -> Schema:
    """The named schema as one JSON Schema 2020-12 document without outward references.

    The caller owns the result.

    Raises:
        UsageError: `schemas/unknown-name`, no schema has this name.
    """
    target = find(name)
    known = definitions(target.bundle)
    document = {"$schema": DIALECT, "title": target.definition, **known[target.definition]}
    inner = {other: known[other] for other in sorted(reachable(known, document))}
    return copy.deepcopy(document | ({"$defs": inner} if inner else {}))


def find(name: str) -> Target:
    """What a schema name stands for.

    Raises:
        UsageError: `schemas/unknown-name`, no schema has this name; `fix` lists similar names.
    """
    prefix, _, last = name.rpartition("/")
    family = _FAMILIES.get(prefix)
    if family is not None:
        definition = family.short_names.get(last, last)
        if definition in definitions(family.bundle):
            return Target(family.bundle, definition)
    near = difflib.get_close_matches(name, schema_names(), n=_MOST_SUGGESTIONS, cutoff=0.5)
    raise UsageError(
        "schemas/unknown-name",
        f"no schema is called {name[:120]!r}",
        fix=f"Similar names: {', '.join(near)}."
        if near
        else "List the names with `dsh-protocol schema`.",
    )


def definitions(bundle: str) -> Mapping[str, Schema]:
    """Every definition of a bundle by name."""
    document: Schema = dsh_protocol_data.load(f"schemas/{bundle}")
    found: Mapping[str, Schema] = document["$defs"]
    return found


def reachable(known: Mapping[str, Schema], start: Schema) -> set[str]:
    """The definitions among `known` that a schema refers to, directly or not."""
    found: set[str] = set()
    waiting = list(_references(start))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(known[name])
    return found


def reference(schema: Mapping[str, Any]) -> str | None:
    """The definition that a schema refers to, or null."""
    ref = schema.get("$ref")
    return ref.rpartition("/")[2] if isinstance(ref, str) else None


def _references(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        name = reference(value)
        if name is not None:
            yield name
        for child in value.values():
            yield from _references(child)
    elif isinstance(value, list):
        for child in value:
            yield from _references(child)
