"""What becomes of a tool call: the two shapes of a result, and the results that the protocol fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from dsh_protocol.findings import JsonError
from dsh_protocol.jsonvalue import JsonValue

from ._json import snapshot
from .errors import info_of, message_of

Block: TypeAlias = Mapping[str, Any]
"""A content block, such as `{"type": "text", "text": "done"}`."""


@dataclass(frozen=True, slots=True)
class ToolSuccess:
    """A call that worked.

    `value` is the tool's result as JSON; `content` is what the model reads of it. `meta` is for displays.
    `additional_contexts` are user messages that the loop hands to the model with its next step. `concludes_turn`: no further
    step is needed.
    """

    value: JsonValue
    content: Sequence[Block] = ()
    meta: JsonValue | UnsetType = UNSET
    additional_contexts: Sequence[Mapping[str, Any]] = ()
    concludes_turn: bool = False

    @property
    def is_error(self) -> bool:
        """False: the call worked."""
        return False

    def to_json(self) -> dict[str, Any]:
        """The result as the protocol writes it."""
        more = {"concludesTurn": True} if self.concludes_turn else {}
        return {"isError": False, **_shown(self), **more, "value": self.value}


@dataclass(frozen=True, slots=True)
class ToolFailure:
    """A call that did not work; `info` is `{"name", "code", "reason"?}` where the failure has a code."""

    message: str
    content: Sequence[Block]
    info: Mapping[str, str] | None = None
    meta: JsonValue | UnsetType = UNSET
    additional_contexts: Sequence[Mapping[str, Any]] = ()

    @property
    def is_error(self) -> bool:
        """True: the call did not work."""
        return True

    def to_json(self) -> dict[str, Any]:
        """The result as the protocol writes it."""
        error = {"message": self.message, **({} if self.info is None else {"info": self.info})}
        return {"isError": True, "error": error, **_shown(self)}


ToolResult: TypeAlias = ToolSuccess | ToolFailure

_ABORTED: Final = ("tool call aborted", "ABORTED")
_NOT_STARTED: Final = ("tool call aborted before dispatch", "ABORTED_BEFORE_DISPATCH")


def failure(message: str, info: Mapping[str, str] | None = None) -> ToolFailure:
    """A failure whose content is `Error: <message>`."""
    return ToolFailure(message, [{"type": "text", "text": f"Error: {message}"}], info)


def thrown(error: BaseException) -> ToolFailure:
    """The failure that an exception amounts to."""
    return failure(message_of(error), info_of(error))


NOT_STARTED: Final = failure(_NOT_STARTED[0], {"name": "AbortError", "code": _NOT_STARTED[1]})
"""The result of a call that was cancelled before it began."""


def aborted(*, started: bool, prior: ToolResult | None = None) -> ToolFailure:
    """The failure of a call that was cancelled; it keeps the contexts of the result that it replaces."""
    message, code = _ABORTED if started else _NOT_STARTED
    result = failure(message, {"name": "AbortError", "code": code})
    return replace(result, additional_contexts=() if prior is None else prior.additional_contexts)


def timed_out(timeout_ms: str) -> ToolFailure:
    """The failure of a call that took longer than it may."""
    info = {"name": "ToolTimeoutError", "code": "TOOL_TIMEOUT"}
    return failure(f"tool call timed out after {timeout_ms}ms", info)


def blocked(feedback: Sequence[Block], contexts: Sequence[Mapping[str, Any]]) -> ToolFailure:
    """The failure of a call that a policy blocks after the fact: the feedback is the content as it is."""
    lines = [
        block["text"] if block["type"] == "text" else f"[{block['type']} content]"
        for block in feedback
    ]
    message = "\n".join(lines) or "tool result blocked by post-execute policy"
    return ToolFailure(message, feedback, additional_contexts=contexts)


def settled(result: ToolResult) -> ToolResult:
    """The result with frozen copies of what it shows.

    Raises:
        TypeError: something in it is no lossless JSON.
    """
    try:
        shown = {
            "content": snapshot(_plain(result.content)),
            "meta": UNSET if result.meta is UNSET else snapshot(result.meta),
            "additional_contexts": snapshot(_plain(result.additional_contexts)),
        }
        if isinstance(result, ToolFailure) and result.info is not None:
            shown["info"] = snapshot(dict(result.info))
    except JsonError as error:
        raise TypeError("tool result must be losslessly JSON-serializable") from error
    return replace(result, **shown)


def _plain(values: Sequence[Mapping[str, Any]]) -> Any:
    return list(values) if isinstance(values, tuple) else values


def _shown(result: ToolResult) -> dict[str, Any]:
    shown: dict[str, Any] = {"content": list(result.content)}
    if result.meta is not UNSET:
        shown["meta"] = result.meta
    if result.additional_contexts:
        shown["additionalContexts"] = list(result.additional_contexts)
    return shown
