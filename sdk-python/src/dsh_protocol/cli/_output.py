"""What the commands share: printing, exit codes, progress. Log content is hostile, so nothing reaches a terminal unescaped."""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec

import typer

from dsh_protocol.findings import Finding, ProtocolError, RefusedError
from dsh_protocol.jsonvalue import dumps

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

Tick = Callable[[int, int], None]
P = ParamSpec("P")

FINE, ERRORS, UNUSABLE = 0, 1, 2

_PROGRESS_AFTER = 1.0
_WIDTH_OF_FILES = 160
_MOST_TABLE_ROWS = 500
"""A longer list is printed as plain lines: a table is laid out as a whole, which takes seconds."""


def printable(text: str) -> str:
    """The text with every character that a terminal could act on written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where it needs one."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def print_line(text: str = "") -> None:
    """One line to standard output, escaped."""
    sys.stdout.write(printable(text) + "\n")


def print_json(value: Any) -> None:
    """One line of JSON to standard output, with what a terminal could act on written as JSON escapes."""
    text = dumps(value)
    if not text.isascii() or "\x7f" in text:
        text = "".join(c if c.isprintable() else _json_escape(c) for c in text)
    write_bytes(text.encode("utf-8") + b"\n")


def _json_escape(char: str) -> str:
    return json.dumps(char)[1:-1] if ord(char) > 0x7F else f"\\u{ord(char):04x}"


def write_bytes(data: bytes) -> None:
    """Bytes to standard output as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def note(text: str) -> None:
    """One line to standard error, escaped."""
    sys.stderr.write(printable(text) + "\n")


def finding_line(finding: Finding) -> str:
    """A finding as one line of text: place, severity, rule, message."""
    place = [f"line {finding.line}"] if finding.line is not None else []
    place += [f"seq {finding.seq}"] if finding.seq is not None else []
    words = [finding.severity, finding.rule, ", ".join(place), finding.path]
    because = f" (because of seq {finding.because})" if finding.because is not None else ""
    return f"{' '.join(filter(None, words))}: {finding.message}{because}"


def note_findings(findings: Iterable[Finding]) -> None:
    """A line to standard error for each finding."""
    for finding in findings:
        note(finding_line(finding))


def fail(error: ProtocolError, *, path: str | None = None) -> NoReturn:
    """Say what is wrong and what to do, and leave: 1 for a log that was read and refused, 2 for unusable input."""
    place = f"{path}: " if path else ""
    note(f"error {error.code}: {place}{error.message}")
    if isinstance(error, RefusedError):
        for finding in error.findings:
            note(f"  {finding_line(finding)}")
            note(f"    {finding.fix}")
        raise typer.Exit(ERRORS)
    if error.fix:
        note(f"  {error.fix}")
    raise typer.Exit(UNUSABLE)


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """A command whose errors are said in words: no input, however bad, ends in a traceback."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        path = kwargs.get("path", kwargs.get("root"))
        try:
            command(*args, **kwargs)
        except ProtocolError as error:
            fail(error, path=str(path) if isinstance(path, Path) else None)

    return run


def run(app: Callable[[], object]) -> None:
    """Run the whole command line on streams that may not take every character, or may be closed or full."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
    except OSError as error:
        _drop_output()
        note(f"error output/failed: cannot write the result: {error.strerror}")
        sys.exit(UNUSABLE)


def _drop_output() -> None:
    """Nobody reads the output any more; without this the interpreter complains when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def print_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table; a very long one as lines with tabs."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if len(cells) > _MOST_TABLE_ROWS:
        for row in (headings, *cells):
            sys.stdout.write("\t".join(row) + "\n")
        return
    from rich.table import Table

    table = Table()
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in cells:
        table.add_row(*row)
    console().print(table)


def console() -> Console:
    """A console for tables on standard output; markup in data is never interpreted."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    width = None if terminal else _WIDTH_OF_FILES
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=not terminal, width=width)


@contextmanager
def progress(what: str) -> Iterator[Tick]:
    """Yields `tick(done, total)`, which shows "n of m" on standard error once the work has taken over a second."""
    meter = _Meter(what)
    try:
        yield meter.tick
    finally:
        meter.stop()


class _Meter:
    """A progress bar that costs nothing (not even its import) while the work is short."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._started = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def tick(self, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() - self._started < _PROGRESS_AFTER:
                return
            self._start(total)
        assert self._bar is not None
        assert self._task is not None
        self._bar.update(self._task, completed=done, total=total)

    def _start(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task(self._what, total=total)
        self._bar.start()

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
