"""What the conformance cases show, and where official software answers otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from dsh_protocol.conformance.cases import Corpus
from dsh_protocol.conformance.known import KnownFailures
from dsh_protocol.conformance.trace import Item, trace
from dsh_protocol.rules import rules

from .markdown import Page, code, plain

_RIGHT = {
    "case": "the case: the implementation differs from what is right",
    "implementation": "the implementation: the case is to be changed",
    "both": "both: they are for different things",
    "undecided": "not decided",
}


def pages(corpus: Corpus) -> Iterator[Page]:
    """The one page."""
    page = Page("conformance.md", "Conformance cases")
    _suites(page, corpus)
    _differences(page, corpus)
    _divergences(page)
    _trace(page, corpus)
    yield page


def _suites(page: Page, corpus: Corpus) -> None:
    page.paragraph(
        f"{len(corpus.cases)} cases in {len(corpus.suites)} suites. `conformance/README.md` says what a case means, and how "
        "an implementation in any language is asked."
    )
    page.heading("Suites")
    page.table(("Suite", "Cases", "Ops"), [_suite(corpus, name) for name in corpus.suites])


def _suite(corpus: Corpus, name: str) -> tuple[str, str, str]:
    cases = corpus.suites[name].cases
    ops = Counter(case.op for case in cases)
    return (
        code(name),
        str(len(cases)),
        ", ".join(f"{code(op)} {n}" for op, n in sorted(ops.items())),
    )


def _differences(page: Page, corpus: Corpus) -> None:
    page.heading("Where official software answers otherwise")
    page.paragraph(
        "Every case on which an official release differs has a reason beside its adapter. An entry that no longer differs "
        "fails the run."
    )
    for path in sorted((corpus.root / "adapters").glob("*/known-failures.json")):
        failures = KnownFailures.read(path, corpus.root)
        by_reason = Counter(reason.id for reason in failures.cases.values())
        page.heading(path.parent.name, level=3)
        page.table(
            ("Cases", "What it does instead", "Who is right", "Rule"),
            [
                (
                    str(by_reason[reason.id]),
                    plain(reason.text),
                    _RIGHT[reason.right],
                    _rule(reason.rule) if reason.rule else "",
                )
                for reason in failures.reasons.values()
            ],
        )


def _divergences(page: Page) -> None:
    page.heading("Rules that some release does not keep")
    page.table(
        ("Rule", "Divergence"),
        [
            (_rule(entry.id), plain(entry.divergence))
            for entry in sorted(rules().values(), key=lambda entry: entry.id)
            if entry.divergence is not None
        ],
    )


def _trace(page: Page, corpus: Corpus) -> None:
    traced = trace(corpus)
    untestable = [item for item in traced.items if item.missing]
    page.heading("What no case can show")
    page.table(
        ("What", "Formats", "Why"),
        [
            (code(id_), _formats(items), plain(why))
            for (id_, why), items in groupby(untestable, key=lambda i: (i.id, i.untestable))
        ],
    )
    page.heading("What each case shows")
    page.paragraph(
        "Per rule and event type: how many cases keep it, how many break it, and the first of them."
    )
    page.table(
        ("What", "Format", "Kept", "Broken", "For example"),
        [_row(item) for item in traced.items if not item.says],
    )
    page.heading("Decision tables")
    page.paragraph(
        "Rows of the tables that say how a prompt is put together and what a loop writes, and the rules of the loop: "
        "how many cases show each, and the first of them."
    )
    page.table(
        ("Row", "Says", "Format", "Cases", "For example"),
        [_decision(item) for item in traced.items if item.says],
    )


def _formats(items: Iterable[Item]) -> str:
    return ", ".join(str(item.format) for item in items if item.format is not None)


def _row(item: Item) -> tuple[str, str, str, str, str]:
    kind, _, name = item.id.partition(":")
    what = _rule(name) if kind == "rule" else code(item.id)
    shown = (*item.accepting[:1], *item.refusing[:1])
    broken = str(len(item.refusing)) if kind == "rule" else ""
    version = "" if item.format is None else str(item.format)
    return what, version, str(len(item.accepting)), broken, ", ".join(map(code, shown))


def _decision(item: Item) -> tuple[str, str, str, str, str]:
    version = "" if item.format is None else str(item.format)
    shown = ", ".join(map(code, item.accepting[:1]))
    return code(item.id), plain(item.says), version, str(len(item.accepting)), shown


def _rule(rule_id: str) -> str:
    area, _, name = rule_id.partition("/")
    return f"[{rule_id}](rules/{area}.md#{name})"
