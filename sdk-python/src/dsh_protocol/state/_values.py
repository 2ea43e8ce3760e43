"""Small questions that many rules ask of a value."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from dsh_protocol.jsonvalue import is_count

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Verify: TypeAlias = "Callable[[Event], None]"
"""Raises `RefusedError` when the data of an event cannot be interpreted."""


def trust(_event: Event) -> None:
    """The `Verify` of events whose data was looked at when they came in."""


def is_text(value: Any) -> TypeGuard[str]:
    """Whether the value is a string that is not empty."""
    return isinstance(value, str) and value != ""


def count(value: Any) -> int | None:
    """The value when it is a count, else null."""
    return value if isinstance(value, int) and is_count(value) else None


def is_positive(value: Any) -> bool:
    """Whether the value is an integer of at least 1."""
    return is_count(value, least=1)


def member(holder: Container[str], name: str, *place: str | int) -> tuple[str | int, ...]:
    """The place of a member, or of the object (at `place`) that lacks it."""
    return (*place, name) if name in holder else place
