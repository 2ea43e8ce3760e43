"""Where code of others takes part in a turn: typed middleware, outermost first.

A middleware gets what it is about and `proceed`, which runs the rest of the chain; what it returns counts. Failures end
the turn, except where a hook says otherwise.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from dsh_protocol.abort import AbortSignal
from dsh_protocol.llm import RetryPolicy

if TYPE_CHECKING:
    from .agent import Agent

Json: TypeAlias = dict[str, Any]
A = TypeVar("A")
R = TypeVar("R")
Proceed: TypeAlias = Callable[[], Awaitable[R]]
Middleware: TypeAlias = Callable[[A, Proceed[R]], Awaitable[R]]


class Chain(Generic[A, R]):
    """Middleware of one kind, in the order of registration."""

    def __init__(self) -> None:
        self._middleware: list[Middleware[A, R]] = []

    def use(self, middleware: Middleware[A, R], *, prepend: bool = False) -> Callable[[], None]:
        """Add a middleware (`prepend`: in front of all others). Calling the result takes it out again."""
        entry: Middleware[A, R] = lambda about, proceed: middleware(about, proceed)  # noqa: E731 - an identity of its own
        self._middleware.insert(0 if prepend else len(self._middleware), entry)
        return lambda: self._forget(entry)

    async def run(self, about: A, innermost: Proceed[R]) -> R:
        """What the chain makes of it. Who takes part is settled when it starts."""
        remaining = iter(tuple(self._middleware))

        async def proceed() -> R:
            middleware = next(remaining, None)
            return await (innermost() if middleware is None else middleware(about, proceed))

        return await proceed()

    def _forget(self, entry: Middleware[A, R]) -> None:
        if entry in self._middleware:
            self._middleware.remove(entry)


@dataclass(frozen=True, slots=True)
class StepHook:
    """The step that a hook is called for; `step` is the one about to begin in `pre_step`."""

    agent: Agent
    turn: int
    step: int
    signal: AbortSignal


@dataclass(frozen=True, slots=True)
class PreStep(StepHook):
    """Before a step: the messages that were claimed for it, runtime context aside."""

    messages: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Enter:
    """Go on with the step, which begins with these messages. `starts_request_series`: the history is to be taken as new."""

    messages: tuple[Json, ...]
    starts_request_series: bool = False


@dataclass(frozen=True, slots=True)
class Reject:
    """Do not begin the step; the turn ends as `blocked`, and the claimed messages are gone."""


@dataclass(frozen=True, slots=True)
class FailedRequest(StepHook):
    """A request that failed: the failure object that ended its stream, and the provider it was sent to."""

    provider: str
    failure: Mapping[str, Any] = field(default_factory=dict)
    retry_policy: RetryPolicy | None = None


@dataclass(frozen=True, slots=True)
class StreamCall(StepHook):
    """A request on its way: the options that the model gets. They are not to be changed."""

    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnStopping:
    """A turn that has nothing left to do. A message sent with `Agent.steer` makes it go on."""

    agent: Agent
    turn: int
    signal: AbortSignal


Decision: TypeAlias = Enter | Reject
Retry: TypeAlias = Literal["retry"]
OpenStream: TypeAlias = Callable[[], AsyncIterator[Json]]
StreamMiddleware: TypeAlias = Callable[[StreamCall, OpenStream], AsyncIterator[Json]]


class Hooks:
    """All hook points of one agent."""

    def __init__(self) -> None:
        self.pre_step: Chain[PreStep, Decision] = Chain()
        """Before each step: change its messages, mark a new series, or reject it. May append to the log.

        What this hook and the next one may change: rule `loop/request-hook`.
        """
        self.request: Chain[StepHook, Json] = Chain()
        """Before each attempt: the call configuration, `{provider, model, reasoningEffort?, temperature?, ...}`."""
        self.request_error: Chain[FailedRequest, Retry | None] = Chain()
        """After a failed request: `"retry"` sends it again, null ends the turn. May append to the log."""
        self.turn_stopping: Chain[TurnStopping, None] = Chain()
        """Before a turn ends by itself."""
        self._streams: list[StreamMiddleware] = []

    def stream(self, middleware: StreamMiddleware) -> Callable[[], None]:
        """Wrap or replace the chunks of every answer. Calling the result takes the middleware out again."""
        self._streams.append(middleware)
        return lambda: self._forget(middleware)

    def _forget(self, middleware: StreamMiddleware) -> None:
        if middleware in self._streams:
            self._streams.remove(middleware)

    def open_stream(self, call: StreamCall, innermost: OpenStream) -> AsyncIterator[Json]:
        """The chunks of an answer, through all middleware."""
        opened = innermost
        for middleware in reversed(self._streams):
            opened = _wrapped(middleware, call, opened)
        return opened()


def _wrapped(middleware: StreamMiddleware, call: StreamCall, inner: OpenStream) -> OpenStream:
    return lambda: middleware(call, inner)
