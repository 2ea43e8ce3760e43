"""`dsh-protocol ls`: the sessions below a directory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from dsh_protocol.store import (
    Listing,
    SessionDetails,
    StoredSession,
    details_of,
    list_sessions,
)

from . import _output as output
from .check import Format

_HEADINGS = ("id", "format", "bytes", "modified", "header")
_DETAILS = ("events", "last activity", "title", "readable")


def ls(
    root: Annotated[Path, typer.Argument(metavar="ROOT", help="A directory of sessions.")],
    details: Annotated[
        bool, typer.Option("--details", help="Read the logs, too: title, activity, verdict.")
    ] = False,
    format: Annotated[Format, typer.Option(help="How to print the list.")] = Format.text,
) -> None:
    """List the sessions below a directory by their headers; a bad one is a line like the others."""
    listing = list_sessions(root)
    read: Sequence[SessionDetails | None] = [None] * len(listing.sessions)
    if details:
        read = _read(listing.sessions)
    if format is Format.json:
        pairs = zip(listing.sessions, read, strict=True)
        output.print_json([_json(session, more) for session, more in pairs])
        return
    rows = [_row(session, more) for session, more in zip(listing.sessions, read, strict=True)]
    output.print_table((*_HEADINGS, *(_DETAILS if details else ())), rows)
    for line in _summary(listing):
        output.print_line(line)


def _read(sessions: Sequence[StoredSession]) -> list[SessionDetails]:
    found = []
    with output.progress("reading") as tick:
        for session in sessions:
            found.append(details_of(session))
            tick(len(found), len(sessions))
    return found


def _json(session: StoredSession, more: SessionDetails | None) -> dict[str, Any]:
    return session.to_json() | ({} if more is None else more.to_json())


def _row(session: StoredSession, more: SessionDetails | None) -> tuple[str, ...]:
    verdict = session.verdict if session.code is None else f"{session.verdict}: {session.code}"
    cells = (
        "-" if session.id is None else session.id,
        f"{session.version} {session.compression}",
        "-" if session.size is None else str(session.size),
        _moment(session.modified),
        verdict,
    )
    if more is None:
        return cells
    readable = "-" if more.readable is None else "yes" if more.readable else f"no: {more.code}"
    events = "-" if more.events is None else str(more.events)
    return (*cells, events, _moment(more.last_activity), more.title or "-", readable)


def _moment(time: int | None) -> str:
    if time is None:
        return "-"
    try:
        return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(time)


def _summary(listing: Listing) -> list[str]:
    counts = Counter(session.verdict for session in listing.sessions)
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    lines = [output.counted(len(listing.sessions), "session") + (f": {verdicts}" if counts else "")]
    older = len(listing.search.superseded)
    if older:
        lines.append(f"{output.counted(older, 'older generation')} beside them")
    skipped = Counter(skip.reason for skip in listing.search.skipped)
    lines += [f"skipped: {count} {reason}" for reason, count in sorted(skipped.items())]
    return lines
