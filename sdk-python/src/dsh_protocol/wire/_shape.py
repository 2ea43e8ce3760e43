"""The shape of `GenerateOptions`, as far as serializers rely on it.

A log's payloads are checked by the official reader only in part, so that anything can stand in a
message. Checking once, up front, keeps the serializers free of doubts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dsh_protocol import jsonvalue

from ._texts import failure

Json = dict[str, Any]

_STRINGS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "reasoning": ("text",),
    "tool-call": ("id", "name", "arguments"),
    "tool-result": ("toolCallId",),
    "tool-addition": ("toolName",),
    "tool-removal": ("toolName",),
}
_OPTIONAL = {
    "reasoningEffort": str,
    "system": str,
    "tools": list,
    "toolHistory": dict,
    "temperature": float,
    "maxTokens": int,
    "stop": list,
    "purpose": str,
}
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_IMAGE = {"attachmentId": str, "mediaType": str, "bytes": int, "width": int, "height": int}
_FILE = {"attachmentId": str, "name": str, "bytes": int}


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that no serializer can read.

    Raises:
        WireError: `INVALID_OPTIONS`, with the place as a JSON Pointer into the options.
    """
    _members(options, {"provider": str, "model": str, "messages": list}, ())
    _members(options, {name: kind for name, kind in _OPTIONAL.items() if name in options}, ())
    for place, tool in _tools(options):
        _members(tool, {"name": str, "description": str}, place)
        if "parameters" not in tool:
            _refuse("parameters is missing", place)
    for index, message in enumerate(options["messages"]):
        _message(message, ("messages", index))


def _tools(options: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    for index, tool in enumerate(options.get("tools", ())):
        yield ("tools", index), tool
    history = options.get("toolHistory")
    if history is None:
        return
    _members(history, {"tools": list, "updates": list}, ("toolHistory",))
    for index, tool in enumerate(history["tools"]):
        yield ("toolHistory", "tools", index), tool
    for index, update in enumerate(history["updates"]):
        place = ("toolHistory", "updates", index)
        _members(update, {"messageId": str, "additions": list}, place)
        for inner, tool in enumerate(update["additions"]):
            yield (*place, "additions", inner), tool


def _message(message: Any, place: tuple[str | int, ...]) -> None:
    _members(message, {"role": str, "content": list}, place)
    if message["role"] not in _ROLES:
        _refuse("role is unknown", (*place, "role"))
    if message["role"] == "tool":
        _members(message, {"toolCallId": str}, place)
    if "source" in message:
        _members(message, {"source": dict}, place)
    _blocks(message["content"], (*place, "content"))


def _blocks(blocks: Sequence[Any], place: tuple[str | int, ...]) -> None:
    for index, block in enumerate(blocks):
        here = (*place, index)
        _members(block, {"type": str}, here)
        _members(block, dict.fromkeys(_STRINGS.get(block["type"], ()), str), here)
        check = _ATTACHED.get(block["type"])
        if check is not None:
            check(block, here)


def _image(block: Json, place: tuple[str | int, ...]) -> None:
    _members(block, {"attachment": dict}, place)
    _members(block["attachment"], _IMAGE, (*place, "attachment"))
    name = block["attachment"].get("name", "")
    if not isinstance(name, str):
        _refuse("name is no text", (*place, "attachment", "name"))


def _file(block: Json, place: tuple[str | int, ...]) -> None:
    _members(block, {"attachment": dict}, place)
    _members(block["attachment"], _FILE, (*place, "attachment"))


def _result(block: Json, place: tuple[str | int, ...]) -> None:
    _members(block, {"content": list}, place)
    _blocks(block["content"], (*place, "content"))


def _members(value: Any, types: Mapping[str, type], place: tuple[str | int, ...]) -> None:
    if not isinstance(value, dict):
        _refuse("an object is expected", place)
    for name, kind in types.items():
        member = value.get(name)
        if isinstance(member, bool) or not isinstance(member, (kind, *_ALSO.get(kind, ()))):
            _refuse(f"{name} is no {_NAMES[kind]}", (*place, name))


def _refuse(detail: str, place: tuple[str | int, ...]) -> None:
    raise failure("options/malformed", path=jsonvalue.pointer(*place), detail=detail)


_NAMES: Mapping[type, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    list: "list",
    dict: "object",
}
# A whole number is a number.
_ALSO: Mapping[type, tuple[type, ...]] = {float: (int,)}
_ATTACHED: Mapping[str, Callable[[Json, tuple[str | int, ...]], None]] = {
    "image": _image,
    "file": _file,
    "tool-result": _result,
}
