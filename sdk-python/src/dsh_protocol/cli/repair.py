"""`dsh-protocol repair`: end the turn that a log was interrupted in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dsh_protocol.findings import RefusedError
from dsh_protocol.reading import accept, open_session
from dsh_protocol.rows import Event, Log
from dsh_protocol.session import end_interruption
from dsh_protocol.store import Salvage
from dsh_protocol.store import salvage as valid_beginning

from . import _output as output
from ._writing import save
from .log import LogPath

Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="A new file for the whole log.")
]


def repair(
    path: LogPath,
    out: Out = None,
    salvage: Annotated[
        bool,
        typer.Option("--salvage", help="Of a log that is damaged inside, keep what is valid."),
    ] = False,
) -> None:
    """End the interrupted turn of a log, as the released runtime does before it goes on.

    The added events are printed, one line of JSON each. The log itself stays as it is: --out writes it with them to a
    new file (compressed if its name ends in .zstd), also when there is nothing to add.
    """
    try:
        log = open_session(path)
        events = _salvaged(log) if salvage else _sound(log)
        added = end_interruption(events)
    except RefusedError:
        if not salvage:
            output.note("repair --salvage keeps what is valid before the damage")
        raise
    for event in added:
        output.print_json(event.value)
    sizes = f"{output.counted(len(added), 'event')} to add to {len(events)}"
    if out is None:
        output.note(sizes)
        return
    save(out, log.header, [*events, *added])
    output.note(f"{sizes}; wrote {out}")


def _sound(log: Log) -> Sequence[Event]:
    """The events of a log that the released reader takes; it leaves out a torn or malformed end."""
    accepted = accept(log)
    output.note_findings(accepted.warnings)
    accepted.require_whole()
    found = valid_beginning(log)
    if len(found.events) < len(accepted.events):
        raise RefusedError(f"the log cannot be read: {found.reasons[0].message}", found.reasons)
    return accepted.events


def _salvaged(log: Log) -> Sequence[Event]:
    found = valid_beginning(log)
    for line in _account(found):
        output.note(line)
    return found.events


def _account(found: Salvage) -> list[str]:
    """What a salvage leaves out and why, in lines of text."""
    if found.is_whole:
        return ["nothing was left out"]
    lines = [output.finding_line(reason) for reason in found.reasons]
    left_out = found.left_out
    if left_out.rows:
        types = ", ".join(f"{name} {count}" for name, count in left_out.types.items())
        behind = (
            f"left out {output.counted(left_out.rows, 'row')} behind line {len(found.events) + 1}"
        )
        lines.append(f"{behind}: {types}" if types else behind)
    if left_out.unread_bytes:
        lines.append(f"left out {output.counted(left_out.unread_bytes, 'byte')} at the end")
    return lines
