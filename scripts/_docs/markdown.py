"""Markdown, piece by piece. Texts of the specification are put in as they are; values are escaped."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from typing import Any


class Page:
    """One page; `path` is below docs/reference, with forward slashes."""

    def __init__(self, path: str, title: str) -> None:
        self.path = path
        self._parts = [f"# {title}"]

    @property
    def text(self) -> str:
        """The page as Markdown."""
        return "\n\n".join(self._parts) + "\n"

    def heading(self, text: str, *, level: int = 2, anchor: str = "") -> None:
        """A heading; `anchor` is what a link to it ends in."""
        ending = f" {{ #{anchor} }}" if anchor else ""
        self._parts.append(f"{'#' * level} {text}{ending}")

    def paragraph(self, text: str) -> None:
        """A paragraph of Markdown."""
        self._parts.append(text)

    def bullets(self, items: Iterable[str]) -> None:
        """A list, one Markdown line each."""
        self._parts.append("\n".join(f"- {item}" for item in items))

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table of Markdown cells."""
        lines = [_row(head), _row(["---"] * len(head)), *map(_row, rows)]
        self._parts.append("\n".join(lines))

    def json(self, value: Any) -> None:
        """A value as an indented block of JSON."""
        self.block("json", json.dumps(value, indent=2, ensure_ascii=False))

    def block(self, language: str, text: str) -> None:
        """A block of code (four ticks, because a text may hold three)."""
        self._parts.append(f"````{language}\n{text}\n````")


def code(text: str) -> str:
    """A word of code, safe in a table."""
    return f"<code>{html.escape(text, quote=False).replace('|', '&#124;')}</code>"


def plain(text: str) -> str:
    """A sentence of the specification, safe in a table and outside of one."""
    return html.escape(text, quote=False).replace("|", "&#124;").replace("*", "&#42;")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
