"""The command line: one function per command, no logic of its own.

Exit codes: 0 fine, 1 errors were found, 2 unusable input or arguments.
"""

from __future__ import annotations

from importlib import metadata
from typing import Annotated

import typer

from . import _output as output
from . import (
    check,
    conformance,
    explain,
    fork,
    log,
    ls,
    repair,
    requests,
    run,
    schema,
    tail,
    types,
)

app = typer.Typer(
    name="dsh-protocol",
    help="Read, check, rebuild, repair, fork, follow, list and write DeepSeek Harness session logs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    check.check,
    log.surface,
    log.messages,
    requests.requests,
    run.run,
    repair.repair,
    fork.fork,
    tail.tail,
    ls.ls,
    schema.schema,
    types.types,
    explain.explain,
):
    app.command(command.__name__)(output.guarded(command))
app.add_typer(conformance.app, name="conformance")


def _print_version(wanted: bool) -> None:
    if wanted:
        output.print_line(f"dsh-protocol {metadata.version('dsh-protocol')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Read, check, rebuild, repair, fork, follow, list and write DeepSeek Harness session logs."""


def main() -> None:
    """Run the command line; the entry point of the `dsh-protocol` script."""
    output.run(app)
