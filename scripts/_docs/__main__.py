"""`scripts/docs`: write the reference pages from `spec/` into docs/reference, which git ignores."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from dsh_protocol.conformance.cases import Corpus

from . import conformance, events, loop, rules, schemas
from .markdown import Page

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="scripts/docs", description=__doc__)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "reference")
    output: Path = parser.parse_args().output
    written = set()
    for page in pages(ROOT / "spec" / "examples"):
        path = output / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.text, encoding="utf-8")
        written.add(path)
    for path in set(output.rglob("*.md")) - written:
        path.unlink()
    print(f"docs: {len(written)} reference pages")
    return 0


def pages(examples: Path) -> Iterator[Page]:
    """Every page of the reference."""
    yield _index()
    yield from rules.pages()
    yield from loop.pages()
    yield from events.pages(examples)
    yield from schemas.pages(examples)
    yield from conformance.pages(Corpus.open(ROOT / "conformance"))


def _index() -> Page:
    page = Page("index.md", "Reference")
    page.paragraph(
        "Written from `spec/`, the source of truth, each time the site is built. The same facts come from the command line: "
        "`dsh-protocol types`, `explain` and `schema`."
    )
    page.table(
        ("Page", "Says"),
        [
            ("[Events](events/index.md)", "each event type: its schema, examples, who checks what"),
            (
                "[Who checks what](enforcement.md)",
                "every member of every payload, and which released software refuses a bad one",
            ),
            (
                "[Rules](rules/index.md)",
                "what a schema cannot say: each rule with a case that keeps it and one that breaks it",
            ),
            (
                "[What a loop writes](loop.md)",
                "system prompt, runtime context and header: what is due before a request, rule by rule",
            ),
            ("[Schemas](schemas.md)", "headers, rows and requests; every definition by name"),
            (
                "[Conformance cases](conformance.md)",
                "what each case shows, what none can show, and where official software answers otherwise",
            ),
        ],
    )
    return page


if __name__ == "__main__":
    sys.exit(main())
