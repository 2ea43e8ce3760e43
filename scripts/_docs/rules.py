"""The rules: a page for each area, a section for each rule."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from dsh_protocol.jsonvalue import dumps
from dsh_protocol.reference import Case, Explanation, ReaderEffect, explain
from dsh_protocol.rules import rules

from .markdown import Page, code, plain


def pages() -> Iterator[Page]:
    """The list of rules, and the pages of their areas."""
    found = [explain(rule_id) for rule_id in sorted(rules())]
    index = Page("rules/index.md", "Rules")
    index.paragraph(
        "What a schema cannot say. An error is what released software refuses somewhere; a warning is not. "
        "`dsh-protocol check` prints these ids, and they never change."
    )
    for area, group in groupby(found, key=_area):
        members = list(group)
        index.heading(area)
        index.table(("Rule", "Says", "Formats"), [_line(area, entry) for entry in members])
        yield _page(area, members)
    yield index


def _area(found: Explanation) -> str:
    return found.rule.id.partition("/")[0]


def _line(area: str, found: Explanation) -> tuple[str, str, str]:
    name = found.rule.id.partition("/")[2]
    link = f"[{found.rule.id}]({area}.md#{name})"
    return link, plain(found.rule.statement), _formats(found)


def _formats(found: Explanation) -> str:
    return ", ".join(str(reader.format) for reader in found.readers)


def _page(area: str, members: list[Explanation]) -> Page:
    page = Page(f"rules/{area}.md", f"Rules: {area}")
    for found in members:
        _section(page, found)
    return page


def _section(page: Page, found: Explanation) -> None:
    rule = found.rule
    page.heading(rule.id, anchor=rule.id.partition("/")[2])
    page.paragraph(plain(rule.statement))
    items = [
        f"**Severity**: {rule.severity}, formats {_formats(found)}",
        f"**Finding**: {code(rule.message)}",
        f"**Remedy**: {plain(rule.remedy)}",
        f"**Enforced by**: {plain(found.level)} ({rule.level})",
        *map(_reader, found.readers),
        f"**Source**: {plain(found.source)}",
    ]
    for label, text in (
        ("Divergence", rule.divergence),
        ("Deferred", rule.deferred),
        ("Supersedes", rule.supersedes),
    ):
        if text is not None:
            items.append(f"**{label}**: {plain(text)}")
    page.bullets(items)
    for case, what in ((found.accepts, "Kept"), (found.refuses, "Broken")):
        if case is not None:
            _case(page, case, what)


def _reader(reader: ReaderEffect) -> str:
    text = f"**Format {reader.format}**: {plain(reader.text)}"
    if not reader.verdicts:
        return text
    return f"{text}; makes false: {', '.join(map(code, reader.verdicts))}"


def _case(page: Page, case: Case, what: str) -> None:
    page.paragraph(f"{what}: {plain(case.title)} ({code(case.id)})")
    if case.rows:
        rows = (row if isinstance(row, str) else dumps(row) for row in case.rows)
        page.block("text", "\n".join(map(_visible, rows)))
        if case.tail:
            page.paragraph(f"Then {code(dumps(case.tail))} without a line feed.")
    else:
        page.block("text", f"{case.value['op']} {dumps(case.value['input'])}")
    for rule_id, seq, path in case.places:
        where = "" if seq is None else f" at seq {seq}"
        page.paragraph(f"Breaks {code(rule_id)}{where} {code(path) if path else ''}".rstrip())


def _visible(row: str) -> str:
    """A row of a log on one line, whatever it holds."""
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in row)
