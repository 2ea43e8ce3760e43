"""The files below `spec/examples`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[3] / "spec" / "examples"


@dataclass(frozen=True)
class Example:
    """One example. `place` is its path below `spec/examples`, `schema` the name of its schema."""

    place: str
    schema: str
    about: str
    valid: bool
    value: Any
    refusal: tuple[str, str] | None

    @property
    def family(self) -> str:
        """What it belongs to: `session/v3`, `session/v4` or `wire`."""
        return self.schema.rpartition("/")[0]

    @property
    def folder(self) -> str:
        """The folder it is in, such as `session/v4/turn.start`."""
        return self.place.rpartition("/")[0]


@cache
def examples() -> tuple[Example, ...]:
    """Every example, ordered by place."""
    return tuple(_load(path) for path in example_paths())


def example_paths() -> Iterator[Path]:
    """Every example file, in order."""
    return (p for p in sorted(EXAMPLES.rglob("*.json")) if not p.name.endswith(".schema.json"))


def _load(path: Path) -> Example:
    place = path.relative_to(EXAMPLES).as_posix()
    raw = json.loads(path.read_bytes())
    refusal = raw.get("refusal")
    return Example(
        place=place,
        schema=raw.get("definition", "/".join([*place.split("/")[:2], "event"])),
        about=raw["about"],
        valid=raw["valid"],
        value=raw["value"],
        refusal=(refusal["keyword"], refusal["path"]) if refusal else None,
    )
