"""`dsh-protocol schema`: the names of all schemas, or one schema."""

from __future__ import annotations

from typing import Annotated

import typer

from dsh_protocol.schemas import schema as load_schema
from dsh_protocol.schemas import schema_names

from . import _output as output


def schema(
    name: Annotated[str | None, typer.Argument(help="For example session/v4/event.")] = None,
) -> None:
    """List the schemas, or print one of them."""
    if name is None:
        for known in schema_names():
            output.print_line(known)
        return
    output.print_json(load_schema(name))
