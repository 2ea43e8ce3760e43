"""`dsh-protocol requests`: every request of a log, or the exact body of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..findings import ProtocolError, UsageError
from ..jsonvalue import dump_bytes, loads
from ..reading import open_session
from ..requests import ModelRequest, iter_requests, request_at
from ..wire import WIRES, build_body, directory_store
from . import _output as output
from .check import Format
from .log import LogPath


def requests(
    path: LogPath,
    format: Annotated[Format, typer.Option(help="How to print the list.")] = Format.text,
    index: Annotated[
        int | None, typer.Option(metavar="K", help="Print the body of the K-th own request.")
    ] = None,
    wire: Annotated[
        str | None, typer.Option(help=f"One of {', '.join(WIRES)} (default: by format).")
    ] = None,
    route: Annotated[
        str | None, typer.Option(metavar="JSON", help="Members that override the declared route.")
    ] = None,
    attachments: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The attachment store, for images.")
    ] = None,
    with_session_log: Annotated[
        bool, typer.Option("--with-session-log", help="Add the dsh_session_log member.")
    ] = False,
) -> None:
    """List the requests of a log, one row per settlement, or print the exact body of one."""
    raise NotImplementedError
