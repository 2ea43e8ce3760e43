"""Variations of a JSON value, each with one change, most of them small."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

POOL: tuple[Any, ...] = (
    None,
    True,
    0,
    1,
    2,
    -1,
    1.5,
    2**53,
    "",
    "x",
    "plugin",
    "developer",
    "user",
    "tool-result",
    "tool-addition",
    [],
    {},
    [{}],
    {"type": "text", "text": "x"},
    {"type": "tool-result", "toolCallId": "x", "content": []},
    {"type": "tool-addition", "toolName": "x"},
    {"type": "own", "more": 1},
    {"kind": "plugin", "plugin": "x"},
    {"kind": "own"},
)
"""What takes the place of a value: something of every type, and what rules about messages are about."""


def variations(value: Any) -> Iterator[Any]:
    """The value with one place in it replaced, removed, copied or given a new member: every place, every change."""
    for path in _paths(value):
        for replacement in POOL:
            yield _changed(value, path, lambda holder, step, r=replacement: _put(holder, step, r))
        yield _changed(value, path, _remove)
        yield _changed(value, path, _double)
        if isinstance(_at(value, path), dict):
            yield _changed(value, (*path, "undeclared"), lambda holder, step: _put(holder, step, 1))


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, inner in steps:
        yield (*path, step)
        if isinstance(inner, dict | list):
            yield from _paths(inner, (*path, step))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def _changed(value: Any, path: tuple[Any, ...], change: Any) -> Any:
    changed = copy.deepcopy(value)
    change(_at(changed, path[:-1]), path[-1])
    return changed


def _put(holder: Any, step: Any, value: Any) -> None:
    holder[step] = copy.deepcopy(value)


def _remove(holder: Any, step: Any) -> None:
    del holder[step]


def _double(holder: Any, step: Any) -> None:
    if isinstance(holder, list):
        holder.insert(step, copy.deepcopy(holder[step]))
    elif isinstance(holder[step], str | int) and not isinstance(holder[step], bool):
        holder[step] = holder[step] * 2
