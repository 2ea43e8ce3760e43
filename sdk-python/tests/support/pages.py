"""The pages of the documentation, and the blocks of code on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block. `output` is the block of language `text` right behind it, what the code prints."""

    language: str
    text: str
    line: int
    output: str | None


def pages() -> list[Path]:
    """The guide (the reference is generated) and the readme."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in order, outputs attached to what prints them."""
    text = page.read_text(encoding="utf-8")
    found = list(_FENCE.finditer(text))
    assert text.count("\n```") + text.startswith("```") == 2 * len(found), page
    made = []
    for match, after in zip_longest(found, found[1:]):
        if match["language"] == "text":
            continue
        line = text.count("\n", 0, match.start()) + 1
        follows = after is not None and not text[match.end() : after.start()].strip()
        prints = follows and after is not None and after["language"] == "text"
        output = after["text"] if prints and after is not None else None
        made.append(Block(match["language"], match["text"], line, output))
    outputs = sum(block.output is not None for block in made)
    assert outputs == sum(match["language"] == "text" for match in found), page
    return made


def commands(block: Block) -> Iterator[tuple[str, int]]:
    """Each command of a shell block, and the exit code that its comment tells (`# exits with 1`)."""
    for line in block.text.replace("\\\n", " ").splitlines():
        command, _, comment = line.partition("#")
        if command.strip():
            told = re.search(r"exits with (\d)", comment)
            yield command.strip(), int(told[1]) if told else 0


def matches(printed: str, expected: str) -> bool:
    """Whether the text is what a page shows: `...` stands for any text in a line, alone on a line for any lines."""
    lines = (
        r"(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + r"\n"
        for line in expected.rstrip("\n").split("\n")
    )
    return re.fullmatch("".join(lines), printed.rstrip("\n") + "\n") is not None
