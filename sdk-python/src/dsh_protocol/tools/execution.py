"""One call of a tool, as those who look at it and run it see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from dsh_protocol.abort import AbortController, AbortSignal

from ._results import Block, ToolResult


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call to execute.

    `arguments` is the parsed JSON (a model that wrote something else gets its text here); `signal` says when to stop;
    `agent` is the scope that the tool is looked up in. `root_call_id` and `parent` are for calls that a tool makes.
    """

    call_id: str
    name: str
    arguments: Any
    signal: AbortSignal
    agent: object | None = None
    root_call_id: str | None = None
    parent: object | None = None
    schema: Any = None


class ToolExecution:
    """A call on its way through listeners and body. `signal` may be replaced around the body."""

    arguments: Any
    """A frozen copy of what was given; None where that is no JSON."""

    def __init__(self, call: ToolCall) -> None:
        self.call_id = call.call_id
        self.root_call_id = call.call_id if call.root_call_id is None else call.root_call_id
        self.name = call.name
        self.arguments = None
        self.agent = call.agent
        self.parent = call.parent
        self.schema = call.schema
        self.signal = call.signal
        self._caller_signal = call.signal
        self._contexts: list[Mapping[str, Any]] = []
        self._concludes = False
        self._started = False
        self._own: list[ToolResult] = []
        self._project: ContentHook | None = None
        self._finalize: ContentHook | None = None

    def defer_context(self, message: Mapping[str, Any]) -> None:
        """Hand a user message to the model together with the step that follows."""
        self._contexts.append(message)

    def conclude_turn(self) -> None:
        """Say that the turn needs no further step, provided that this call succeeds."""
        self._concludes = True


ContentHook: TypeAlias = Callable[[ToolExecution, ToolResult], Sequence[Block] | None]


class Allow(TypedDict):
    """Let the call run."""

    kind: Literal["allow"]


class Deny(TypedDict):
    """Do not run the call, and tell the model why."""

    kind: Literal["deny"]
    reason: str
    info: NotRequired[Mapping[str, str]]


class Ask(TypedDict):
    """Let a person decide; without anybody to ask the call is denied."""

    kind: Literal["ask"]
    reason: NotRequired[str]
    displayReason: NotRequired[str]


class Cancel(TypedDict):
    """Treat the call as cancelled before it started."""

    kind: Literal["cancel"]


class Accept(TypedDict):
    """Take the result, with another content or another value in its place (not both)."""

    kind: Literal["accept"]
    content: NotRequired[Sequence[Block]]
    value: NotRequired[Any]
    additionalContexts: NotRequired[Sequence[Mapping[str, Any]]]


class Reject(TypedDict):
    """Make a failure of the result, with the feedback as its content."""

    kind: Literal["block"]
    feedback: Sequence[Block]
    additionalContexts: NotRequired[Sequence[Mapping[str, Any]]]


PreDecision: TypeAlias = Allow | Deny | Ask | Cancel
PostDecision: TypeAlias = Accept | Reject

ApprovalOutcome: TypeAlias = Literal["allowed-once", "rejected", "cancelled", "unavailable"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What a person is asked: whether this call may run."""

    agent: object
    tool_name: str
    call_id: str
    signal: AbortSignal
    reason: str | None = None
    display_reason: str | None = None


@contextmanager
def fused(first: AbortSignal, second: AbortSignal) -> Iterator[AbortSignal]:
    """A signal that comes when either of two does, with its cause; inside the block only."""
    if first is second:
        yield first
        return
    either = AbortController()
    forget = [
        signal.on_abort(lambda signal=signal: either.abort(signal.reason))  # type: ignore[misc]
        for signal in (second, first)
    ]
    try:
        yield either.signal
    finally:
        for undo in forget:
            undo()
