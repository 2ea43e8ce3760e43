"""`dsh-protocol types`: which member of an event type is enforced by whom, or the list of all types."""

from __future__ import annotations

from typing import Annotated

import typer

from dsh_protocol.jsonvalue import dumps
from dsh_protocol.reference import LEVELS, EventType, Member, MemberChange, event_type, event_types

from . import _output as output
from .check import Format

_LEVELS = ("append", "restore", "format", "conversion", "owner", "schema")


def types(
    type: Annotated[
        str | None, typer.Argument(metavar="TYPE", help="For example user/message.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How to print it.")] = Format.text,
) -> None:
    """List the event types, or say of one who checks its members."""
    found = [*event_types().values()] if type is None else [event_type(type)]
    if format is Format.json:
        entries = [entry.to_json() for entry in found]
        output.print_json(entries if type is None else entries[0])
    elif type is None:
        _print_list(found)
    else:
        _print_one(found[0])


def _print_list(found: list[EventType]) -> None:
    headings = (
        "type",
        "formats",
        "surface",
        "members of the payload by who looks at them",
        "written",
    )
    output.print_table(headings, [_row(entry) for entry in found])
    output.print_line(f"{len(found)} types; dsh-protocol types TYPE shows the members of one")
    for level, where in LEVELS.items():
        if level in _LEVELS:
            output.print_line(f"  {level:10}  {where}")
    output.print_line("  schema      no release: a bad member is a warning")


def _row(entry: EventType) -> tuple[str, ...]:
    counts = {level: entry.count(level) for level in _LEVELS}
    by = ", ".join(f"{level} {count}" for level, count in counts.items() if count)
    surface = "yes" if entry.surface else "-"
    return entry.type, _listed(entry.formats), surface, by or "-", _releases(entry)


def _print_one(entry: EventType) -> None:
    kind = "on the surface" if entry.surface else "not on the surface"
    output.print_line(f"{entry.type}: {_formats(entry.formats)}, {kind}, {entry.family}")
    if entry.since or entry.until:
        output.print_line(f"  written {_releases(entry)}")
    if entry.note:
        output.print_line(f"  {entry.note}")
    headings = ("member", *(f"format {version}" for version in entry.formats), "what it must be")
    output.print_table(headings, [_member(member, entry) for member in entry.members])
    for change in entry.changes:
        output.print_line(_change(change))


def _member(member: Member, entry: EventType) -> tuple[str, ...]:
    levels = (_levels(member.by.get(version)) for version in entry.formats)
    return (member.path or "(the payload)", *levels, member.must or "-")


def _levels(levels: tuple[str, ...] | None) -> str:
    if levels is None:
        return "(absent)"
    return ", ".join(levels) or "schema only"


def _change(change: MemberChange) -> str:
    value = "" if change.value is None else f" {dumps(change.value)}"
    since = "" if change.since is None else f" since {change.since}"
    return f"{change.path}{value} in {_formats(change.formats)}{since}: {change.note}"


def _releases(entry: EventType) -> str:
    words = [f"since {entry.since}"] if entry.since is not None else []
    words += [f"until {entry.until}"] if entry.until is not None else []
    return ", ".join(words)


def _formats(formats: tuple[int, ...]) -> str:
    return f"format{'s' if len(formats) > 1 else ''} {_listed(formats)}"


def _listed(formats: tuple[int, ...]) -> str:
    return ", ".join(map(str, formats))
