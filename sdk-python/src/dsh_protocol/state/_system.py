"""What released readers ask of a system/message beyond what they ask of every message.

They look at its blocks, which they do in no other message, and in format 3 they refuse members that they do not know.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from dsh_protocol.jsonvalue import is_count

from ._report import Report
from ._values import is_positive, is_text, member

Place: TypeAlias = tuple[str | int, ...]
Json: TypeAlias = Mapping[str, Any]

_SOURCE_KIND = "system-prompt"
_OLD_SOURCE_KIND = "plugin"
_CHECKPOINT_PLUGIN = "compact"
_FORMS = frozenset({"instructions", "catalog", "snapshot", "notice", "relay", "recall"})
_MEDIA_TYPES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
_RESULT = "tool-result"


def check(report: Report, data: Json, message: Json) -> None:
    """Look at the turn, the members and the content of a system/message."""
    for name in ("turn", "step"):
        if not is_positive(data.get(name)):
            report.add("message/system-turn", *member(data, name, "data"), member=name)
    _members(report, data, ("turn", "step", "message"), ("data",))
    place = ("data", "message")
    _members(report, message, ("id", "role", "source", "content"), place)
    content = message.get("content")
    if isinstance(content, list):
        _check_blocks(report, content, (*place, "content"))


def check_source(report: Report, source: Json, place: Place) -> None:
    """Look at the source of a system message."""
    if report.holds("message/plugin-source"):
        if source["kind"] != _SOURCE_KIND:
            report.add("message/system-source", *place, expected=f"of kind {_SOURCE_KIND}")
        return
    if source["kind"] != _OLD_SOURCE_KIND or not is_text(source.get("plugin")):
        report.add("message/system-source", *place, expected="of kind plugin and name its plugin")
        return
    ids = ("compactionId", "sourceCommandId") if source["plugin"] == _CHECKPOINT_PLUGIN else ()
    _members(report, source, ("kind", "plugin", "form", "sections", "summary", *ids), place)
    if not _is_context(source) or not _is_checkpoint(source):
        report.add("message/system-source", *place, expected="a plugin source in one of its forms")


def _is_checkpoint(source: Json) -> bool:
    if source["plugin"] != _CHECKPOINT_PLUGIN:
        return True
    return is_text(source.get("compactionId")) and is_text(source.get("sourceCommandId", "-"))


def _is_context(source: Json) -> bool:
    """Whether form, sections and summary fit each other."""
    if "form" not in source:
        return True
    form = source["form"]
    if not isinstance(form, str) or form not in _FORMS:
        return False
    if ("sections" in source) != (form == "snapshot") or ("summary" in source) != (
        form == "notice"
    ):
        return False
    return _are_sections(source.get("sections", [])) and isinstance(source.get("summary", ""), str)


def _are_sections(sections: Any) -> bool:
    return isinstance(sections, list) and all(
        isinstance(section, dict)
        and section.keys() == {"name", "text"}
        and is_text(section["name"])
        and isinstance(section["text"], str)
        for section in sections
    )


def _members(report: Report, holder: Json, known: Collection[str], place: Place) -> None:
    for name in holder:
        if name not in known:
            report.add("message/system-members", *place, name, member=name)


def _check_blocks(report: Report, blocks: list[Any], place: Place) -> None:
    for index, block in enumerate(blocks):
        _check_block(report, block, (*place, index))


def _check_block(report: Report, block: Any, place: Place) -> None:
    if not isinstance(block, dict) or not is_text(block.get("type")):
        report.add("message/system-content", *place)
        return
    kind = block["type"]
    if kind == _RESULT and report.holds("message/retired-tool-result"):
        return
    if kind not in _BLOCKS:
        return
    known, is_well_formed = _BLOCKS[kind]
    _members(report, block, ("type", *known), place)
    if not is_well_formed(block):
        report.add("message/system-content", *place)
    elif kind == "image":
        _check_attachment_members(report, block["attachment"], (*place, "attachment"))
    elif kind == _RESULT:
        _check_blocks(report, block["content"], (*place, "content"))


def _check_attachment_members(report: Report, attachment: Json, place: Place) -> None:
    known = ("attachmentId", "mediaType", "bytes", "width", "height", "name", "originalDimensions")
    _members(report, attachment, known, place)
    original = attachment.get("originalDimensions", {})
    _members(report, original, ("width", "height"), (*place, "originalDimensions"))


def _is_prose(block: Json) -> bool:
    return isinstance(block.get("text"), str)


def _is_call(block: Json) -> bool:
    named = is_text(block.get("id")) and is_text(block.get("name"))
    return named and isinstance(block.get("arguments"), str)


def _is_image(block: Json) -> bool:
    attachment = block.get("attachment")
    if not isinstance(attachment, dict):
        return False
    kind = attachment.get("mediaType")
    return (
        is_text(attachment.get("attachmentId"))
        and isinstance(kind, str)
        and kind in _MEDIA_TYPES
        and is_count(attachment.get("bytes"))
        and _is_size(attachment)
        and isinstance(attachment.get("name", ""), str)
        and _is_size(attachment.get("originalDimensions", attachment))
    )


def _is_size(holder: Any) -> bool:
    return (
        isinstance(holder, dict)
        and is_positive(holder.get("width"))
        and is_positive(holder.get("height"))
    )


def _is_result(block: Json) -> bool:
    return (
        is_text(block.get("toolCallId"))
        and isinstance(block.get("content"), list)
        and isinstance(block.get("isError", False), bool)
    )


_BLOCKS: Mapping[str, tuple[tuple[str, ...], Callable[[Json], bool]]] = {
    "text": (("text",), _is_prose),
    "reasoning": (("text",), _is_prose),
    "tool-call": (("id", "name", "arguments"), _is_call),
    "image": (("attachment",), _is_image),
    _RESULT: (("toolCallId", "content", "isError"), _is_result),
}
"""Per block type that is looked at: its members besides type, and what makes it well-formed."""
