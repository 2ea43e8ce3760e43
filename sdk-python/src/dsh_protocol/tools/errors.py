"""Failures with a code, as they get into the result of a tool call and from there into a log.

Their texts are protocol constants, so that a log written here reads as one of the released runtime.
"""

from __future__ import annotations

from collections.abc import Sequence

from dsh_protocol.findings import ProtocolError
from dsh_protocol.rules import code_of, exact


class ToolError(ProtocolError):
    """A failure that a tool raises on purpose: the model reads the message, programs read `name` and `code`.

    In the log it becomes the content `Error: <message>` and the member `error: {"name", "code"}` of `tool/result`. `name` is
    that of the class when none is given.
    """

    def __init__(self, code: str, message: str, *, name: str | None = None, fix: str = "") -> None:
        super().__init__(code, message, fix=fix)
        self.name = type(self).__name__ if name is None else name


class JsonSchemaError(ToolError):
    """A schema has something that the enforced subset, or the typed form, does not have.

    `violations` says what and where, `code` is the rule: `tools/schema-subset` or `tools/schema-author`. In the result of a
    call the code is `UNSUPPORTED_SCHEMA`, as the released runtime has it.
    """

    def __init__(self, violations: Sequence[str], rule_id: str = "tools/schema-subset") -> None:
        message, _ = exact("tools/schema-subset", detail="; ".join(violations))
        _, fix = exact(rule_id, detail="")
        super().__init__(code_of(rule_id), message, fix=fix)
        self.violations = tuple(violations)


class ToolNotFoundError(ToolError):
    """The model called a tool that is not registered, or that its scope does not see."""

    def __init__(self, tool: str) -> None:
        super().__init__("UNKNOWN_TOOL", f'unknown tool "{tool}"')


class ToolArgsError(ToolError):
    """The arguments of a call break the tool's schema; `violations` says where."""

    def __init__(self, violations: Sequence[str]) -> None:
        super().__init__("INVALID_ARGS", f"invalid arguments: {'; '.join(violations)}")
        self.violations = tuple(violations)


class ToolOutputError(ToolError):
    """What a tool returned, or made of it, breaks its output contract; `violations` says where."""

    def __init__(self, tool: str, violations: Sequence[str]) -> None:
        super().__init__(
            "INVALID_TOOL_OUTPUT",
            f'tool "{tool}" returned invalid output: {"; ".join(violations)}',
        )
        self.violations = tuple(violations)


def info_of(error: BaseException) -> dict[str, str] | None:
    """`{"name", "code"}` of an error that has a code, as a result and the log carry it; None for any other."""
    if isinstance(error, JsonSchemaError):
        return {"name": error.name, "code": "UNSUPPORTED_SCHEMA"}
    if isinstance(error, ProtocolError):
        return {"name": getattr(error, "name", type(error).__name__), "code": error.code}
    return None


def message_of(error: BaseException) -> str:
    """What the model gets to read of an error; the name of its class where it says nothing."""
    if isinstance(error, ProtocolError):
        return error.message
    try:
        return str(error) or type(error).__name__
    except Exception:
        return "<unprintable thrown value>"
