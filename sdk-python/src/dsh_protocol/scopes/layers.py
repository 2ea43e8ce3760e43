"""Layers of registrations: one for everybody, and one for each scope that has registered something."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

from .chains import Scopes
from .owners import Disposer, Owner

V = TypeVar("V")


class Layer(Protocol):
    """What a layer has to say about itself."""

    def is_empty(self) -> bool:
        """Whether nothing is registered in it."""
        ...


L = TypeVar("L", bound=Layer)


class _Entry(NamedTuple, Generic[V]):
    ordinal: int
    value: V


class Anonymous(Generic[V]):
    """Values without names, in the order of their registration.

    Iteration is live: it goes on to what is registered meanwhile and passes over what is removed meanwhile. An iteration ends
    where the table becomes empty under it, also when something is registered afterwards.
    """

    __slots__ = ("_entries", "_era", "_next")

    def __init__(self) -> None:
        self._entries: list[_Entry[V]] = []
        self._next = 0
        self._era = 0

    def append(self, value: V) -> Disposer:
        """Add a value; the disposer removes exactly this one."""
        entry = _Entry(self._next, value)
        self._next += 1
        self._entries.append(entry)
        return lambda: self._remove(entry.ordinal)

    def is_empty(self) -> bool:
        """Whether nothing is registered."""
        return not self._entries

    def __iter__(self) -> Iterator[V]:
        era, last = self._era, -1
        while self._era == era:
            index = bisect_right(self._entries, last, key=_ordinal)
            if index == len(self._entries):
                return
            last, value = self._entries[index]
            yield value

    def _remove(self, ordinal: int) -> None:
        index = bisect_right(self._entries, ordinal - 1, key=_ordinal)
        if index == len(self._entries) or self._entries[index].ordinal != ordinal:
            return
        del self._entries[index]
        if not self._entries:
            self._era += 1


def _ordinal(entry: _Entry[V]) -> int:
    return entry.ordinal


class Named(Generic[V]):
    """Values with names that are unique in one layer, in the order of their registration, live as in `Anonymous`."""

    __slots__ = ("_places", "_table")

    def __init__(self) -> None:
        self._table: Anonymous[tuple[str, V]] = Anonymous()
        self._places: dict[str, tuple[V, str]] = {}

    def insert(self, name: str, value: V, place: str = "") -> Disposer:
        """Add a value; the name must not be taken (ask `in` first). `place` says who registers it and where."""
        remove = self._table.append((name, value))
        entry = (value, place)
        self._places[name] = entry

        def undo() -> None:
            remove()
            if self._places.get(name) is entry:
                del self._places[name]

        return undo

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def place(self, name: str) -> str:
        """Who registered this name, and where.

        Raises:
            KeyError: the name is not registered.
        """
        return self._places[name][1]

    def get(self, name: str) -> V | None:
        """The value of this name, None where it is not registered."""
        entry = self._places.get(name)
        return None if entry is None else entry[0]

    def items(self) -> Iterator[tuple[str, V]]:
        """Names and values, live."""
        return iter(self._table)

    def is_empty(self) -> bool:
        """Whether nothing is registered."""
        return self._table.is_empty()


class Layers(Generic[L]):
    """The global layer and the layers of scopes.

    A scope's layer is created by the first registration and removed with the last one. `changed` is called after every
    registration and every removal.
    """

    __slots__ = ("_changed", "_create", "_scoped", "common", "scopes")

    def __init__(
        self, scopes: Scopes, create: Callable[[], L], changed: Callable[[], None]
    ) -> None:
        self.scopes = scopes
        self.common = create()
        """The global layer: it always exists."""
        self._create = create
        self._changed = changed
        self._scoped: dict[int, tuple[object, L]] = {}

    def of(self, scope: object | None) -> L | None:
        """The layer of exactly this scope, None where it has none; the global layer for no scope."""
        if scope is None:
            return self.common
        entry = self._scoped.get(id(scope))
        return None if entry is None else entry[1]

    def inherited(self, scope: object | None) -> list[L]:
        """The layers that exist along the chain of a scope, without the global one: the farthest ancestor first."""
        layers = (self._scoped.get(id(key)) for key in self.scopes.chain(scope))
        return [entry[1] for entry in layers if entry is not None]

    def visible(self, scope: object | None) -> list[L]:
        """The global layer, then those of `inherited`."""
        return [self.common, *self.inherited(scope)]

    def merge(self, scope: object | None, pick: Callable[[L], Named[V]]) -> dict[str, V]:
        """The named values that a scope sees: the nearest one of each name, at the place of the farthest one."""
        return {name: value for layer in self.visible(scope) for name, value in pick(layer).items()}

    def register(self, owner: Owner, insert: Callable[[L], Disposer]) -> Disposer:
        """Register through an owner, into the layer of its scope; the registration goes with the owner.

        `insert` changes the layer and gives back how to undo that; when it raises, nothing has been registered.
        When `changed` raises, the registration is undone (and `changed` is called again).

        Raises:
            RegistrationError: code `INACTIVE_EFFECT`, the owner has been disposed of.
            Exception: what `insert` or `changed` raised.
        """
        owner.require_active()
        layer = self._layer(owner.scope)
        try:
            undo = insert(layer)
        except BaseException:
            self._drop_empty(owner.scope, layer)
            raise

        def remove() -> None:
            undo()
            self._drop_empty(owner.scope, layer)
            self._changed()

        dispose = owner.effect(remove)
        try:
            self._changed()
        except BaseException:
            dispose()
            raise
        return dispose

    def _layer(self, scope: object | None) -> L:
        found = self.of(scope)
        if found is not None:
            return found
        layer = self._create()
        self._scoped[id(scope)] = (scope, layer)
        return layer

    def _drop_empty(self, scope: object | None, layer: L) -> None:
        if scope is not None and layer.is_empty() and self.of(scope) is layer:
            del self._scoped[id(scope)]
