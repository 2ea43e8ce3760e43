"""`dsh-protocol requests`: every request of a log, or the exact body of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ..findings import ProtocolError, UsageError
from ..jsonvalue import loads
from ..reading import open_session
from ..rebuild import request_body
from ..requests import ModelRequest, iter_requests, request_at
from ..rows import Log
from ..wire import DirectoryAttachments
from . import _output as output
from .check import Format
from .log import LogPath

_HEADINGS = ("index", "turn", "step", "kind", "seq", "header", "messages", "changed")


def requests(
    path: LogPath,
    format: Annotated[Format, typer.Option(help="How to print the list.")] = Format.text,
    index: Annotated[
        int | None, typer.Option(metavar="K", help="Print the body of the K-th own request.")
    ] = None,
    wire: Annotated[
        str | None, typer.Option(help="deepseek-messages or deepseek-chat (default: by format).")
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
    try:
        log = open_session(path)
        if index is None:
            _print_list(log, format)
            return
        body = request_body(
            log,
            request_at(log, index),
            wire=wire,
            route=_overrides(route),
            attachments=None if attachments is None else DirectoryAttachments(attachments),
            with_session_log=with_session_log,
        )
    except ProtocolError as error:
        output.fail(error, path=str(path))
    output.write_bytes(body.encode("utf-8") + b"\n")


def _overrides(text: str | None) -> Mapping[str, Any] | None:
    """The members given with --route.

    Raises:
        UsageError: `requests/route`: the text is not a JSON object.
    """
    if text is None:
        return None
    value = loads(text)
    if not isinstance(value, dict):
        raise UsageError("requests/route", "--route is not a JSON object", fix="Write {...}.")
    return value
