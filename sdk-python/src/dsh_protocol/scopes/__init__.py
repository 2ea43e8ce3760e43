"""Who registered what, for whom: owners, scopes and their layers, and the events that travel up a chain of scopes.

An `Owner` is a plugin or a scope; what is registered through it is undone with it. A scope key is any object, compared by
identity; `Scopes` links each key to at most one parent. `Layers` keeps one table for everybody and one for each scope that has
registered something, and `Events` calls the listeners that a scope may hear.
"""

from __future__ import annotations

from .chains import ScopeBinding, Scopes
from .errors import registration_error
from .events import ChangeListener, Events, Listener, Next
from .layers import Anonymous, Layer, Layers, Named
from .owners import INACTIVE, Disposer, Owner, calling_place

__all__ = [
    "INACTIVE",
    "Anonymous",
    "ChangeListener",
    "Disposer",
    "Events",
    "Layer",
    "Layers",
    "Listener",
    "Named",
    "Next",
    "Owner",
    "ScopeBinding",
    "Scopes",
    "calling_place",
    "registration_error",
]
