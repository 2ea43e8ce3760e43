"""`dsh-protocol explain`: one rule with its remedy and its examples, or the list of all rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from dsh_protocol.jsonvalue import dumps
from dsh_protocol.reference import Case, Explanation, LoopExplanation, loop_rules
from dsh_protocol.reference import explain as look_up
from dsh_protocol.rules import rules

from . import _output as output
from .check import Format

_LABEL = 12
_LOG_MEMBERS = ("header", "events")


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
    found = loop_rules().get(rule) or look_up(rule)
    if format is Format.json:
        output.print_json(found.to_json())
        return
    lines = _loop_lines(found) if isinstance(found, LoopExplanation) else _lines(found)
    for line in lines:
        output.print_line(line)


def _print_list(found: list[Explanation], format: Format) -> None:
    written = loop_rules().values()
    if format is Format.json:
        members = ("id", "statement", "severity", "formats", "level")
        entries = [explanation.to_json() for explanation in found]
        entries += [{"severity": None, "level": "loop", **each.to_json()} for each in written]
        output.print_json([{name: entry[name] for name in members} for entry in entries])
        return
    listed = [(each.rule.id, each.rule.statement) for each in found]
    listed += [(each.id, each.statement) for each in written]
    width = max(len(rule_id) for rule_id, _ in listed)
    for rule_id, statement in listed:
        output.print_line(f"{rule_id:{width}}  {statement}")
    output.print_line(f"{len(listed)} rules; dsh-protocol explain RULE shows one")


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


def _loop_lines(found: LoopExplanation) -> Iterator[str]:
    yield found.id
    yield f"  {found.statement}"
    yield ""
    yield _labelled("level", "loop: what a loop writes by its own choice; no reader minds")
    yield _labelled("formats", ", ".join(map(str, found.formats)))
    yield _labelled("source", found.source)
    for label, text in (("divergence", found.divergence), ("supersedes", found.supersedes)):
        if text is not None:
            yield _labelled(label, text)
    if found.shown is not None:
        yield ""
        yield from _case_lines(found.shown, "shown")
        yield from _asked_lines(found.shown)


def _asked_lines(case: Case) -> Iterator[str]:
    """What is asked about the log of a case, and the answer."""
    if case.rows:
        given = case.value["input"].items()
        asked = {name: value for name, value in given if name not in _LOG_MEMBERS}
        yield f"    {case.value['op']} {dumps(asked)}"
    yield f"    gives {dumps(case.value['expect'])}"


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
