"""What plugins contribute, and the layer that holds it for one scope."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict, TypeVar

from dsh_protocol.findings import PromptError, RegistrationError
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


def evaluated(what: str, provider: Callable[[AssembleContext], V], context: AssembleContext) -> V:
    """What a provider gives for one assembly. What it raises is passed on, with a note that says `what` provider it was."""
    try:
        value = provider(context)
    except Exception as error:
        error.add_note(f"raised by the {what}")
        raise
    if inspect.iscoroutine(value):
        # Nobody awaits it. It is refused where its value is needed; closed, Python does not complain besides.
        value.close()
    return value


@dataclass(frozen=True, slots=True)
class PlacedProvider:
    """A tool provider, which has no name, and who registered it where."""

    provider: ToolProvider
    place: str

    def evaluate(self, context: AssembleContext) -> Mapping[str, Any]:
        """What it gives for one assembly; what it raises has a note that says which provider it was.

        Raises:
            PromptError: `prompt/tools-result`, that is no object with lists.
        """
        result = evaluated(f"tool provider of {self.place}", self.provider, context)
        if not isinstance(result, Mapping) or "schemas" not in result:
            raise self._refused(f"{type(result).__name__} instead of an object with schemas")
        schemas, known = result["schemas"], result.get("knownNames")
        if not _is_list(schemas, Mapping):
            raise self._refused("schemas that are no list of objects")
        if known is not None and not _is_list(known, str):
            raise self._refused("knownNames that are no list of texts")
        return result

    def _refused(self, what: str) -> PromptError:
        return PromptError(
            "prompt/tools-result",
            f"a tool provider returned {what}",
            fix='Return {"schemas": [...]}, and no coroutine. '
            f"The provider was registered by {self.place}.",
        )


def _is_list(value: object, kind: type) -> bool:
    if isinstance(value, str) or not isinstance(value, Collection):
        return False
    return all(isinstance(entry, kind) for entry in value)


@dataclass(frozen=True, slots=True)
class Contribution:
    """A section or a context as it was registered; only sections are `complete`, only contexts `required`."""

    name: str
    order: float
    text: str | TextProvider
    interpolate: bool | None = None
    complete: bool = False
    required: bool = False

    def evaluate(self, kind: str, context: AssembleContext) -> PromptText:
        """This contribution, a `section` or a `context`, for one assembly."""
        text = self.text
        if callable(text):
            text = evaluated(f"provider of prompt {kind} {self.name!r}", text, context)
        return PromptText(self.name, text, self.interpolate)


class PromptLayer:
    """What is registered for one scope, or for everybody."""

    __slots__ = ("contexts", "providers", "sections", "suppressors", "variables")

    def __init__(self) -> None:
        self.sections: Named[Contribution] = Named()
        self.contexts: Named[Contribution] = Named()
        self.variables: Named[VariableProvider] = Named()
        self.providers: Anonymous[PlacedProvider] = Anonymous()
        self.suppressors: Anonymous[None] = Anonymous()

    def is_empty(self) -> bool:
        """Whether nothing is registered in it."""
        tables = (self.sections, self.contexts, self.variables, self.providers, self.suppressors)
        return all(table.is_empty() for table in tables)


def require_name(kind: str, name: object) -> None:
    """Do nothing when this can be a name.

    Raises:
        RegistrationError: `prompt/name-type`.
    """
    if not isinstance(name, str):
        raise RegistrationError(
            "prompt/name-type",
            f"the name of a prompt {kind} is {type(name).__name__} and no text",
            fix="Give a text, with the name of the plugin in front of it.",
            path="/name",
        )


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
