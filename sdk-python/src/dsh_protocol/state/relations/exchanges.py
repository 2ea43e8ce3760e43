"""Whether a model provider takes the message list: calls and their results next to each other (rules `wire/*`).

This is about the list as it stands in the end, after compactions and other replacements, and holds for both wires: chat
completions ask for results right behind the message with the calls, Messages for results before the next assistant message.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dsh_protocol.dialect import Dialect
from dsh_protocol.state._report import Report
from dsh_protocol.state.surface import Replace, Surface

from ._scene import MISSING, key
from .calls import Calls

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_ASSISTANT = "assistant/message"
_TOOL_RESULT = "tool/result"
_SILENT = frozenset({_ASSISTANT, "developer/message", "system/message"})
"""The types whose message is no part of the list when it is empty."""


def check_messages(
    dialect: Dialect, surface: Surface, running: Mapping[Hashable, Any]
) -> list[Report]:
    """What a model provider would mind in the message list. `running` are the calls of the step that is still open."""
    group = _Group(dialect.version)
    for event in surface.events():
        message = dialect.message(event.type, event.data)
        content = message.get("content") if isinstance(message, dict) else None
        if event.type == _TOOL_RESULT:
            group.answer(event, _answered(dialect, message))
        elif content != [] or event.type not in _SILENT:
            group.leave({})
            group.open(event, _called(content) if event.type == _ASSISTANT else [])
    group.leave(running)
    return group.reports


def running_calls(dialect: Dialect, events: Iterable[Event]) -> Mapping[Hashable, Any]:
    """The calls that still run at the end of a log with these events."""
    calls = Calls(dialect)
    for event in events:
        if event.type in calls.entered and isinstance(event.data, dict):
            calls.enter_of(event.type)(event, event.data, None)
    return calls.pending


def keeps_exchanges(surface: Surface, event: Event, change: Replace) -> bool:
    """Whether a replacement, which the surface has carried out, leaves every result behind its call for sure."""
    gone = change.replacement.shadowed
    if event.type == _TOOL_RESULT:
        # It keeps the id that it answers.
        return True
    following = surface.nodes.following(event.seq)
    types = [surface.type_of(seq) for seq in (gone[0], following) if seq is not None]
    return event.type != _ASSISTANT and _TOOL_RESULT not in types


def _called(content: Any) -> list[Any]:
    blocks = content if isinstance(content, list) else []
    return [
        block.get("id", MISSING)
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "tool-call"
    ]


def _answered(dialect: Dialect, message: Any) -> Any:
    if not isinstance(message, dict):
        return MISSING
    if dialect.tool_result_shape == "tool-role":
        return message.get("toolCallId", MISSING)
    content = message.get("content")
    block = content[0] if isinstance(content, list) and content else None
    return block.get("toolCallId", MISSING) if isinstance(block, dict) else MISSING


class _Group:
    """One assistant message and the results behind it."""

    __slots__ = ("_answered", "_left", "_missed", "_owner", "_version", "reports")

    def __init__(self, version: int) -> None:
        self._version = version
        self._owner: Event | None = None
        self._left: dict[Hashable, Any] = {}
        self._answered: set[Hashable] = set()
        self._missed: dict[Hashable, int] = {}
        """Per call that went unanswered, the message that has it."""
        self.reports: list[Report] = []

    def open(self, event: Event, calls: Sequence[Any]) -> None:
        """Begin with the next message that is no result."""
        self._owner = event
        self._answered = set()
        for call in calls:
            if key(call) in self._left:
                self._add("wire/call-repeated", event, call)
            self._left[key(call)] = call

    def answer(self, event: Event, call: Any) -> None:
        """Take a result in."""
        id_ = key(call)
        if id_ in self._left:
            del self._left[id_]
            self._answered.add(id_)
        elif id_ in self._answered:
            self._add("wire/result-repeated", event, call)
        else:
            self._add("wire/result-unexpected", event, call, self._missed.pop(id_, None))

    def leave(self, running: Mapping[Hashable, Any]) -> None:
        """End the group."""
        for id_, call in self._left.items():
            if id_ not in running and self._owner is not None:
                self._add("wire/call-unanswered", self._owner, call)
                self._missed[id_] = self._owner.seq
        self._left = {}

    def _add(self, rule_id: str, event: Event, call: Any, because: int | None = None) -> None:
        report = Report(self._version, event.seq, event.line)
        shown = None if call is MISSING else call
        report.add(rule_id, because=because, call=shown)
        self.reports.append(report)
