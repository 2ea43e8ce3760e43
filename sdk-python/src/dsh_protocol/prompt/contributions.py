"""What plugins contribute, and the layer that holds it for one scope."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from dsh_protocol.findings import RegistrationError
from dsh_protocol.rules import Words, code_of, refuse
from dsh_protocol.scopes import Anonymous, Named

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
        text = self.text(context) if callable(self.text) else self.text
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


def registration_error(
    rule_id: str, *, path: str, first: str = "", **params: Any
) -> RegistrationError:
    """The error that says a registration breaks a rule."""
    finding = refuse(rule_id, path=path, **params)
    return RegistrationError(
        code_of(rule_id), finding.message, fix=finding.fix, path=path, first=first
    )
