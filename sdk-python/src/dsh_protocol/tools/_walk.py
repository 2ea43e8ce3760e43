"""Walks over nested values that do not use Python's call stack: schemas and values come from outside and may nest deeply."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Walk: TypeAlias = Generator["Walk[Any]", Any, T]
"""A step of a walk: it yields the steps below it and is sent what they return."""


def run(step: Walk[T]) -> T:
    """The result of a walk.

    Raises:
        Exception: what a step raised.
    """
    steps: list[Walk[Any]] = [step]
    result: Any = None
    while steps:
        try:
            below = steps[-1].send(result)
        except StopIteration as done:
            steps.pop()
            result = done.value
        else:
            steps.append(below)
            result = None
    returned: T = result
    return returned
