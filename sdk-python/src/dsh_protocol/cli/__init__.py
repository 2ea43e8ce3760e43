"""The command line: one function per command, no logic of its own.

Exit codes: 0 fine, 1 errors were found, 2 unusable input or arguments.
"""

from __future__ import annotations

import typer

from . import check, fork, log, repair, requests, schema

app = typer.Typer(
    name="dsh-protocol",
    help="Read, check and rebuild DeepSeek Harness session logs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("check")(check.check)
app.command("surface")(log.surface)
app.command("messages")(log.messages)
app.command("requests")(requests.requests)
app.command("repair")(repair.repair)
app.command("fork")(fork.fork)
app.command("schema")(schema.schema)


def main() -> None:
    """Run the command line; the entry point of the `dsh-protocol` script."""
    app()
