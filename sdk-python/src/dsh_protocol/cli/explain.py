"""`dsh-protocol explain`: one rule with its remedy and its examples, or the list of all rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from dsh_protocol.jsonvalue import dumps
from dsh_protocol.reference import Case, Explanation
from dsh_protocol.reference import explain as look_up
from dsh_protocol.rules import rules

from . import _output as output
from .check import Format

_LABEL = 12


def explain(
    rule: Annotated[
        str | None, typer.Argument(metavar="RULE", help="For example surface/range-order.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to print it.")] = Format.text,
) -> None:
    """List the rules, or explain one of them."""
    if rule is None:
        _print_list([look_up(id_) for id_ in rules()], format)
        return
    found = look_up(rule)
    if format is Format.json:
        output.print_json(found.to_json())
        return
    for line in _lines(found):
        output.print_line(line)


def _print_list(found: list[Explanation], format: Format) -> None:
    if format is Format.json:
        members = ("id", "statement", "severity", "formats", "level")
        entries = (explanation.to_json() for explanation in found)
        output.print_json([{name: entry[name] for name in members} for entry in entries])
        return
    width = max(len(explanation.rule.id) for explanation in found)
    for explanation in found:
        output.print_line(f"{explanation.rule.id:{width}}  {explanation.rule.statement}")
    output.print_line(f"{len(found)} rules; dsh-protocol explain RULE shows one")


def _lines(found: Explanation) -> Iterator[str]:
    rule = found.rule
    yield f"{rule.id} ({rule.severity})"
    yield f"  {rule.statement}"
    yield ""
    yield _labelled("remedy", rule.remedy)
    yield _labelled("finding", rule.message)
    yield _labelled("level", f"{rule.level}: {found.level}")
    for reader in found.readers:
        yield _labelled(f"format {reader.format}", reader.text)
        if reader.verdicts:
            yield _labelled("", f"makes false: {', '.join(reader.verdicts)}")
    yield _labelled("source", found.source)
    for label, text in (
        ("divergence", rule.divergence),
        ("deferred", rule.deferred),
        ("supersedes", rule.supersedes),
    ):
        if text is not None:
            yield _labelled(label, text)
    for case, what in ((found.accepts, "kept"), (found.refuses, "broken")):
        if case is not None:
            yield ""
            yield from _case_lines(case, what)
    if found.refuses is None:
        yield ""
        yield "  No example: an input would be too large, or has its examples with the schema of its type."


def _labelled(label: str, text: str) -> str:
    return f"  {label:{_LABEL}}{text}"


def _case_lines(case: Case, what: str) -> Iterator[str]:
    """The title, what is broken and where, and the input; the rows of refused events are marked."""
    yield f"  {what}: {case.title} ({case.id})"
    for rule_id, seq, path in case.places:
        place = "" if seq is None else f" at seq {seq}"
        yield f"    breaks {rule_id}{place} {path}".rstrip()
    refused = {seq for _, seq, _ in case.places}
    for row in case.rows:
        text = row if isinstance(row, str) else dumps(row)
        marked = isinstance(row, dict) and row.get("seq") in refused - {None}
        yield f"  {'>' if marked else ' '} {text}"
    if case.tail:
        yield f"    {dumps(case.tail)} without a line feed"
    if not case.rows:
        yield f"    {case.value['op']} {dumps(case.value['input'])}"
