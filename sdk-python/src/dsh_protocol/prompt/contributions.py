"""What plugins contribute, and the layer that holds it for one scope."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict, TypeVar

from dsh_protocol.rules import Words
from dsh_protocol.scopes import Anonymous, Named, registration_error

from .assembly import AssembleContext, PromptText

TextProvider = Callable[[AssembleContext], str]
"""A text for one assembly; synchronous, called once in each."""

VariableProvider = Callable[[AssembleContext], str | None]
"""A value for one assembly; None: the variable has no value in it."""


class ToolProviderResult(TypedDict):
    """The tools of one provider for one assembly.

    `schemas`: the tools that are visible in it, each a mapping with `name`, `description`, `parameters` and perhaps
    `deferLoading`; other members are left out. `knownNames`: the names before restrictions, with which `toolOrder` is checked;
    left out, it is the names of `schemas`.
    """

    schemas: Sequence[Mapping[str, Any]]
    knownNames: NotRequired[Sequence[str]]


ToolProvider = Callable[[AssembleContext], ToolProviderResult | Mapping[str, Any]]
"""The tools for one assembly, in the shape of `ToolProviderResult`; synchronous, called once in each."""


V = TypeVar("V")


def evaluated(
    kind: str, name: str, provider: Callable[[AssembleContext], V], context: AssembleContext
) -> V:
    """What a provider gives for one assembly. What it raises is passed on, with a note that names the contribution."""
    try:
        return provider(context)
    except Exception as error:
        error.add_note(f"raised by the provider of prompt {kind} {name!r}")
        raise


@dataclass(frozen=True, slots=True)
class Contribution:
    """A section or a context as it was registered; only sections are `complete`, only contexts `required`."""

    name: str
    order: float
    text: str | TextProvider
    interpolate: bool | None = None
    complete: bool = False
    required: bool = False

    def evaluate(self, context: AssembleContext) -> PromptText:
        """This contribution for one assembly."""
        text = self.text
        if callable(text):
            text = evaluated("text", self.name, text, context)
        return PromptText(self.name, text, self.interpolate)


class PromptLayer:
    """What is registered for one scope, or for everybody."""

    __slots__ = ("contexts", "providers", "sections", "suppressors", "variables")

    def __init__(self) -> None:
        self.sections: Named[Contribution] = Named()
        self.contexts: Named[Contribution] = Named()
        self.variables: Named[VariableProvider] = Named()
        self.providers: Anonymous[ToolProvider] = Anonymous()
        self.suppressors: Anonymous[None] = Anonymous()

    def is_empty(self) -> bool:
        """Whether nothing is registered in it."""
        tables = (self.sections, self.contexts, self.variables, self.providers, self.suppressors)
        return all(table.is_empty() for table in tables)


def finite_order(kind: str, name: str, order: object) -> float:
    """The order of a contribution as the double that it is compared by.

    Raises:
        RegistrationError: `prompt/order-finite`.
    """
    if isinstance(order, int | float) and not isinstance(order, bool):
        try:
            number = float(order)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise registration_error("prompt/order-finite", path="/order", kind=Words(kind), name=name)
