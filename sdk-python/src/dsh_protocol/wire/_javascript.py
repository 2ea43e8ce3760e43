"""What JavaScript makes of JSON values, where official messages and tests depend on it."""

from __future__ import annotations

from typing import Any

from dsh_protocol import jsonvalue


def js_string(value: Any) -> str:
    """A value in a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, list):
        return ",".join("" if item is None else js_string(item) for item in value)
    return jsonvalue.dumps(value)


def is_truthy(value: Any) -> bool:
    """Whether a value counts as true: empty objects and lists do."""
    return isinstance(value, dict | list) or bool(value)


def clipped(text: str, units: int) -> str:
    """The first UTF-16 units of a text."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode(
        "utf-16-le", "surrogatepass"
    )
