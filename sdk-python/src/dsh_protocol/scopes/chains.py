"""Parent links between scope keys, and the chain that follows from them."""

from __future__ import annotations

import weakref
from collections.abc import Callable

from dsh_protocol.findings import ScopeError
from dsh_protocol.rules import code_of, exact, is_active


class _Links:
    """One value for each key, by identity; a link does not keep its key alive where the key can be referred to weakly."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[int, tuple[object, object]] = {}

    def __contains__(self, key: object) -> bool:
        return id(key) in self._entries

    def parent(self, key: object) -> object | None:
        entry = self._entries.get(id(key))
        return None if entry is None else entry[1]

    def link(self, key: object, parent: object) -> None:
        self._entries[id(key)] = (self._hold(key), parent)

    def _hold(self, key: object) -> object:
        """What keeps `id(key)` from being reused while the link stands."""
        number, entries = id(key), self._entries

        def forget(_: object) -> None:
            entries.pop(number, None)

        try:
            return weakref.ref(key, forget)
        except TypeError:
            return key


class Scopes:
    """Which scope inherits from which: each key has at most one parent."""

    __slots__ = ("_links",)

    def __init__(self) -> None:
        self._links = _Links()

    def bind(self, key: object, parent: object) -> ScopeBinding:
        """Make `parent` the parent of `key`; the binding that is returned can link it again.

        Raises:
            ScopeError: `scope/already-bound`, the key has been bound before; `scope/cycle`, the key would become its own
                ancestor.
        """
        if key in self._links and is_active("scope/already-bound"):
            raise _error("scope/already-bound")
        self._link(key, parent)
        return ScopeBinding(lambda other: self._link(key, other))

    def parent(self, key: object) -> object | None:
        """The parent of a key, None for a key that has none."""
        return self._links.parent(key)

    def chain(self, key: object | None) -> tuple[object, ...]:
        """The key and its ancestors, the farthest ancestor first and the key itself last; empty without a key."""
        chain: list[object] = []
        while key is not None:
            chain.append(key)
            key = self._links.parent(key)
        chain.reverse()
        return tuple(chain)

    def _link(self, key: object, parent: object) -> None:
        if any(each is key for each in self.chain(parent)):
            raise _error("scope/cycle")
        self._links.link(key, parent)


class ScopeBinding:
    """The right to link one key to another parent."""

    __slots__ = ("_link",)

    def __init__(self, link: Callable[[object], None]) -> None:
        self._link = link

    def rebind(self, parent: object) -> None:
        """Link the key to another parent.

        Raises:
            ScopeError: `scope/cycle`; the old link stands.
        """
        self._link(parent)


def _error(rule_id: str) -> ScopeError:
    message, fix = exact(rule_id)
    return ScopeError(code_of(rule_id), message, fix=fix)
