"""What the session formats call things. The only module that asks for a format's version number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import dsh_protocol_data

OLDEST = 3
"""The oldest session format that is read without a migration."""
CURRENT = 4
"""The session format that current releases write."""

_CHECKPOINT = ("compact", "compact-checkpoint")
_TITLE_REQUEST = ("dsh-session-title-llm", "dsh-session-title-llm")
"""A producer's name as a plugin (formats up to 3), and the kind of its own since."""

ToolResultShape = Literal["tool-role", "tool-result-block"]

_SYSTEM_SOURCE = {"kind": "system-prompt"}
_OLD_SYSTEM_SOURCE = {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"}
_CONTEXT_SOURCE = {"kind": "runtime-context"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The vocabulary and the shapes of one session format."""

    version: int
    event_types: frozenset[str]
    """Every type this format knows (format 4: 62, format 3: 58)."""
    surface_types: frozenset[str]
    retired_types: frozenset[str]
    replace_keys: tuple[str, str]
    """The members of a replace operation that name its first and its last node."""
    roles: Mapping[str, str]
    """The role that the message of each surface type has."""
    tool_result_shape: ToolResultShape
    system_source: Mapping[str, str]
    """The source that the released runtime gives a system message."""
    context_source: Mapping[str, str]
    """The source of a message with runtime context, without the form and the sections of a snapshot."""
    default_wire: str
    has_plugin_records: bool
    """Whether writers may append `plugin:` records."""
    forks_open_turns: bool
    """Whether a fork may inherit an open turn, which it then closes."""
    projects_messages: bool
    """Whether an event can change what an earlier message derives to, so that a series of requests depends on it."""
    has_tool_updates: bool
    """Whether changes of the tools are told in developer messages, so that they need not start a series of requests."""
    marks_first_series: bool
    """Whether the first header of a loop says that it starts a series, as later ones do in every format."""
    renews_context: bool
    """Whether runtime context is projected for every attempt, and not only before a step."""
    trims_causes: bool
    """Whether only the known members of a cancellation's cause are logged."""
    answers_by_call_alone: bool
    """Whether any tool result with the id of a call answers it, and not only an appended one of the same turn and step."""
    drops_rows_for_data: bool
    """Whether the reader drops a row for what its data holds, and not only for its envelope."""
    looks_ahead: bool
    """Whether what titles and commands cite is looked up in the whole log, and not only in what stands before them."""

    def message(self, event_type: str, data: Any) -> Any:
        """The message inside the data of a surface event (which may be malformed: then null or whatever stands there)."""
        if not isinstance(data, dict):
            return None
        return data if event_type == "user/message" else data.get("message")

    def tool_content(self, message: Mapping[str, Any]) -> Any:
        """The blocks that a tool returned, inside a tool result message of this format (null when malformed)."""
        if self.tool_result_shape == "tool-role":
            return message.get("content")
        block = self._wrapper(message)
        return block.get("content") if block is not None else None

    def tool_is_error(self, message: Mapping[str, Any]) -> Any:
        """The isError member of a tool result message of this format (null when absent)."""
        holder = message if self.tool_result_shape == "tool-role" else self._wrapper(message)
        return holder.get("isError") if holder is not None else None

    def is_context(self, source: Any) -> bool:
        """Whether a user message of this source tells the model its runtime context."""
        if not isinstance(source, dict):
            return False
        return all(source.get(name) == value for name, value in self.context_source.items())

    def is_checkpoint(self, source: Mapping[str, Any]) -> bool:
        """Whether a message of this source is the summary that a compaction puts in the place of what it read."""
        return self._is_of(source, *_CHECKPOINT)

    def is_title_request(self, source: Mapping[str, Any]) -> bool:
        """Whether a message of this source asks a model for the session's title."""
        return self._is_of(source, *_TITLE_REQUEST)

    def _is_of(self, source: Mapping[str, Any], plugin: str, kind: str) -> bool:
        """Whether a source names this producer: by a kind of its own, or before format 4 as a plugin."""
        if self.version >= CURRENT:
            return source.get("kind") == kind
        return source.get("kind") == "plugin" and source.get("plugin") == plugin

    @staticmethod
    def _wrapper(message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        content = message.get("content")
        first = content[0] if isinstance(content, list) and content else None
        return first if isinstance(first, dict) else None


@cache
def dialect(version: int) -> Dialect:
    """The dialect of session format `version`.

    Raises:
        KeyError: the format is not read directly (older than 3 or newer than 4).
    """
    if not OLDEST <= version <= CURRENT:
        raise KeyError(version)
    vocabulary: dict[str, Any] = dsh_protocol_data.load("vocabulary")
    types = [entry for entry in vocabulary["types"] if version in entry["formats"]]
    current = version >= CURRENT
    roles = {
        "system/message": "system",
        "user/message": "user",
        "assistant/message": "assistant",
        "tool/result": "tool" if current else "user",
    }
    if current:
        roles["developer/message"] = "developer"
    return Dialect(
        version=version,
        event_types=frozenset(entry["type"] for entry in types),
        surface_types=frozenset(entry["type"] for entry in types if entry["surface"]),
        retired_types=frozenset(entry["type"] for entry in vocabulary["retired"]),
        replace_keys=("startSeq", "endSeq"),
        roles=roles,
        tool_result_shape="tool-role" if current else "tool-result-block",
        system_source=_SYSTEM_SOURCE if current else _OLD_SYSTEM_SOURCE,
        context_source=_CONTEXT_SOURCE if current else _OLD_SYSTEM_SOURCE,
        default_wire="deepseek-messages" if current else "deepseek-chat",
        has_plugin_records=current,
        forks_open_turns=current,
        projects_messages=current,
        has_tool_updates=current,
        marks_first_series=current,
        renews_context=current,
        trims_causes=current,
        answers_by_call_alone=not current,
        drops_rows_for_data=not current,
        looks_ahead=not current,
    )
