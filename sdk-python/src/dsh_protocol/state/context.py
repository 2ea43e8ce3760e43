"""The route that the latest requests went to, as far as the log records it: `request/context`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._values import Verify

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

CONTEXT = "request/context"


class Context:
    """The latest request/context of a log."""

    __slots__ = ("_verify", "latest")

    def __init__(self, verify: Verify) -> None:
        self._verify = verify
        self.latest: Event | None = None

    def apply(self, event: Event) -> None:
        """Take the context of this event into force."""
        self.latest = event

    def current(self) -> dict[str, Any] | None:
        """What `of` gives for the latest request/context; null before the first."""
        return None if self.latest is None else self.of(self.latest)

    def of(self, event: Event) -> dict[str, Any]:
        """`{provider, model, contextWindow?, systemPromptUpdate?}` of a request/context event.

        Raises:
            RefusedError: the data of the event cannot be used.
        """
        self._verify(event)
        data: dict[str, Any] = event.data
        return data
