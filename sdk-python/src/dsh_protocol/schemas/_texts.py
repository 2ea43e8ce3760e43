"""What a finding says. Values come from logs that nobody vouches for: shortened and escaped."""

from __future__ import annotations

from typing import Any

from dsh_protocol.rules import show

from ._leaves import Leaf

_MOST_ALTERNATIVES = 12

_NAMES = {
    "array": "a list",
    "boolean": "a boolean",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


def describe(leaf: Leaf, value: Any) -> str:
    """One line about a refused value."""
    match leaf.keyword:
        case "required" | "dependentRequired":
            return f"member {show(leaf.subject)} is missing"
        case "additionalProperties" | "propertyNames":
            return f"member {show(leaf.subject)} is not declared"
        case "type":
            return f"{_shown(value)} is not {_either(leaf.limit)}"
        case "const":
            return f"{_shown(value)} is not {show(leaf.limit)}, the only value"
        case "enum":
            return f"{_shown(value)} is none of {_listed(leaf.limit)}"
        case "minimum":
            return f"{_shown(value)} is less than {leaf.limit}"
        case "maximum":
            return f"{_shown(value)} is more than {leaf.limit}"
        case "exclusiveMinimum":
            return f"{_shown(value)} is not more than {leaf.limit}"
        case "minLength":
            return "the text is empty" if leaf.limit == 1 else "the text is too short"
        case "maxLength":
            return f"the text is longer than {leaf.limit} characters"
        case "minItems":
            return f"the list has {len(value)} entries, fewer than {leaf.limit}"
        case "maxItems":
            return f"the list has {len(value)} entries, more than {leaf.limit}"
        case "minProperties":
            return f"the object has {len(value)} members, fewer than {leaf.limit}"
        case "uniqueItems":
            return "the list has an entry twice"
        case "pattern":
            return f"{_shown(value)} is not allowed here"
        case other:
            return f"{_shown(value)} breaks {other}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return show(value)


def _either(types: str | list[str]) -> str:
    names = [types] if isinstance(types, str) else types
    return " or ".join(_NAMES[name] for name in names if name != "integer" or "number" not in names)


def _listed(values: list[Any]) -> str:
    shown = ", ".join(show(value) for value in values[:_MOST_ALTERNATIVES])
    more = len(values) - _MOST_ALTERNATIVES
    return shown if more <= 0 else f"{shown} and {more} more"
