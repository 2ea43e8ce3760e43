"""The messages that events carry: what each surface event contributes to the list, and what a message must be.

Rules `message/*`, and `developer/role` and `developer/blocks-elsewhere`, which hold for messages of every kind. Released
software looks at little of a payload; what is checked here is what it refuses. The rest is the schemas' matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from dsh_protocol.dialect import Dialect
from dsh_protocol.jsonvalue import is_count

from . import _system, developer
from ._report import Report
from ._values import is_text, member

Place: TypeAlias = tuple[str | int, ...]

ALWAYS_DERIVED = frozenset({"user/message", "tool/result"})
"""The types whose message is part of the list even when it is empty."""

_USER = "user/message"
_SYSTEM = "system/message"
_DEVELOPER = "developer/message"
_ASSISTANT = "assistant/message"
_ATTEMPT = "assistant/attempt"
_TOOL_RESULT = "tool/result"
_DEVELOPER_ROLE = "developer"
_RETIRED_BLOCK = "tool-result"
# A tuple: what is looked up in it may be any JSON value.
_MISPLACED = (_RETIRED_BLOCK, developer.ADDITION, developer.REMOVAL)


def derive_message(dialect: Dialect, event_type: str, data: Any) -> Any:
    """The message that a surface event contributes, null when it contributes none.

    A system, developer or assistant message without content keeps its node and says nothing to the
    model. Malformed data gives false.
    """
    message = dialect.message(event_type, data)
    if not isinstance(message, dict):
        return False
    if event_type in ALWAYS_DERIVED or message.get("content") != []:
        return message
    return None


def check(report: Report, dialect: Dialect, event_type: str, data: Mapping[str, Any]) -> None:
    """Look at the messages and the content that an event of this type carries."""
    if event_type in dialect.surface_types:
        _check_surface_message(report, dialect, event_type, data)
    special = _SPECIAL.get(event_type)
    if special is not None:
        special(report, event_type, data)


def _check_surface_message(
    report: Report, dialect: Dialect, event_type: str, data: Mapping[str, Any]
) -> None:
    message = dialect.message(event_type, data)
    place: Place = ("data",) if event_type == _USER else member(data, "message", "data")
    if event_type == _TOOL_RESULT and dialect.drops_rows_for_data:
        _check_error(report, data, _is_error_block(message))
    if not isinstance(message, dict):
        report.add("message/object", *place, type=event_type)
        return
    if event_type == _TOOL_RESULT and _has_other_shape(dialect, message):
        report.add("message/tool-result-shape", *place, expected=_SHAPES[dialect.tool_result_shape])
        return
    if not is_text(message.get("id")):
        report.add("message/id", *member(message, "id", *place), type=event_type)
    _check_role(report, message, place, event_type, dialect.roles[event_type])
    content = message.get("content")
    if isinstance(content, list):
        blocks_place = (*place, "content")
        _check_blocks(report, content, blocks_place, event_type)
    else:
        report.add("message/content", *member(message, "content", *place), type=event_type)
    if _check_source(report, message, place, event_type):
        _SOURCES.get(event_type, _check_producer)(report, message["source"], (*place, "source"))
    if event_type == _SYSTEM:
        _system.check(report, data, message)
    elif event_type == _DEVELOPER:
        developer.check(report, data, message)
    elif event_type == _TOOL_RESULT:
        _check_result(report, dialect, data, message)
    elif event_type == _ASSISTANT:
        _check_assistant_blocks(report, content)


def _check_role(
    report: Report, message: Mapping[str, Any], place: Place, event_type: str, expected: str
) -> None:
    found = message.get("role")
    if found == expected:
        return
    where = member(message, "role", *place)
    if _DEVELOPER_ROLE in (found, expected) and report.holds("developer/role"):
        report.add("developer/role", *where, type=event_type, found=found)
    else:
        report.add("message/role", *where, type=event_type, expected=expected, found=found)


def _check_source(
    report: Report, message: Mapping[str, Any], place: Place, event_type: str
) -> bool:
    source = message.get("source")
    if isinstance(source, dict) and is_text(source.get("kind")):
        return True
    report.add("message/source", *member(message, "source", *place), type=event_type)
    return False


def _check_producer(report: Report, source: Mapping[str, Any], place: Place) -> None:
    if source["kind"] == "plugin":
        report.add("message/plugin-source", *place, "kind")


def _check_model_source(report: Report, source: Mapping[str, Any], place: Place) -> None:
    named = is_text(source.get("provider")) and is_text(source.get("model"))
    if source["kind"] != "model" or not named:
        report.add("message/model-source", *place)


def _check_tool_source(report: Report, source: Mapping[str, Any], place: Place) -> None:
    if source["kind"] != "tool" or not is_text(source.get("callId")):
        report.add("message/tool-source", *place)


def _check_blocks(report: Report, blocks: list[Any], place: Place, event_type: str) -> None:
    for index, block in enumerate(blocks):
        if isinstance(block, dict) and block.get("type") in _MISPLACED:
            _check_block_type(report, block["type"], (*place, index), event_type)


def _check_block_type(report: Report, kind: Any, place: Place, event_type: str) -> None:
    """Blocks that the format knows, but not here."""
    if kind == _RETIRED_BLOCK:
        report.add("message/retired-tool-result", *place, type=event_type)
    elif kind in _MISPLACED and event_type != _DEVELOPER:
        report.add("developer/blocks-elsewhere", *place, type=event_type, block=kind)


def _check_assistant_blocks(report: Report, content: Any) -> None:
    if not isinstance(content, list):
        return
    lenient = not report.holds("message/is-error")
    for index, block in enumerate(content):
        if block is None or not (lenient or isinstance(block, dict)):
            place = ("data", "message", "content", index)
            report.add("message/assistant-blocks", *place, found=block)


_SHAPES = {
    "tool-role": "role tool, a toolCallId and the returned blocks as its content",
    "tool-result-block": "role user and one tool-result block with a list as its content",
}


def _has_other_shape(dialect: Dialect, message: Mapping[str, Any]) -> bool:
    """Whether a tool result has, as a whole, the shape of the other formats."""
    content = message.get("content")
    if not isinstance(content, list):
        return False
    first = content[0] if len(content) == 1 and isinstance(content[0], dict) else {}
    wrapped = first.get("type") == _RETIRED_BLOCK
    if dialect.tool_result_shape == "tool-role":
        return wrapped and "toolCallId" not in message
    return not wrapped or not isinstance(first.get("content"), list)


def _check_result(
    report: Report, dialect: Dialect, data: Mapping[str, Any], message: Mapping[str, Any]
) -> None:
    """The call that a tool result answers, and whether it is an error."""
    place: Place = ("data", "message")
    holder = message
    if dialect.tool_result_shape == "tool-result-block":
        if not isinstance(message.get("content"), list):
            return
        place = (*place, "content", 0)
        holder = message["content"][0]
    source = message.get("source")
    call = source.get("callId") if isinstance(source, dict) else None
    found = holder.get("toolCallId")
    if is_text(call) and found != call:
        where = member(holder, "toolCallId", *place)
        report.add("message/tool-call-id", *where, found=found, expected=call)
    if not isinstance(holder.get("isError", False), bool) and report.holds("message/is-error"):
        report.add("message/is-error", *place, "isError")
    elif not dialect.drops_rows_for_data:
        _check_error(report, data, message.get("isError") is True)


def _check_error(report: Report, data: Mapping[str, Any], is_error: bool) -> None:
    if "error" in data and not is_error:
        report.add("message/result-error", "data", "error")


def _is_error_block(message: Any) -> bool:
    """Whether a message is, as far as the reader of format 3 looks while it reads rows, the result of a call that failed."""
    content = message.get("content") if isinstance(message, dict) else None
    block = content[0] if isinstance(content, list) and len(content) == 1 else None
    if not isinstance(block, dict) or block.get("type") != _RETIRED_BLOCK:
        return False
    return block.get("isError") is True


def _check_settlement(report: Report, event_type: str, data: Mapping[str, Any]) -> None:
    for name in ("turn", "step"):
        if not is_count(data.get(name)):
            where = member(data, name, "data")
            report.add("message/settlement", *where, type=event_type, expected=f"a count as {name}")
    if not isinstance(data.get("stream"), list):
        report.add("message/stream", *member(data, "stream", "data"), type=event_type)


def check_stream(report: Report, event_type: str, data: Mapping[str, Any]) -> None:
    """Look at the blocks that the chunks of a settlement's stream open and close."""
    stream = data.get("stream")
    if not isinstance(stream, list):
        return
    for index, record in enumerate(stream):
        chunk = record.get("chunk") if isinstance(record, dict) else None
        if not isinstance(chunk, dict) or record.get("type") != "chunk":
            continue
        place = ("data", "stream", index, "chunk")
        if chunk.get("type") == "block-start":
            _check_block_type(report, chunk.get("blockType"), (*place, "blockType"), event_type)
        elif chunk.get("type") == "block-end":
            block = chunk.get("block")
            kind = block.get("type") if isinstance(block, dict) else None
            _check_block_type(report, kind, (*place, "block"), event_type)


def _check_listed(report: Report, event_type: str, data: Mapping[str, Any]) -> None:
    """Messages that wait in an inbox, or were sent to name the session."""
    name = _LISTS[event_type]
    messages = data.get(name)
    if not report.holds("message/plugin-source"):
        return
    if not isinstance(messages, list):
        report.add("message/object", *member(data, name, "data"), type=event_type)
        return
    for index, message in enumerate(messages):
        _check_listed_message(report, message, ("data", name, index), event_type)


def _check_listed_message(report: Report, message: Any, place: Place, event_type: str) -> None:
    if not isinstance(message, dict):
        report.add("message/object", *place, type=event_type)
        return
    if _check_source(report, message, place, event_type):
        _check_producer(report, message["source"], (*place, "source"))
    if message.get("role") == _DEVELOPER_ROLE:
        report.add("developer/role", *place, "role", type=event_type, found=_DEVELOPER_ROLE)
    _check_content(report, message, "content", place, event_type)


def _check_content(
    report: Report, holder: Mapping[str, Any], name: str, place: Place, event_type: str
) -> None:
    blocks = holder.get(name)
    if isinstance(blocks, list):
        _check_blocks(report, blocks, (*place, name), event_type)


def _check_summary(report: Report, event_type: str, data: Mapping[str, Any]) -> None:
    for name in ("summary", "rawOutput"):
        _check_content(report, data, name, ("data",), event_type)


def _check_wrappers(report: Report, event_type: str, data: Mapping[str, Any]) -> None:
    """Content in which only the retired wrapper is refused."""
    holder: Any = data
    place: Place = ("data",)
    if event_type == "team/message/queued":
        holder, place = data.get("message"), ("data", "message")
    blocks = holder.get("content") if isinstance(holder, dict) else None
    for index, block in enumerate(blocks if isinstance(blocks, list) else ()):
        if isinstance(block, dict) and block.get("type") == _RETIRED_BLOCK:
            report.add("message/retired-tool-result", *place, "content", index, type=event_type)


_LISTS = {"agent/inbox/spliced": "inserted", "session/title-llm-request": "messages"}
_SPECIAL: Mapping[str, Callable[[Report, str, Mapping[str, Any]], None]] = {
    _ASSISTANT: _check_settlement,
    _ATTEMPT: _check_settlement,
    "agent/inbox/spliced": _check_listed,
    "session/title-llm-request": _check_listed,
    "compaction/summary": _check_summary,
    "tool/ptc-dispatch": _check_wrappers,
    "team/message/queued": _check_wrappers,
}
CHECKED = frozenset(_SPECIAL)
"""The types besides those of the surface whose data is looked at here."""
_SOURCES: Mapping[str, Callable[[Report, Mapping[str, Any], Place], None]] = {
    _SYSTEM: _system.check_source,
    _ASSISTANT: _check_model_source,
    _TOOL_RESULT: _check_tool_source,
}
