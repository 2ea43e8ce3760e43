"""What an assembly is made for, and what it is: the values that providers, listeners and renderers share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsh_protocol.abort import AbortSignal


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembleContext:
    """What one assembly is for; the same object is handed to every provider and listener.

    `scope` is the key whose chain of layers takes part, compared by identity; None: only the global layer. `signal` is the
    control signal of the request; assembly never looks at it, and providers do not keep it.
    `agent` is the live agent, and is never set without `scope`. `extensions` holds what other software adds.
    """

    scope: object | None = None
    signal: AbortSignal | None = None
    agent: Any = None
    extensions: Mapping[str, Any] = field(default_factory=dict)


BARE = AssembleContext()
"""No scope, no signal, no agent: only what is global takes part."""


def assemble_context_for(agent: object, signal: AbortSignal | None = None) -> AssembleContext:
    """The context for a request of one agent, which is the key of its own scope."""
    return AssembleContext(agent=agent, scope=agent, signal=signal)


@dataclass(slots=True)
class PromptText:
    """A section or a context of an assembly: its text is resolved, and not interpolated yet.

    `interpolate` is None where the registration did not set it, which means true.
    """

    name: str
    text: str
    interpolate: bool | None = None

    def to_json(self) -> dict[str, Any]:
        """This text as JSON; `interpolate` is there when it is set."""
        value: dict[str, Any] = {"name": self.name, "text": self.text}
        if self.interpolate is not None:
            value["interpolate"] = self.interpolate
        return value


@dataclass(slots=True)
class PromptAssembly:
    """All that one request is told, before it is rendered. A listener may change anything in it.

    `tools` are JSON objects with `name`, `description`, `parameters` and perhaps `deferLoading`, in the order in which they are
    sent. `variables` has every registered variable, None for one without a value. `extensions` is for the fields of others.
    """

    sections: list[PromptText] = field(default_factory=list)
    contexts: list[PromptText] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    variables: dict[str, str | None] = field(default_factory=dict)
    extensions: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """This assembly as JSON; a variable without a value is left out."""
        return {
            "sections": [section.to_json() for section in self.sections],
            "contexts": [context.to_json() for context in self.contexts],
            "tools": self.tools,
            "variables": {
                name: value for name, value in self.variables.items() if value is not None
            },
            **self.extensions,
        }
