"""`dsh-protocol requests`: every request of a log, or the exact body of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dsh_protocol.findings import ProtocolError, UsageError
from dsh_protocol.jsonvalue import loads
from dsh_protocol.reading import Accepted, accept, open_session
from dsh_protocol.rebuild import request_body
from dsh_protocol.requests import ModelRequest, iter_requests, request_at
from dsh_protocol.wire import DirectoryAttachments

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
        accepted = accept(open_session(path))
        for finding in accepted.warnings:
            output.note(output.finding_line(finding))
        if index is None:
            _print_list(accepted, format)
            return
        body = request_body(
            accepted.log,
            request_at(accepted.log, index, events=accepted.events),
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


def _print_list(accepted: Accepted, format: Format) -> None:
    rows = []
    with output.progress("requests") as tick:
        for request in iter_requests(accepted.log, events=accepted.events):
            rows.append(_row(request))
            tick(request.seq, len(accepted.events))
    if format is Format.json:
        output.print_json(rows)
        return
    from rich.table import Table

    table = Table(*_HEADINGS)
    for row in rows:
        table.add_row(*(output.printable(_cell(row[name])) for name in row if name != "inherited"))
    output.console().print(table)
    own = sum(1 for row in rows if not row["inherited"])
    output.print_line(f"{own} own requests, {len(rows) - own} inherited")


def _row(request: ModelRequest) -> dict[str, Any]:
    return {
        "index": request.index,
        "turn": request.turn,
        "step": request.step,
        "kind": request.kind,
        "seq": request.seq,
        "inherited": request.inherited,
        "headerReason": request.header_reason,
        "messages": len(request.messages),
        "changed": list(request.changed),
    }


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "-" if value is None else str(value)
