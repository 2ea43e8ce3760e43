"""Tool calls: each is advertised by an assistant message, starts once and has one result before its step ends.

Rules `tool/*` and `step/unresolved-call`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.dialect import Dialect
from dsh_protocol.state._values import is_text, member

from . import repairs
from ._scene import MISSING, Aspect, Scene, key, same
from .turns import STEP_END, TOOL_RESULT, TURN_END, TURN_START

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_ASSISTANT = "assistant/message"
_CALL = "tool/call"
_APPEND = "append"
_BLOCK = "tool-call"
_COPIED = ("name", "arguments")


class Call:
    """A call that waits for its result, as the assistant message advertised it."""

    __slots__ = ("arguments", "blame", "id", "name", "started")

    def __init__(self, id_: Any, told: Mapping[str, Any], blame: int | None) -> None:
        self.id = id_
        self.name = told.get("name", MISSING)
        self.arguments = told.get("arguments", MISSING)
        self.started = False
        self.blame = blame
        """The refused event that made this call known."""


class Calls(Aspect):
    """The calls of the open step that wait for their results, in the order of their advertisement."""

    checked = frozenset({_ASSISTANT, _CALL, TOOL_RESULT, STEP_END, TURN_END})
    entered = checked | {TURN_START}

    __slots__ = ("_dialect", "_dropped", "_settled", "doubt", "pending")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.pending: dict[Hashable, Call] = {}
        self._settled: dict[Hashable, int | None] = {}
        """The calls of this step that have a result, and the number of the result if it was refused."""
        self._dropped: dict[Hashable, int] = {}
        """The calls that an end left without a result, for which it was refused."""
        self.doubt: int | None = None
        """The event because of which calls of this step may be unknown."""

    def check(self, scene: Scene) -> None:
        """Report what is wrong with an advertisement, a start, a result or an end."""
        kind = scene.type
        if kind == _ASSISTANT:
            self._check_advertised(scene)
        elif kind == _CALL:
            self._check_start(scene)
        elif kind == TOOL_RESULT:
            error = scene.data.get("error", {})
            if not isinstance(error, dict) and not scene.reported("data", "error"):
                scene.report.add("tool/error-object", "data", "error", found=error)
            repairs.check_fork(scene)
            if scene.event.surface_op == _APPEND:
                self._check_result(scene)
        elif self.pending:
            self._check_settled(scene)

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Advertise, start or settle what the event names."""
        kind = event.type
        if kind == _ASSISTANT:
            for _, block in _advertised(data):
                id_ = block.get("id", MISSING)
                self.pending.setdefault(key(id_), Call(id_, block, blame))
            if blame is not None and not isinstance(_content(data), list):
                self.lose(blame)
        elif kind == _CALL:
            self._start(data, blame)
        elif kind == TOOL_RESULT:
            if event.surface_op == _APPEND:
                self._settle(key(self._answered(data)), blame)
        else:
            self._dropped = {} if blame is None else dict.fromkeys(self.pending, blame)
            self.pending.clear()
            self._settled.clear()
            self.doubt = None

    def lose(self, blame: int, /) -> None:
        """Rows are missing that may have been calls or results."""
        if self.doubt is None:
            self.doubt = blame

    def _start(self, data: Mapping[str, Any], blame: int | None, /) -> None:
        id_ = data.get("callId", MISSING)
        call = self.pending.get(key(id_))
        if call is None:
            call = self.pending[key(id_)] = Call(id_, data, blame)
            if blame is not None:
                self.lose(blame)
        call.started = True

    def _settle(self, id_: Hashable, blame: int | None) -> None:
        known = self.pending.pop(id_, None) is not None or id_ in self._settled
        self._settled.setdefault(id_, blame)
        if blame is not None and not known and id_ not in self._dropped:
            self.lose(blame)

    def _answered(self, data: Mapping[str, Any]) -> Any:
        """The id of the call that a result answers."""
        message = data.get("message")
        if not isinstance(message, dict):
            return MISSING
        if self._dialect.tool_result_shape == "tool-role":
            return message.get("toolCallId", MISSING)
        source = message.get("source")
        return source.get("callId", MISSING) if isinstance(source, dict) else MISSING

    def _check_advertised(self, scene: Scene) -> None:
        seen: set[Hashable] = set()
        for index, block in _advertised(scene.data):
            id_ = block.get("id", MISSING)
            place = member(block, "id", "data", "message", "content", index)
            if not is_text(id_) and scene.report.holds("tool/call-id"):
                scene.report.add("tool/call-id", *place, found=block.get("id"))
                continue
            known = self.pending.get(key(id_))
            if known is not None or key(id_) in seen:
                why = None if known is None else known.blame
                scene.report.add("tool/call-repeated", *place, because=why, call=block.get("id"))
                # A copy of the message repeats all of its calls: once is enough.
                return
            seen.add(key(id_))

    def _check_start(self, scene: Scene) -> None:
        data = scene.data
        id_ = data.get("callId", MISSING)
        call = self.pending.get(key(id_))
        shown = data.get("callId")
        if call is None:
            place = member(data, "callId", "data")
            settled = self._settled.get(key(id_))
            why = scene.why(self.doubt) if settled is None else settled
            scene.report.add("tool/call-unadvertised", *place, because=why, call=shown)
            return
        if call.started:
            why = call.blame
            scene.report.add("tool/call-started-twice", "data", "callId", because=why, call=shown)
            return
        for name in _COPIED:
            if not same(getattr(call, name), data.get(name, MISSING)):
                place, why = member(data, name, "data"), call.blame
                scene.report.add("tool/call-changed", *place, because=why, call=shown, member=name)

    def _check_result(self, scene: Scene) -> None:
        if _is_malformed(scene):
            return
        id_ = self._answered(scene.data)
        call = self.pending.get(key(id_))
        if call is not None and call.started:
            return
        shown = None if id_ is MISSING else id_
        if call is None:
            place = self._id_place()
            why = self._why_unexpected(scene, key(id_))
            claimed = repairs.is_claimed(scene.data)
            rule_id = "tool/repair-unexpected" if claimed else "tool/result-unexpected"
            scene.report.add(rule_id, *place, because=why, call=shown)
        elif not repairs.is_claimed(scene.data):
            why = scene.why(self.doubt)
            scene.report.add("tool/result-not-started", because=why, call=shown)
        else:
            repairs.check(scene, self._dialect, id_, scene.why(self.doubt))

    def _why_unexpected(self, scene: Scene, id_: Hashable) -> int | None:
        """What a result for no pending call follows from; a second result for one call from nothing."""
        if id_ in self._settled:
            return None
        return self._dropped[id_] if id_ in self._dropped else scene.why(self.doubt)

    def _id_place(self) -> tuple[str, ...]:
        if self._dialect.tool_result_shape == "tool-role":
            return ("data", "message", "toolCallId")
        return ("data", "message", "source", "callId")

    def _check_settled(self, scene: Scene) -> None:
        for call in self.pending.values():
            why = scene.why(self.doubt) if call.blame is None else call.blame
            shown = None if call.id is MISSING else call.id
            scene.report.add("step/unresolved-call", because=why, type=scene.type, call=shown)


def _content(data: Mapping[str, Any]) -> Any:
    message = data.get("message")
    return message.get("content") if isinstance(message, dict) else None


def _advertised(data: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The tool-call blocks of an assistant message, with their places."""
    content = _content(data)
    if isinstance(content, list):
        for index, block in enumerate(content):
            if isinstance(block, dict) and block.get("type") == _BLOCK:
                yield index, block


def _is_malformed(scene: Scene) -> bool:
    """Whether a rule about the message itself makes it pointless to ask which call it answers."""
    return any(found.rule in _MALFORMED for found in scene.report.findings)


_MALFORMED = frozenset(
    {
        "message/object",
        "message/source",
        "message/tool-call-id",
        "message/tool-result-shape",
        "message/tool-source",
    }
)
