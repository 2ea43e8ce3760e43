"""`dsh-protocol fork`: a new session that begins with a part of another one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dsh_protocol.reading import accept, open_session
from dsh_protocol.session import Session

from . import _output as output
from ._writing import save
from .log import LogPath


def fork(
    path: LogPath,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="A new file for the child.")],
    at: Annotated[
        int | None,
        typer.Option("--at", metavar="SEQ", help="The last event to inherit (default all)."),
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The child's id (default a new UUID).")
    ] = None,
) -> None:
    """Fork a session: write a child that inherits the events up to SEQ, this one included, and print its id.

    A turn that is open there is ended in the child, with a result that says so for each open tool call; in format 3
    a fork inside a turn is refused.
    """
    accepted = accept(open_session(path))
    output.note_findings(accepted.warnings)
    child = Session.open(accepted).fork(at, id=id)
    save(out, child.header, child.events)
    output.print_line(child.header.id)
    inherited = output.counted(child.inherited_event_count, "inherited event")
    own = output.counted(len(child.own_events()), "own event")
    output.note(f"{inherited}, {own}; wrote {out}")
