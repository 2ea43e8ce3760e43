"""What a runtime does to the messages of a request before any wire sees them.

In this order: files become texts, images become texts for a model that takes none, tool changes are
told or hidden, and replay state of foreign routes is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._images import Images, digest
from ._texts import text
from ._tool_updates import project_tool_updates

Json = dict[str, Any]
_Replace = Callable[[Json], str | None]


def project(options: Mapping[str, Any], route: Mapping[str, Any], images: Images) -> Json:
    """A copy of the options as an adapter gets them; the caller's stay as they are."""
    messages: list[Json] = list(options["messages"])
    if route.get("formatVersion", 3) >= 3:
        messages = [_replaced(message, _file_text(images)) for message in messages]
    if "inputModalities" in route and not images.accepted:
        messages = [_replaced(message, _text_only) for message in messages]
    messages, tools = project_tool_updates(
        messages, options.get("tools"), route.get("toolUpdate"), options.get("toolHistory")
    )
    providers = route.get("replayProviders", [options["provider"]])
    result = {**options, "messages": [_without_replay(m, providers) for m in messages]}
    result.pop("toolHistory", None)
    result.pop("tools", None)
    return result if tools is None else {**result, "tools": tools}


def origins(messages: Sequence[Json], projected: Sequence[Json]) -> list[int]:
    """For each projected message the index of the message it was made from, for error places."""
    found: list[int] = []
    index = -1
    for message in projected:
        index += 1
        while not _is_same(messages[index], message):
            index += 1
        found.append(index)
    return found


def _is_same(message: Json, projected: Json) -> bool:
    return bool(message["role"] == projected["role"] and message.get("id") == projected.get("id"))


def _file_text(images: Images) -> _Replace:
    return lambda block: images.file(block["attachment"]) if block["type"] == "file" else None


def _text_only(block: Json) -> str | None:
    if block["type"] != "image":
        return None
    return text("image/text-only", digest=digest(block["attachment"]))


def _replaced(holder: Json, replace: _Replace) -> Json:
    """The message (or tool-result block) with a text block wherever `replace` gives a text."""
    return {**holder, "content": [_block(block, replace) for block in holder["content"]]}


def _block(block: Json, replace: _Replace) -> Json:
    if block["type"] == "tool-result":
        return _replaced(block, replace)
    new = replace(block)
    return block if new is None else {"type": "text", "text": new}


def _without_replay(message: Json, providers: list[str]) -> Json:
    source = message.get("source", {})
    if message["role"] != "assistant" or "replayState" not in source:
        return message
    if source.get("provider") in providers:
        return message
    kept = {key: value for key, value in source.items() if key != "replayState"}
    return {**message, "source": kept}
