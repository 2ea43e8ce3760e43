"""`dsh-protocol requests`: every request of a log, or the exact body of one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dsh_protocol.findings import JsonError, UsageError
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
        str | None,
        typer.Option(
            metavar="JSON",
            help="Route members that no log records, such as toolUpdate, or attachmentRoot: "
            "the path of the attachment store as the model was told it.",
        ),
    ] = None,
    attachments: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The attachment store, for requests with images."),
    ] = None,
    with_session_log: Annotated[
        bool, typer.Option("--with-session-log", help="Add the dsh_session_log member.")
    ] = False,
) -> None:
    """List the requests of a log, or print the body of one."""
    if index is None and (wire or route or attachments or with_session_log):
        raise UsageError(
            "requests/needs-index",
            "--wire, --route, --attachments and --with-session-log are about one request",
            fix="Add --index K.",
        )
    overrides = _overrides(route)
    accepted = accept(open_session(path))
    output.note_findings(accepted.warnings)
    if index is None:
        _print_list(accepted, format)
        return
    body = request_body(
        accepted.log,
        request_at(accepted.log, index, events=accepted.events),
        wire=wire,
        route=overrides,
        attachments=None if attachments is None else DirectoryAttachments(attachments),
        with_session_log=with_session_log,
    )
    output.write_bytes(body.encode("utf-8") + b"\n")


def _overrides(text: str | None) -> Mapping[str, Any] | None:
    """The members given with --route.

    Raises:
        UsageError: `requests/route`: the text is not a JSON object.
    """
    if text is None:
        return None
    fix = 'Write a JSON object of Route members, such as {"toolUpdate":"in-history"}.'
    try:
        value = loads(text)
    except JsonError as error:
        message = f"--route is not JSON: {error.message}"
        raise UsageError("requests/route", message, fix=fix) from None
    if not isinstance(value, dict):
        raise UsageError("requests/route", "--route is not a JSON object", fix=fix)
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
    cells = [[_cell(row[name]) for name in row if name != "inherited"] for row in rows]
    output.print_table(_HEADINGS, cells)
    own = sum(1 for row in rows if not row["inherited"])
    output.print_line(f"{output.counted(own, 'own request')}, {len(rows) - own} inherited")


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
