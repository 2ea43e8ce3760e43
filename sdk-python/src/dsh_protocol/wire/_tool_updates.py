"""What a route can say about tools that change during a session, and what it cannot (format 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]
_ADDITION = "tool-addition"
_REMOVAL = "tool-removal"


def project_tool_updates(
    messages: Sequence[Json],
    tools: Sequence[Json] | None,
    mode: str | None,
    history: Json | None,
) -> tuple[list[Json], list[Json] | None]:
    """The messages and tool declarations of a request on a route with this `toolUpdate` mode.

    `mode` is null, `in-history` or `addition-only`; `history` is `{tools, updates: [{messageId,
    additions}]}`. Without a mode, or when the history does not fit the messages, the model sees the
    current tools and no change. Otherwise the declarations stay those of the start of the series
    (so that its cached prefix lives on), later tools are declared with deferred loading, and
    developer messages turn them on and off.
    """
    if mode is None:
        current = None if tools is None else [_undeferred(tool) for tool in tools]
        return _without_developer(messages), current
    if history is None or not _fits(messages, history["updates"]):
        return _without_developer(messages), None if tools is None else list(tools)
    declared = _declarations(history, tools or (), mode)
    offered = {tool["name"] for tool in history["tools"] if not tool.get("deferLoading")}
    known = {update["messageId"] for update in history["updates"]}
    walk = _Walk(mode, {tool["name"] for tool in declared}, offered & _names(declared), known)
    return [kept for message in messages for kept in walk.message(message)], declared


class _Walk:
    """Which tools the model may call at one place of the history."""

    def __init__(self, mode: str, declared: set[str], offered: set[str], known: set[str]) -> None:
        self._removals = mode == "in-history"
        self._declared = declared
        self._offered = offered
        self._known = known

    def message(self, message: Json) -> list[Json]:
        """The message as the model sees it: in a list of one, or an empty list."""
        if message["role"] != "developer":
            return [message]
        if message.get("id") not in self._known:
            return []
        content = [block for block in message["content"] if self._keep(block)]
        return [{**message, "content": content}] if content else []

    def _keep(self, block: Json) -> bool:
        if block["type"] == _ADDITION:
            return self._add(block["toolName"])
        if block["type"] == _REMOVAL:
            return self._remove(block["toolName"])
        return True

    def _add(self, name: str) -> bool:
        if name not in self._declared or name in self._offered:
            return False
        self._offered.add(name)
        return True

    def _remove(self, name: str) -> bool:
        if not self._removals or name not in self._offered:
            return False
        self._offered.remove(name)
        return True


def _declarations(history: Json, tools: Sequence[Json], mode: str) -> list[Json]:
    declared: dict[str, Json] = {tool["name"]: tool for tool in history["tools"]}
    for update in history["updates"]:
        for tool in update["additions"]:
            declared.setdefault(tool["name"], {**tool, "deferLoading": True})
    current = _names(tools)
    return [t for t in declared.values() if mode == "in-history" or t["name"] in current]


def _fits(messages: Sequence[Json], updates: Sequence[Json]) -> bool:
    ids = {message.get("id") for message in messages if message["role"] == "developer"}
    return all(update["messageId"] in ids for update in updates)


def _names(tools: Sequence[Mapping[str, Any]]) -> set[str]:
    return {tool["name"] for tool in tools}


def _without_developer(messages: Sequence[Json]) -> list[Json]:
    return [message for message in messages if message["role"] != "developer"]


def _undeferred(tool: Json) -> Json:
    return {key: value for key, value in tool.items() if key != "deferLoading"}
