"""Events between plugins: who listens, and which listeners one dispatch reaches."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from .chains import Scopes
from .owners import Disposer, Owner

V = TypeVar("V")

Next: TypeAlias = Callable[[], Awaitable[V]]
"""Runs the listeners further in and gives their value."""

Listener: TypeAlias = Callable[[V, Any, Next[V]], Awaitable[V] | V]
"""One participant of a waterfall: `(value, context, next)`; what it returns counts."""

ChangeListener: TypeAlias = Callable[..., object]
"""A listener of a plain event; what it returns does not matter."""


Check: TypeAlias = Callable[[Callable[..., Any], Any], V]
"""Gets a listener and what it gave, and gives that back or raises."""


@dataclass(frozen=True, slots=True, eq=False)
class _Registration:
    listener: Callable[..., Any]
    scope: object | None
    everywhere: bool


class Events:
    """Listeners by event name."""

    __slots__ = ("_listeners", "scopes")

    def __init__(self, scopes: Scopes | None = None) -> None:
        self.scopes = Scopes() if scopes is None else scopes
        self._listeners: dict[str, deque[_Registration]] = {}

    def on(
        self,
        event: str,
        listener: Callable[..., Any],
        owner: Owner,
        *,
        prepend: bool = False,
        is_global: bool = False,
    ) -> Disposer:
        """Call `listener` at this event, as long as the owner is there.

        `prepend` puts it in front of all listeners that are there now. The listener of an owner with a scope takes part in
        what happens in that scope and below it; with `is_global` it always takes part, as one without a scope does.

        Raises:
            RegistrationError: code `INACTIVE_EFFECT`, the owner has been disposed of.
        """
        owner.require_active()
        listeners = self._listeners.setdefault(event, deque())
        entry = _Registration(listener, owner.scope, is_global)
        if prepend:
            listeners.appendleft(entry)
        else:
            listeners.append(entry)
        return owner.effect(lambda: listeners.remove(entry))

    def emit(self, event: str, *arguments: object) -> None:
        """Call every listener of an event, whatever its scope. What a listener raises ends the call and reaches the caller."""
        for entry in tuple(self._listeners.get(event, ())):
            entry.listener(*arguments)

    async def waterfall(
        self,
        event: str,
        value: V,
        context: object,
        scope: object | None = None,
        check: Check[V] | None = None,
    ) -> V:
        """Pass a value through the listeners that `scope` reaches and give back what the outermost one returns.

        Each listener gets `(value, context, next)`, and `next()` runs the ones behind it; the innermost `next()` gives the
        value that was passed in. The listeners are those that are registered now. A listener that does not call `next()`
        ends the chain; one that calls it twice runs what is left of it. What a listener raises reaches the caller as it is.
        `check(listener, result)` gets what each listener gave before anybody else does, and gives it on.
        """
        return await self.around(event, (value, context), lambda: value, scope, check)

    async def around(
        self,
        event: str,
        arguments: tuple[object, ...],
        innermost: Callable[[], Awaitable[V] | V],
        scope: object | None = None,
        check: Check[V] | None = None,
    ) -> V:
        """Run `innermost` inside the listeners that `scope` reaches and give back what the outermost one returns.

        The general form of `waterfall`: each listener gets `(*arguments, next)`. A listener may return what `next()` gave
        without awaiting it.
        """
        waiting = deque(self.heard(event, scope))

        def further() -> Awaitable[V]:
            if not waiting:
                return _Settled(innermost(), _as_it_is)
            listener = waiting.popleft()
            accept = _as_it_is if check is None else partial(check, listener)
            return _Settled(listener(*arguments, further), accept)

        return await further()

    def heard(self, event: str, scope: object | None = None) -> list[Callable[..., Any]]:
        """The listeners that something in this scope reaches: its own, those of its ancestors, and those without a scope."""
        reached = self.scopes.chain(scope)
        entries = self._listeners.get(event, ())
        return [entry.listener for entry in entries if _hears(entry, reached)]


def _hears(entry: _Registration, reached: tuple[object, ...]) -> bool:
    if entry.scope is None or entry.everywhere:
        return True
    return any(key is entry.scope for key in reached)


class _Settled(Generic[V]):
    """What a listener gave, awaited as often as it takes; nobody minds when it is not awaited."""

    __slots__ = ("_accept", "_given")

    def __init__(self, given: Any, accept: Callable[[Any], V]) -> None:
        self._given = given
        self._accept = accept

    def __await__(self) -> Generator[Any, None, V]:
        while inspect.isawaitable(self._given):
            self._given = yield from self._given.__await__()
        return self._accept(self._given)


def _as_it_is(value: Any) -> Any:
    return value
