"""The examples of one folder of `spec/examples`, as a part of a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .markdown import Page, code, plain

_SHOWN = ("minimal", "maximal")


def add_examples(page: Page, folder: Path, level: int = 3) -> None:
    """Show the smallest and the largest value, and list what is refused and why."""
    found = {path.stem: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}
    for name in _SHOWN:
        if name in found:
            page.heading(f"Example: {name}", level=level)
            page.paragraph(_about(found[name]))
            page.json(found[name]["value"])
    refused = [example for example in found.values() if not example["valid"]]
    if refused:
        page.heading("Refused", level=level)
        page.table(("Value", "Keyword", "At"), [_refusal(example) for example in refused])


def _refusal(example: dict[str, Any]) -> tuple[str, str, str]:
    refusal = example["refusal"]
    path = refusal["path"]
    return _about(example), code(refusal["keyword"]), code(path) if path else "the value"


def _about(example: dict[str, Any]) -> str:
    """The sentence about an example, whose words of code stand in ticks already."""
    *pairs, last = example["about"].split("`")
    return "".join(
        code(part) if index % 2 else plain(part) for index, part in enumerate([*pairs, last])
    )
