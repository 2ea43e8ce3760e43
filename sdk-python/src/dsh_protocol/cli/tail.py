"""`dsh-protocol tail`: the last events of a log, and those that come."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from dsh_protocol.jsonvalue import dumps, is_count
from dsh_protocol.reading import session_path
from dsh_protocol.rows import Event
from dsh_protocol.store import Batch, LogReader

from . import _output as output
from .check import Format

_WAIT = 0.25
_WIDTH = 160


def tail(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A log, or the directory of one.")],
    last: Annotated[
        int, typer.Option("--last", "-n", min=0, metavar="N", help="Begin with the last N events.")
    ] = 10,
    start: Annotated[
        int | None, typer.Option("--from", min=0, metavar="SEQ", help="Begin with event SEQ.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Wait for more, until interrupted.")
    ] = True,
    format: Annotated[Format, typer.Option(help="How to print the events.")] = Format.text,
) -> None:
    """Print the last events of a log, one line each, and go on as it grows (Ctrl-C ends that)."""
    log = session_path(path)
    try:
        with LogReader(log) as reader:
            for event in _events(reader, last, start, follow=follow):
                if format is Format.json:
                    output.print_json(event.value)
                else:
                    output.print_line(_line(event))
    except KeyboardInterrupt:
        return
    except BrokenPipeError:
        # Whoever read the lines has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _events(reader: LogReader, last: int, start: int | None, *, follow: bool) -> Iterator[Event]:
    yield from _backlog(reader, last) if start is None else _since(reader.read_all(), start)
    torn = reader.size() - reader.end
    if torn and not follow:
        output.note(f"{output.counted(torn, 'byte')} at the end are no complete row yet")
    if follow:
        sys.stdout.flush()
        yield from _since(reader.follow(_wait), start or 0)


def _backlog(reader: LogReader, last: int) -> Iterator[Event]:
    """The last events that are there."""
    reader.skip_to_last(last)
    events: deque[Event] = deque(maxlen=last)
    for batch in reader.read_all():
        _note(batch)
        events.extend(batch.events)
    yield from events


def _since(batches: Iterator[Batch], start: int) -> Iterator[Event]:
    """The events of these batches that have a number from `start` on, or none that counts."""
    for batch in batches:
        _note(batch)
        yield from (e for e in batch.events if not is_count(e.seq) or e.seq >= start)
        sys.stdout.flush()


def _note(batch: Batch) -> None:
    for finding in batch.findings:
        output.note(output.finding_line(finding))


def _wait() -> None:
    time.sleep(_WAIT)


def _line(event: Event) -> str:
    data = dumps(event.data)
    if len(data) > _WIDTH:
        data = data[:_WIDTH] + "..."
    return f"{event.seq} {_moment(event.time)} {event.type} {data}"


def _moment(time: int | None) -> str:
    """Milliseconds since 1970 as a UTC time, if a calendar has it."""
    try:
        moment = datetime.fromtimestamp((time or 0) / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(time)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
