"""Tool changes that are told to the model: `developer/message` of format 4 (rules `developer/*`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.jsonvalue import is_count

from ._losses import Losses
from ._report import Report
from ._values import count, is_positive, is_text, member

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

ADDITION = "tool-addition"
REMOVAL = "tool-removal"
CHANGES = frozenset({ADDITION, REMOVAL})
_HEADER = "request/header"


def check(report: Report, data: Mapping[str, Any], message: Mapping[str, Any]) -> None:
    """Look at what a developer/message says by itself."""
    for name in ("turn", "step"):
        if not is_positive(data.get(name)):
            report.add("developer/turn", *member(data, name, "data"), member=name)
    check_changes(report, data, message)


def check_changes(report: Report, data: Mapping[str, Any], message: Mapping[str, Any]) -> None:
    """Look at the tool changes of a developer/message and at the header that it names for them."""
    adds = False
    for index, block in changes(message):
        place = ("data", "message", "content", index)
        adds = adds or block["type"] == ADDITION
        if not is_text(block.get("toolName")):
            report.add("developer/tool-name", *member(block, "toolName", *place))
        if block["type"] == ADDITION and "tool" in block:
            report.add("developer/inline-tool", *place, "tool")
    if adds and not is_count(data.get("headerSeq")):
        report.add("developer/header-seq", *member(data, "headerSeq", "data"), expected="a count")
    elif not adds and "headerSeq" in data:
        report.add("developer/header-seq", "data", "headerSeq", expected="absent")


def check_header(
    report: Report, data: Mapping[str, Any], headers: Mapping[int, Event], losses: Losses
) -> None:
    """Look the added tools up in the header that a well-formed developer/message names."""
    header_seq = count(data.get("headerSeq"))
    if header_seq is None:
        return
    header = headers.get(header_seq)
    if header is None:
        because = losses.blame(header_seq, (_HEADER,))
        place = ("data", "headerSeq")
        report.add("developer/header-seq-target", *place, because=because, found=header_seq)
        return
    additions = [(i, block) for i, block in changes(data["message"]) if block["type"] == ADDITION]
    declared = _declared(header.data["header"].get("tools"))
    for index, block in additions:
        if block["toolName"] in declared:
            continue
        place_of_block = ("data", "message", "content", index)
        name = block["toolName"]
        report.add("developer/addition-declared", *place_of_block, header=header_seq, name=name)


def changes(message: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The tool changes of a message, each with its index in the content."""
    content = message.get("content")
    for index, block in enumerate(content if isinstance(content, list) else ()):
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(kind, str) and kind in CHANGES:
            yield index, block


def _declared(tools: Any) -> set[str]:
    """The names that a header's tools declare exactly once, and completely."""
    entries = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    times = Counter(name for tool in entries if is_text(name := tool.get("name")))
    return {tool["name"] for tool in entries if times[_name(tool)] == 1 and _is_complete(tool)}


def _name(tool: Mapping[str, Any]) -> str:
    name = tool.get("name")
    return name if is_text(name) else ""


def _is_complete(tool: Mapping[str, Any]) -> bool:
    return (
        isinstance(tool.get("description"), str)
        and isinstance(tool.get("parameters"), dict)
        and tool.get("deferLoading", True) is True
    )
