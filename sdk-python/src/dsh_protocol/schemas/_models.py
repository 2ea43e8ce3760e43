"""The generated model of each named schema, imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import dsh_protocol_data

from ._catalog import Target


@cache
def builder(target: Target) -> Callable[[Any], Any]:
    """A function that makes the model of a value; wire names only, nothing is converted.

    It raises `pydantic.ValidationError` for a value that the model does not take.
    """
    # Generated models cost over a millisecond per class to import.
    from pydantic import TypeAdapter

    modules: dict[str, str] = dsh_protocol_data.load("models")[target.bundle]
    module = import_module(f"dsh_protocol_models.{modules[target.definition]}")
    adapter: TypeAdapter[Any] = TypeAdapter(getattr(module, target.definition))
    return lambda value: adapter.validate_python(value, by_name=False)
