"""The surface: which events make up the message list, in which order (spec: session rules `surface/*`).

An event of a surface type is appended as a node, or replaces a range of nodes by itself. The order is that of the surface: a
replacing node stands where its range stood, whatever its number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from dsh_protocol.dialect import Dialect
from dsh_protocol.jsonvalue import JsonValue, equal
from dsh_protocol.rows import CitedRanges, decode_payloads, paused_gc, payload_members

from ._blocks import NodeSequence, NodeView, Position
from ._losses import Losses
from ._report import Report
from ._values import Verify
from .messages import ALWAYS_DERIVED, derive_message
from .prompts import Prompts

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

SYSTEM = "system/message"
_ASSISTANT = "assistant/message"
_TOOL_RESULT = "tool/result"
_OPERATION = "surfaceOp"
_SOURCES = "sourceEventSeqs"
_MOST_NAMED = 10
_MOST_AT_ONCE = 8192
"""Nodes whose messages are decoded together."""


class ReplacementJson(TypedDict):
    """The JSON form of a replacement."""

    seq: int
    type: str
    startSeq: int
    endSeq: int
    shadowed: list[int]


class SurfaceJson(TypedDict):
    """The JSON form of a surface, as `dsh-protocol surface --format json` prints it."""

    nodes: list[int]
    replaceGeneration: int
    contentGeneration: int
    replacements: list[ReplacementJson]


@dataclass(frozen=True, slots=True)
class Replacement:
    """One replacement of the past: the replacing event, the range it named and the nodes that stood there, in order."""

    seq: int
    type: str
    start_seq: int
    end_seq: int
    shadowed: tuple[int, ...]

    def to_json(self) -> ReplacementJson:
        """This replacement as a JSON object."""
        return {
            "seq": self.seq,
            "type": self.type,
            "startSeq": self.start_seq,
            "endSeq": self.end_seq,
            "shadowed": list(self.shadowed),
        }


@dataclass(frozen=True, slots=True)
class Append:
    """A planned change: the event becomes the last node."""


@dataclass(frozen=True, slots=True)
class Replace:
    """A planned change: the event takes the place of the nodes from `start` to `end`."""

    start: Position
    end: Position
    replacement: Replacement


@dataclass(frozen=True, slots=True)
class Project:
    """A planned change: these nodes derive another message from now on."""

    messages: Mapping[int, JsonValue]
    cost: int
    """The blocks that were looked at."""


Change: TypeAlias = Append | Replace | Project
Operation: TypeAlias = "str | Mapping[str, int]"


class _Source:
    """The events that are or were nodes, and the messages that they carry by themselves."""

    __slots__ = ("_answers", "_dialect", "_verify", "events")

    def __init__(self, dialect: Dialect, verify: Verify) -> None:
        self._dialect = dialect
        self._verify = verify
        self._answers: dict[int, Any] = {}
        self.events: dict[int, Event] = {}

    def derive(self, seqs: Iterable[int]) -> Iterator[Any]:
        """The message of each of these events, null for one without.

        Raises:
            RefusedError: an event is there, but its data carries no message.
        """
        events = [self.events[seq] for seq in seqs]
        with paused_gc():
            self._decode_answers([event for event in events if event.type == _ASSISTANT])
            decode_payloads([event for event in events if event.type != _ASSISTANT])
        return map(self._derive, events)

    def message(self, seq: int) -> Any:
        """The message of one event, null when it has none.

        Raises:
            KeyError: no event with this number ever was a node.
            RefusedError: the event is there, but its data carries no message.
        """
        (message,) = self.derive([seq])
        return message

    def have_messages(self, seqs: Iterable[int]) -> list[bool]:
        """Whether each of these events has a message; most need no look at their data."""
        events = [self.events[seq] for seq in seqs]
        asked = [event for event in events if event.type not in ALWAYS_DERIVED]
        self._decode_answers([event for event in asked if event.type == _ASSISTANT])
        decode_payloads([event for event in asked if event.type != _ASSISTANT])
        return [e.type in ALWAYS_DERIVED or self._derive(e) is not None for e in events]

    def _decode_answers(self, events: Sequence[Event]) -> None:
        """Read the messages of the model without the streams beside them, which are most of a log."""
        unread = [event for event in events if event.seq not in self._answers]
        for event, message in zip(unread, payload_members(unread, "message"), strict=True):
            self._answers[event.seq] = message

    def _derive(self, event: Event) -> Any:
        answer = self._answers.get(event.seq)
        data = event.data if answer is None else {"message": answer}
        message = derive_message(self._dialect, event.type, data)
        if message is False:
            self._verify(event)
        return message


def _growing(runs: Iterable[Sequence[int]]) -> Iterator[Sequence[int]]:
    """The same numbers in ever longer runs: who takes all messages decodes many at a time, which gives the collector of cycles
    few occasions to look at those that are there already."""
    pending: list[int] = []
    wanted = 1
    for run in runs:
        pending += run
        if len(pending) >= wanted:
            yield pending
            wanted, pending = min(2 * len(pending), _MOST_AT_ONCE), []
    if pending:
        yield pending


class MessageView:
    """The messages of a surface at one moment, derived when they are asked for; later changes do not reach it.

    Iterate over it, or make it a list. The messages are the objects of the log: read them, do not change them.
    """

    __slots__ = ("_nodes", "_projected", "_source")

    def __init__(
        self, nodes: NodeView, projected: Mapping[int, JsonValue], source: _Source
    ) -> None:
        self._nodes = nodes
        self._projected = projected
        self._source = source

    def __iter__(self) -> Iterator[Any]:
        projected = self._projected
        for seqs in _growing(self._nodes.runs()):
            derived = zip(seqs, self._source.derive(seqs), strict=True)
            for seq, message in derived:
                if message is not None:
                    yield projected.get(seq, message) if projected else message

    def __len__(self) -> int:
        return self._nodes.count(self._source.have_messages)

    @property
    def nodes(self) -> NodeView:
        """The nodes that the messages come from, those without a message included."""
        return self._nodes


class Surface:
    """The surface of a log: its nodes, its generations and what happened to it."""

    __slots__ = (
        "_dialect",
        "_projected",
        "_source",
        "content_generation",
        "nodes",
        "prompts",
        "prompts_replaced",
        "replace_generation",
        "replacements",
    )

    def __init__(self, dialect: Dialect, verify: Verify) -> None:
        self._dialect = dialect
        self._source = _Source(dialect, verify)
        self._projected: dict[int, JsonValue] = {}
        self.nodes = NodeSequence()
        self.prompts = Prompts(self.nodes, self._source.message)
        self.replace_generation = 0
        self.content_generation = 0
        self.prompts_replaced = 0
        self.replacements: list[Replacement] = []

    def messages(self) -> MessageView:
        """The message list as it stands now, for good: a later change of the surface does not reach it."""
        return MessageView(self.nodes.snapshot(), self._projected, self._source)

    @property
    def projections(self) -> int:
        """How many nodes derive another message than they carry."""
        return len(self._projected)

    def message(self, seq: int) -> Any:
        """The message of a node as it stands now, null when the node has none.

        Raises:
            KeyError: no event with this number ever was a node.
            RefusedError: the event is there, but carries no message.
        """
        return self._projected[seq] if seq in self._projected else self._source.message(seq)

    def type_of(self, seq: int) -> str:
        """The event type of a node, or of a former node.

        Raises:
            KeyError: no event with this number ever was a node.
        """
        return self._source.events[seq].type

    def events(self) -> Iterator[Event]:
        """The events of the nodes, in their order."""
        return map(self._source.events.__getitem__, self.nodes)

    @property
    def types(self) -> frozenset[str]:
        """The event types that become nodes."""
        return self._dialect.surface_types

    def to_json(self) -> SurfaceJson:
        """This surface as a JSON object."""
        return {
            "nodes": list(self.nodes),
            "replaceGeneration": self.replace_generation,
            "contentGeneration": self.content_generation,
            "replacements": [entry.to_json() for entry in self.replacements],
        }

    def plan(
        self,
        report: Report,
        event: Event,
        operation: Operation,
        sources: Collection[int] | None,
        losses: Losses,
        *,
        compare: bool,
    ) -> Change | None:
        """What a surface event with a well-formed operation would do; null when it cannot do it.

        `sources` is null when the cited events are malformed, so that what they leave out says
        nothing. Without `compare` the data is malformed, so that other data says nothing about it.
        """
        self._check_head(report, event, losses)
        if not isinstance(operation, Mapping):
            return Append()
        start_key, end_key = self._dialect.replace_keys
        start_seq, end_seq = operation[start_key], operation[end_key]
        start = self._endpoint(report, start_key, start_seq, losses)
        end = start if end_seq == start_seq else self._endpoint(report, end_key, end_seq, losses)
        if start is None or end is None:
            return None
        if start > end:
            report.add("surface/range-order", _OPERATION, start=start_seq, end=end_seq)
            return None
        shadowed = self.nodes.between(start, end)
        if sources is not None:
            self._check_covered(report, shadowed, sources, losses)
        if event.type == _TOOL_RESULT:
            self._check_rewrite(report, event, shadowed, compare=compare)
        if shadowed[0] == self.nodes.first():
            self._check_protected(report, event, shadowed)
        made = Replacement(event.seq, event.type, start_seq, end_seq, tuple(shadowed))
        return Replace(start, end, made)

    def apply(self, event: Event, change: Change) -> None:
        """Carry out a planned change."""
        if isinstance(change, Project):
            # A new dict: message views hold the old one.
            self._projected = {**self._projected, **change.messages}
            self.content_generation += 1
            return
        self._source.events[event.seq] = event
        prompt = event.seq if event.type == SYSTEM else None
        if isinstance(change, Append):
            self.nodes.append(event.seq)
            if prompt is not None:
                self.prompts.append(prompt)
            return
        self.prompts.replace(change.start, change.end, change.replacement.shadowed, prompt)
        self.nodes.replace(change.start, change.end, event.seq)
        self.replacements.append(change.replacement)
        self.replace_generation += 1
        self.prompts_replaced += prompt is not None
        self.content_generation += 1

    def append(self, event: Event) -> None:
        """Add a node of which nothing is left to check, and which is no system prompt."""
        self._source.events[event.seq] = event
        self.nodes.append(event.seq)

    def _check_head(self, report: Report, event: Event, losses: Losses) -> None:
        """A system message needs a system message at node 0, unless the surface is empty."""
        head = self.nodes.first()
        if event.type != SYSTEM or head is None or self._source.events[head].type == SYSTEM:
            return
        report.add("surface/head-first", because=losses.head)

    def _endpoint(self, report: Report, key: str, seq: int, losses: Losses) -> Position | None:
        position = self.nodes.position(seq)
        if position is None:
            because = losses.blame(seq, self.types)
            report.add("surface/range-on-surface", _OPERATION, key, because=because, found=seq)
        return position

    @staticmethod
    def _check_covered(
        report: Report, shadowed: list[int], sources: Collection[int], losses: Losses
    ) -> None:
        cited = sources if isinstance(sources, CitedRanges) else set(sources)
        missing = [seq for seq in shadowed if seq not in cited]
        if missing:
            because = losses.blame_uncited(missing)
            place = (_SOURCES,) if sources else ()
            first = missing[:_MOST_NAMED]
            report.add(
                "surface/range-covered", *place, because=because, count=len(missing), missing=first
            )

    def _check_rewrite(
        self, report: Report, event: Event, shadowed: list[int], *, compare: bool
    ) -> None:
        """A tool result may only rewrite the content of one tool result."""
        if len(shadowed) != 1:
            report.add("surface/tool-rewrite-single", _OPERATION, count=len(shadowed))
            return
        original = self._source.events[shadowed[0]]
        if original.type != _TOOL_RESULT:
            report.add("surface/tool-rewrite-kind", _OPERATION, type=original.type)
            return
        kept = self._without_content(original.data)
        if compare and not equal(kept, self._without_content(event.data)):
            report.add("surface/tool-rewrite-content", "data", original=original.seq)

    def _without_content(self, data: Any) -> Any:
        """The data of a tool result with the content that a rewrite may change taken out."""
        message = self._dialect.message(_TOOL_RESULT, data)
        if not isinstance(message, dict):
            return data
        if self._dialect.tool_result_shape == "tool-role":
            return {**data, "message": {**message, "content": None}}
        content = message.get("content")
        block = content[0] if isinstance(content, list) and content else None
        bare = {**block, "content": None} if isinstance(block, dict) else None
        return {**data, "message": {**message, "content": [bare]}}

    def _check_protected(self, report: Report, event: Event, shadowed: list[int]) -> None:
        """The system prompt at node 0 gives way to a single system message and to nothing else."""
        if self._source.events[shadowed[0]].type != SYSTEM:
            return
        if event.type != SYSTEM or len(shadowed) != 1:
            report.add("surface/head-protected", _OPERATION)
