"""Failures with a code, as they get into the result of a tool call and from there into a log.

Their texts are protocol constants, so that a log written here reads as one of the released runtime.
"""

from __future__ import annotations

from collections.abc import Sequence

from dsh_protocol.findings import ProtocolError


class ToolError(ProtocolError):
    """A failure that a tool raises on purpose: the model reads the message, programs read `name` and `code`.

    In the log it becomes the content `Error: <message>` and the member `error: {"name", "code"}` of `tool/result`. `name` is the
    name of the class when none is given.
    """

    def __init__(self, code: str, message: str, *, name: str | None = None, fix: str = "") -> None:
        super().__init__(code, message, fix=fix)
        self.name = type(self).__name__ if name is None else name


class JsonSchemaError(ToolError):
    """A schema has something that the enforced subset, or the typed form, does not have; `violations` says what and where."""

    def __init__(self, violations: Sequence[str]) -> None:
        super().__init__(
            "UNSUPPORTED_SCHEMA",
            f"unsupported JSON schema: {'; '.join(violations)}",
            fix="Say it with the keywords of the subset, or leave the constraint to the tool itself.",
        )
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
