"""Owners of registrations: what a plugin or a scope has registered goes when it goes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

from dsh_protocol.findings import RegistrationError

Disposer = Callable[[], None]
"""Undoes one registration. A second call does nothing, whatever has been registered meanwhile."""

INACTIVE: Final = "INACTIVE_EFFECT"
"""Code of the error for a registration through an owner that is gone, as the official runtime has it."""

_INACTIVE_TEXT = "cannot create effect on inactive context"
_PACKAGE = __name__.partition(".")[0]


class Owner:
    """A plugin or a scope, as the one to whom registrations belong.

    `scope` is the key of the layer that the owner's registrations go to, compared by identity; None is the global layer.
    An owner is a context manager: leaving the block disposes of it.
    """

    __slots__ = ("_active", "_leave", "_undos", "name", "scope")

    def __init__(self, name: str = "", *, scope: object | None = None) -> None:
        self.name = name
        self.scope = scope
        self._active = True
        self._undos: dict[object, Disposer] = {}
        self._leave: Disposer | None = None

    @property
    def active(self) -> bool:
        """Whether something can still be registered through this owner."""
        return self._active

    def require_active(self) -> None:
        """Do nothing while this owner is active.

        Raises:
            RegistrationError: code `INACTIVE_EFFECT`, the owner has been disposed of.
        """
        if not self._active:
            raise RegistrationError(
                INACTIVE,
                _INACTIVE_TEXT,
                fix=f"{self} is disposed of; register through an owner that is still active.",
            )

    def effect(self, undo: Callable[[], None]) -> Disposer:
        """Have `undo` called once: by the disposer that is returned, or when this owner goes.

        Raises:
            RegistrationError: code `INACTIVE_EFFECT`, the owner has been disposed of.
        """
        self.require_active()
        key = object()

        def dispose() -> None:
            if self._undos.pop(key, None) is not None:
                undo()

        self._undos[key] = dispose
        return dispose

    def child(self, name: str = "", *, scope: object | None = None) -> Owner:
        """An owner that goes with this one at the latest; without `scope` it registers into the same layer.

        Raises:
            RegistrationError: code `INACTIVE_EFFECT`, this owner has been disposed of.
        """
        child = Owner(name, scope=self.scope if scope is None else scope)
        child._leave = self.effect(child._undo_all)
        return child

    def dispose(self) -> None:
        """Undo everything that was registered through this owner, the latest first. A second call does nothing.

        Everything is undone even when something fails on the way.

        Raises:
            Exception: what an undo or a change listener raised; an `ExceptionGroup` when there were several.
        """
        if self._leave is None:
            self._undo_all()
        else:
            self._leave()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.dispose()

    def __str__(self) -> str:
        return f"owner {self.name!r}" if self.name else "an unnamed owner"

    def __repr__(self) -> str:
        state = "active" if self._active else "disposed"
        return f"<{type(self).__name__} {self.name!r} {state}>"

    def _undo_all(self) -> None:
        self._active = False
        errors: list[Exception] = []
        for dispose in reversed(list(self._undos.values())):
            try:
                dispose()
            except Exception as error:
                errors.append(error)
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise ExceptionGroup(f"while {self} was disposed of", errors)


def calling_place(owner: Owner) -> str:
    """Who registers right now and where: the owner and the nearest line outside this package."""
    frame: Any = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    if frame is None:
        return str(owner)
    return f"{owner} at {frame.f_code.co_filename}:{frame.f_lineno}"


def _is_ours(module: str) -> bool:
    return module == _PACKAGE or module.startswith(f"{_PACKAGE}.")
