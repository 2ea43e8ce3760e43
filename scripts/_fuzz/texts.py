"""Small changes to the text of a log: torn ends, foreign bytes, other forms of the same values."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from .writer import Json, Log

_NUMBERS = (
    "-0",
    "0.0",
    "1.0",
    "1e0",
    "10e-1",
    "1E400",
    "-1e400",
    "12345678901234567890",
    "01",
    "+1",
    ".5",
    "1.",
    "NaN",
)
_PIECES = (
    " ",
    "\t",
    "\r",
    "\n",
    "\u00a0",
    "\ufeff",
    "\u0000",
    "\u2028",
    "\\u0000",
    '"',
    "{",
    "}",
    ",",
    "[]",
    "null",
    "//",
    "\\",
)
_NUMBER = re.compile(r"(?<=[:,\[])-?\d+(?=[,\]}])")


@dataclass
class Text:
    """A log as text: whole lines, and what stands behind the last line feed."""

    lines: list[str]
    tail: str = ""

    def given(self) -> Json:
        """The input of an op."""
        return {"lines": self.lines, **({"tail": self.tail} if self.tail else {})}


def text_of(log: Log) -> Text:
    """The log as it would be stored."""
    rows = (
        json.dumps(row, separators=(",", ":"), ensure_ascii=False)
        for row in (log.header, *log.events)
    )
    return Text([row.encode("utf-8", "replace").decode() for row in rows])


def mutate_text(rng: random.Random, text: Text) -> str:
    """Change a text in place; what was done."""
    change = rng.choice(_CHANGES)
    if text.lines:
        change(rng, text)
    return change.__name__[1:]


def _torn(rng: random.Random, text: Text) -> None:
    last = text.lines.pop()
    text.tail = last[: rng.randrange(len(last) + 1)]


def _line(rng: random.Random, text: Text) -> None:
    text.lines.insert(
        rng.randrange(len(text.lines) + 1),
        rng.choice(("", " ", "\r", "null", "1", "[]", "{}", "x")),
    )


def _piece(rng: random.Random, text: Text) -> None:
    at, line = _chosen(rng, text)
    place = rng.randrange(len(line) + 1)
    text.lines[at : at + 1] = (line[:place] + rng.choice(_PIECES) + line[place:]).split("\n")


def _cut(rng: random.Random, text: Text) -> None:
    at, line = _chosen(rng, text)
    place = rng.randrange(len(line) + 1)
    text.lines[at] = line[:place] + line[place + rng.randint(1, 3) :]


def _number(rng: random.Random, text: Text) -> None:
    at, line = _chosen(rng, text)
    places = list(_NUMBER.finditer(line))
    if places:
        place = rng.choice(places)
        text.lines[at] = line[: place.start()] + rng.choice(_NUMBERS) + line[place.end() :]


def _repeated_member(rng: random.Random, text: Text) -> None:
    at, line = _chosen(rng, text)
    member = rng.choice(
        ('"type":"x"', '"seq":0', '"time":1', '"data":{}', '"__proto__":{}', '"1":2')
    )
    if line.startswith("{"):
        text.lines[at] = (
            "{" + member + "," + line[1:] if rng.random() < 0.5 else line[:-1] + "," + member + "}"
        )


def _spaced(rng: random.Random, text: Text) -> None:
    at, line = _chosen(rng, text)
    text.lines[at] = rng.choice(" \t") + line + rng.choice((" ", "\r", "  "))


def _swapped(rng: random.Random, text: Text) -> None:
    one, other = (rng.randrange(len(text.lines)) for _ in range(2))
    text.lines[one], text.lines[other] = text.lines[other], text.lines[one]


def _chosen(rng: random.Random, text: Text) -> tuple[int, str]:
    at = rng.randrange(len(text.lines))
    return at, text.lines[at]


_CHANGES: tuple[Callable[[random.Random, Text], None], ...] = (
    _torn,
    _line,
    _piece,
    _piece,
    _cut,
    _number,
    _number,
    _repeated_member,
    _spaced,
    _swapped,
)
