"""How plugins contribute to the prompt: one `Contributor` for each owner."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dsh_protocol.rules import Words
from dsh_protocol.scopes import (
    Disposer,
    Layers,
    Named,
    Owner,
    calling_place,
    registration_error,
)

from .contributions import (
    Contribution,
    PlacedProvider,
    PromptLayer,
    TextProvider,
    ToolProvider,
    VariableProvider,
    finite_order,
    require_name,
)
from .interpolation import VARIABLE_NAME

V = TypeVar("V")


class Contributor:
    """Registers contributions for one owner, in the layer of the owner's scope; they go with the owner.

    Each method gives back a disposer, and raises `RegistrationError` when nothing was registered: with the code of the rule, or
    `INACTIVE_EFFECT` through an owner that has been disposed of. A name is unique within its kind and its layer; the same name
    in a nearer layer takes its place there.
    """

    __slots__ = ("_layers", "owner")

    def __init__(self, layers: Layers[PromptLayer], owner: Owner) -> None:
        self._layers = layers
        self.owner = owner

    def of(self, owner: Owner) -> Contributor:
        """A contributor to the same prompt for another owner."""
        return Contributor(self._layers, owner)

    def section(
        self,
        name: str,
        *,
        order: float,
        text: str | TextProvider,
        interpolate: bool | None = None,
        complete: bool = False,
    ) -> Disposer:
        """Add a part of the system prompt; its place is `order`, then the code units of `name`.

        `interpolate=False` keeps references to variables as they are. `complete=True` makes this text the whole prompt; at most
        one section in effect may be complete.

        Raises:
            RegistrationError: `prompt/name-type`, `prompt/order-finite` or `prompt/duplicate-name`.
        """
        require_name("section", name)
        number = finite_order("section", name, order)
        entry = Contribution(name, number, text, interpolate, complete=complete is True)
        return self._named("section", name, entry, lambda layer: layer.sections)

    def context(
        self,
        name: str,
        *,
        order: float,
        text: str | TextProvider,
        interpolate: bool | None = None,
        required: bool = False,
    ) -> Disposer:
        """Add a fact of the moment; the model reads all of them as one snapshot, written again when it has changed.

        An empty text adds nothing. `required=True` lets it survive the suppression of runtime context.

        Raises:
            RegistrationError: `prompt/name-type`, `prompt/order-finite` or `prompt/duplicate-name`.
        """
        require_name("context", name)
        number = finite_order("context", name, order)
        entry = Contribution(name, number, text, interpolate, required=required is True)
        return self._named("context", name, entry, lambda layer: layer.contexts)

    def variable(self, name: str, provider: VariableProvider) -> Disposer:
        """Add a value that texts refer to as `{{name}}`.

        Raises:
            RegistrationError: `prompt/name-type`, `prompt/variable-name` or `prompt/duplicate-name`.
        """
        require_name("variable", name)
        if VARIABLE_NAME.fullmatch(name) is None:
            raise registration_error("prompt/variable-name", path="/name", name=name)
        return self._named("variable", name, provider, lambda layer: layer.variables)

    def tools(self, provider: ToolProvider) -> Disposer:
        """Add a provider of tools. All providers along the chain of scopes take part; none shadows another."""
        placed = PlacedProvider(provider, calling_place(self.owner))
        return self._layers.register(self.owner, lambda layer: layer.providers.append(placed))

    def suppress_runtime_context(self) -> Disposer:
        """Leave out all contexts that are not required, in this scope and below it, as long as this stands."""
        return self._layers.register(self.owner, lambda layer: layer.suppressors.append(None))

    def _named(
        self, kind: str, name: str, value: V, table_of: Callable[[PromptLayer], Named[V]]
    ) -> Disposer:
        place = calling_place(self.owner)

        def insert(layer: PromptLayer) -> Disposer:
            table = table_of(layer)
            if name not in table:
                return table.insert(name, value, place)
            raise registration_error(
                "prompt/duplicate-name",
                path="/name",
                first=table.place(name),
                kind=Words(kind),
                name=name,
            )

        return self._layers.register(self.owner, insert)
