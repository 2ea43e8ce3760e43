"""`dsh-protocol types`: which member of an event type is enforced by whom, or the list of all types."""

from __future__ import annotations

from typing import Annotated

import typer

from dsh_protocol.findings import UsageError
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.reference import LEVELS, EventType, MemberChange, event_type, event_types

from . import _output as output
from .check import Format

_LEVELS = ("append", "restore", "format", "conversion", "owner", "schema")


def types(
    type: Annotated[
        str | None, typer.Argument(metavar="TYPE", help="For example user/message.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to print it.")] = Format.text,
) -> None:
    """Show who refuses a bad member of an event type, per format; or list all types with the number of such members."""
    try:
        found = [*event_types().values()] if type is None else [event_type(type)]
    except UsageError as error:
        output.fail(error)
    if format is Format.json:
        entries = [entry.to_json() for entry in found]
        output.print_json(entries if type is None else entries[0])
    elif type is None:
        _print_list(found)
    else:
        _print_one(found[0])


def _print_list(found: list[EventType]) -> None:
    from rich.table import Table

    table = Table("type", "formats", "surface", "members of the payload by who looks at them", "")
    for entry in found:
        counts = {level: entry.count(level) for level in _LEVELS}
        by = ", ".join(f"{level} {count}" for level, count in counts.items() if count)
        surface = "yes" if entry.surface else "-"
        releases = _releases(entry.since, entry.until)
        table.add_row(entry.type, _listed(entry.formats), surface, by or "-", releases)
    output.console().print(table)
    output.print_line(f"{len(found)} types; dsh-protocol types TYPE shows the members of one")
    for level, where in LEVELS.items():
        if level in _LEVELS:
            output.print_line(f"  {level:10}  {where}")
    output.print_line("  schema      no release: a bad member is a warning")


def _print_one(entry: EventType) -> None:
    from rich.table import Column, Table

    kind = "on the surface" if entry.surface else "not on the surface"
    output.print_line(f"{entry.type}: {_formats(entry.formats)}, {kind}, {entry.family}")
    for text in (_releases(entry.since, entry.until), entry.note):
        if text:
            output.print_line(f"  {text}")
    formats = (f"format {version}" for version in entry.formats)
    table = Table(Column("member", overflow="fold"), *formats, "what it must be")
    for member in entry.members:
        cells = (_levels(member.by.get(version)) for version in entry.formats)
        table.add_row(member.path or "(the payload)", *cells, member.must or "-")
    if entry.members:
        output.console().print(table)
    else:
        output.print_line("  The payload has no members.")
    for change in entry.changes:
        output.print_line(_change(change))


def _levels(levels: tuple[str, ...] | None) -> str:
    if levels is None:
        return "(absent)"
    return ", ".join(levels) or "schema only"


def _change(change: MemberChange) -> str:
    value = "" if change.value is None else f" {dumps(change.value)}"
    since = "" if change.since is None else f" since {change.since}"
    return f"{change.path}{value} in {_formats(change.formats)}{since}: {change.note}"


def _releases(since: str | None, until: str | None) -> str:
    words = [f"since {since}"] if since is not None else []
    words += [f"written until {until}"] if until is not None else []
    return ", ".join(words)


def _formats(formats: tuple[int, ...]) -> str:
    return f"format{'s' if len(formats) > 1 else ''} {_listed(formats)}"


def _listed(formats: tuple[int, ...]) -> str:
    return ", ".join(map(str, formats))
