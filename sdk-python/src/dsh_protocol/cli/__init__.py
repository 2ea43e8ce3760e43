"""The command line: one function per command, no logic of its own.

Exit codes: 0 fine, 1 errors were found, 2 unusable input or arguments.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from . import _output as output

_COMMANDS: Mapping[str, str] = {
    "check": "check",
    "surface": "log",
    "messages": "log",
    "requests": "requests",
    "run": "run",
    "repair": "repair",
    "fork": "fork",
    "tail": "tail",
    "ls": "ls",
    "schema": "schema",
    "types": "types",
    "explain": "explain",
    "conformance": "conformance",
}
"""The module that each command is in."""


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """The command line as far as these arguments need it: one command, of which only the module is imported, or all."""
    named = arguments[0] if arguments else ""
    made = typer.Typer(
        name="dsh-protocol",
        help=_options.__doc__,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    made.callback()(_options)
    for name in (named,) if named in _COMMANDS else _COMMANDS:
        module = import_module(f".{_COMMANDS[name]}", __name__)
        if name == "conformance":
            made.add_typer(module.app, name=name)
        else:
            made.command(name)(output.guarded(getattr(module, name)))
    return made


def _print_version(wanted: bool) -> None:
    if wanted:
        # Imported late: most commands print no version.
        from importlib import metadata

        output.print_line(f"dsh-protocol {metadata.version('dsh-protocol')}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Read, check, rebuild, repair, fork, follow, list and write DeepSeek Harness session logs."""


def __getattr__(name: str) -> Any:
    """The whole command line as `app`, made when it is asked for."""
    if name == "app":
        return app_for(())
    raise AttributeError(name)


def main() -> None:
    """Run the command line; the entry point of the `dsh-protocol` script."""
    # Modules stay to the end, when all goes with the process: nobody has to look through them for cycles, which costs
    # more than to check a small log.
    gc.disable()
    app = app_for(sys.argv[1:])
    gc.enable()
    try:
        output.run(app)
    finally:
        gc.freeze()
