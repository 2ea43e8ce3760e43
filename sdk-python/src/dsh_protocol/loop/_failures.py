"""What an exception becomes in the log: the `error` of a turn's end."""

from __future__ import annotations

from typing import Any, TypeAlias

from dsh_protocol.findings import ProtocolError
from dsh_protocol.wire import ModelCallError, failure_of

Json: TypeAlias = dict[str, Any]


class ModelFailureError(ProtocolError):
    """A request that failed for good. `failure` is the failure object that the stream ended with."""

    def __init__(self, failure: Json) -> None:
        super().__init__(
            str(failure.get("code", "UNKNOWN")),
            str(failure.get("message", "")),
            fix="Send again; what was queued is kept.",
        )
        self.failure = failure


def turn_failure(error: BaseException) -> Json:
    """The failure object of an exception: that of a failed request as it is, for others the text of the chain of causes."""
    if isinstance(error, ModelFailureError):
        return error.failure
    if isinstance(error, ModelCallError):
        return failure_of(error)
    return {"message": chain_text(error), "code": "UNKNOWN"}


def chain_text(error: BaseException) -> str:
    """The message of an error, its members when it is a group, and its causes: `outer [a; b]: cause`."""
    return _chain(error, set())


def _chain(error: BaseException, seen: set[int]) -> str:
    if id(error) in seen:
        return "<circular cause>"
    seen = seen | {id(error)}
    text = _own_text(error)
    if isinstance(error, BaseExceptionGroup):
        text += f" [{'; '.join(_chain(member, seen) for member in error.exceptions)}]"
    if error.__cause__ is None:
        return text
    cause = _chain(error.__cause__, seen)
    return text if cause == text else f"{text}: {cause}"


def _own_text(error: BaseException) -> str:
    if isinstance(error, ProtocolError):
        return error.message
    if isinstance(error, BaseExceptionGroup):
        return error.message
    return str(error) or type(error).__name__
