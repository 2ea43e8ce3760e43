"""`dsh-protocol surface` and `dsh-protocol messages`: the state of one log at one point."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dsh_protocol.reading import accept, open_session, replay
from dsh_protocol.state import LogState

from . import _output as output
from .check import Format

At = Annotated[
    int | None,
    typer.Option("--at", metavar="SEQ", help="Only the events before SEQ (default all)."),
]
LogPath = Annotated[Path, typer.Argument(metavar="PATH", help="A log, or the directory of one.")]


def surface(
    path: LogPath,
    at: At = None,
    format: Annotated[Format, typer.Option(help="How to print the surface.")] = Format.text,
) -> None:
    """Print the surface of a log and how it came about."""
    view = _replay(path, at).surface
    if format is Format.json:
        output.print_json(view.to_json())
        return
    rows = [(str(at), str(seq), view.type_of(seq)) for at, seq in enumerate(view.nodes)]
    output.print_table(("position", "seq", "type"), rows)
    output.print_line(
        f"{output.counted(len(view.nodes), 'node')}, replace generation {view.replace_generation}, "
        f"content generation {view.content_generation}"
    )
    for entry in view.replacements:
        output.print_line(
            f"seq {entry.seq} ({entry.type}) replaced {entry.start_seq}..{entry.end_seq}: "
            f"{output.counted(len(entry.shadowed), 'node')}"
        )


def messages(path: LogPath, at: At = None) -> None:
    """Print the messages that the model sees, as JSON."""
    output.print_json(list(_replay(path, at).surface.messages()))


def _replay(path: Path, at: int | None) -> LogState:
    accepted = accept(open_session(path))
    state = accepted.state if at is None else replay(accepted, before=at)
    output.note_findings(accepted.warnings)
    return state
