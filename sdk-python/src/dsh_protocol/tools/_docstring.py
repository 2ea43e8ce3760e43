"""What a docstring says about a function and about its parameters (Google's style)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from itertools import pairwise

_SECTION = re.compile(
    r"(?P<name>Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?):\s*"
)
_PARAMETERS = frozenset({"Args", "Arguments", "Parameters"})
_ENTRY = re.compile(r"\*{0,2}(?P<name>\w+)(?:\s*\([^)]*\))?:\s*(?P<text>.*)")


def read_docstring(docstring: str | None) -> tuple[str, dict[str, str]]:
    """The text before the first section, and what the section `Args` says about each parameter."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    places = [i for i, line in enumerate(lines) if _SECTION.fullmatch(line)]
    places.append(len(lines))
    parameters: dict[str, str] = {}
    for start, end in pairwise(places):
        if lines[start].partition(":")[0] in _PARAMETERS:
            parameters |= _entries(lines[start + 1 : end])
    return "\n".join(lines[: places[0]]).strip(), parameters


def _entries(lines: Iterable[str]) -> dict[str, str]:
    block = inspect.cleandoc("\n" + "\n".join(lines)).splitlines()
    entries: dict[str, str] = {}
    name = ""
    for line in block:
        found = None if line.startswith(" ") else _ENTRY.fullmatch(line)
        if found is not None:
            name = found["name"]
            entries[name] = found["text"]
        elif name and line.strip():
            entries[name] = f"{entries[name]} {line.strip()}".strip()
    return entries
