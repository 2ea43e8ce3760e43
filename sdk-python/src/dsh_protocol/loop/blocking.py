"""Agents for code that is not asynchronous: the same agent, on an event loop in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from anyio.from_thread import BlockingPortal, start_blocking_portal

from .agent import USER, Agent, Cause, Outcome
from .frames import Frame

Json: TypeAlias = dict[str, Any]


class BlockingAgent:
    """An agent whose methods wait. Made by `blocking`; `agent` is the one behind it, to be used on its own event loop."""

    def __init__(self, agent: Agent, portal: BlockingPortal) -> None:
        self.agent = agent
        self._portal = portal

    def send(self, content: str | list[Json]) -> Outcome:
        """See `Agent.send`."""
        return self._portal.call(self.agent.send, content)

    def stream(self, content: str | list[Json]) -> Iterator[Frame]:
        """Send a message, and give the frames until the agent is idle again."""
        stream = self._portal.call(self.agent.stream, content)
        try:
            while (frame := self._portal.call(_next, stream)) is not None:
                yield frame
        finally:
            self._portal.call(stream.aclose)

    def steer(self, content: str | list[Json]) -> str:
        """See `Agent.steer`."""
        return self._portal.call(self.agent.steer, content)

    def inject(self, content: str | list[Json]) -> str:
        """See `Agent.inject`."""
        return self._portal.call(self.agent.inject, content)

    def idle(self) -> None:
        """See `Agent.idle`."""
        self._portal.call(self.agent.idle)

    def cancel(self, cause: Cause = USER, *, keep_inbox: bool = False) -> None:
        """See `Agent.cancel`. May be called from any thread."""
        self._portal.call(lambda: self.agent.cancel(cause, keep_inbox=keep_inbox))


async def _next(stream: Any) -> Frame | None:
    frame: Frame | None = await anext(stream, None)
    return frame


@contextmanager
def blocking(make: Callable[[], Agent], *, backend: str = "asyncio") -> Iterator[BlockingAgent]:
    """Run the agent that `make` gives on an event loop in a thread of its own, as long as the block lasts.

    `make` is called on that event loop.
    """
    with start_blocking_portal(backend) as portal:
        agent = portal.call(make)
        with portal.wrap_async_context_manager(agent):
            yield BlockingAgent(agent, portal)
