"""Whether a model provider takes the message list: calls and their results next to each other (rules `wire/*`).

This is about the list as it stands in the end, after compactions and other replacements, and holds for both wires: chat
completions ask for results right behind the message with the calls, Messages for results before the next assistant message.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.dialect import Dialect
from dsh_protocol.state._report import Report
from dsh_protocol.state.surface import Surface

from ._scene import MISSING, Aspect, key
from .calls import Calls

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_ASSISTANT = "assistant/message"
_TOOL_RESULT = "tool/result"
_SILENT = frozenset({_ASSISTANT, "developer/message", "system/message"})
"""The types whose message is no part of the list when it is empty."""


class Exchanges(Aspect):
    """What each node of the surface has to do with tool calls: the ids it calls, the id it answers, or nothing."""

    __slots__ = ("_answers", "_calls", "_dialect", "_lines", "_silent", "entered")

    def __init__(self, dialect: Dialect) -> None:
        self.entered = dialect.surface_types
        self._dialect = dialect
        self._calls: dict[int, tuple[Any, ...]] = {}
        self._answers: dict[int, Any] = {}
        self._silent: set[int] = set()
        self._lines: dict[int, int | None] = {}

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Take a node of the surface in. A refused event is none."""
        if blame is not None:
            return
        message = self._dialect.message(event.type, data)
        content = message.get("content") if isinstance(message, dict) else None
        if event.type == _TOOL_RESULT:
            self._answers[event.seq] = self._answered(message)
            self._lines[event.seq] = event.line
            return
        if event.type in _SILENT and content == []:
            self._silent.add(event.seq)
        if event.type == _ASSISTANT and isinstance(content, list):
            calls = tuple(block.get("id", MISSING) for block in content if _is_call(block))
            if calls:
                self._calls[event.seq] = calls
                self._lines[event.seq] = event.line

    def judge(self, nodes: Iterable[int], running: Mapping[Hashable, Any]) -> list[Report]:
        """What a provider would mind in the list of these nodes. `running` are the calls of the step that is still open."""
        group = _Group(self._dialect.version, self._lines)
        for seq in nodes:
            if seq in self._answers:
                group.answer(seq, self._answers[seq])
            elif seq not in self._silent:
                group.leave({})
                group.open(seq, self._calls.get(seq, ()))
        group.leave(running)
        return group.reports

    def _answered(self, message: Any) -> Any:
        if not isinstance(message, dict):
            return MISSING
        if self._dialect.tool_result_shape == "tool-role":
            return message.get("toolCallId", MISSING)
        content = message.get("content")
        block = content[0] if isinstance(content, list) and content else None
        return block.get("toolCallId", MISSING) if isinstance(block, dict) else MISSING


def check_messages(dialect: Dialect, surface: Surface, events: Iterable[Event]) -> list[Report]:
    """What a model provider would mind in the message list of a surface that the events of a log, all of them, have made."""
    exchanges, calls = Exchanges(dialect), Calls(dialect)
    for event in events:
        for aspect in (calls, exchanges):
            if event.type in aspect.entered and isinstance(event.data, dict):
                aspect.enter(event, event.data, None)
    return exchanges.judge(surface.nodes, calls.pending)


class _Group:
    """One assistant message and the results behind it."""

    __slots__ = ("_answered", "_left", "_lines", "_missed", "_owner", "_version", "reports")

    def __init__(self, version: int, lines: Mapping[int, int | None]) -> None:
        self._version = version
        self._lines = lines
        self._owner = -1
        self._left: dict[Hashable, Any] = {}
        self._answered: set[Hashable] = set()
        self._missed: dict[Hashable, int] = {}
        """Per call that went unanswered, the message that has it."""
        self.reports: list[Report] = []

    def open(self, seq: int, calls: tuple[Any, ...]) -> None:
        """Begin with the next message that is no result."""
        self._owner = seq
        self._answered = set()
        for call in calls:
            if key(call) in self._left:
                self._add("wire/call-repeated", seq, call)
            self._left[key(call)] = call

    def answer(self, seq: int, call: Any) -> None:
        """Take a result in."""
        id_ = key(call)
        if self._left.pop(id_, None) is not None:
            self._answered.add(id_)
        elif id_ in self._answered:
            self._add("wire/result-repeated", seq, call)
        else:
            self._add("wire/result-unexpected", seq, call, self._missed.pop(id_, None))

    def leave(self, running: Mapping[Hashable, Any]) -> None:
        """End the group."""
        for id_, call in self._left.items():
            if id_ not in running:
                self._add("wire/call-unanswered", self._owner, call)
                self._missed[id_] = self._owner
        self._left = {}

    def _add(self, rule_id: str, seq: int, call: Any, because: int | None = None) -> None:
        report = Report(self._version, seq, self._lines.get(seq))
        shown = None if call is MISSING else call
        report.add(rule_id, because=because, call=shown)
        self.reports.append(report)


def _is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool-call"
