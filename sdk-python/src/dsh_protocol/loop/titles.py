"""A title for a session, cut from its first prompt, as released runtimes log it with the first request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.llm.titles import fallback_title_data

from .hooks import OpenStream, StreamCall

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

    from .agent import Agent

Json: TypeAlias = dict[str, Any]


class FallbackTitle:
    """Gives a session a title before its first request is sent: `agent.hooks.stream(FallbackTitle(agent))`."""

    def __init__(self, agent: Agent) -> None:
        self._session = agent.session
        self._is_titled = any(event.type == "session/title" for event in agent.session.events)
        self._prompt: Event | None = None
        self._session.subscribe(self._observe)

    def __call__(self, _call: StreamCall, inner: OpenStream) -> AsyncIterator[Json]:
        """Log the title, if one can be had, and let the answer through."""
        if self._prompt is not None and not self._is_titled:
            title = fallback_title_data(self._prompt.value)
            self._prompt = None
            if title is not None:
                self._session.append("session/title", title)
        return inner()

    def _observe(self, event: Event) -> None:
        if event.type == "session/title":
            self._is_titled = True
        elif event.type == "user/message" and event.surface_op == "append":
            self._prompt = self._prompt or event
