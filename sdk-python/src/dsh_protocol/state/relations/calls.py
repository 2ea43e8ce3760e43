"""Tool calls: each is advertised by an assistant message, starts once and has one result before its step ends.

Rules `tool/*` and `step/unresolved-call`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.dialect import Dialect
from dsh_protocol.state._values import is_text, member

from . import repairs
from ._scene import MISSING, Aspect, Check, Enter, Scene, key, same
from .turns import STEP_END, TOOL_RESULT, TURN_END, TURN_START

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_ASSISTANT = "assistant/message"
_CALL = "tool/call"
_APPEND = "append"
_OTHERS = frozenset({"developer/message", "system/message", "user/message"})
"""The types of messages that have nothing to do with calls."""
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
    entered = checked | _OTHERS | {TURN_START}

    __slots__ = ("_dialect", "_dropped", "_settled", "doubt", "parted", "pending")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.pending: dict[Hashable, Call] = {}
        self._settled: dict[Hashable, int | None] = {}
        """The calls of this step that have a result, and the number of the result if it was refused."""
        self._dropped: dict[Hashable, int] = {}
        """The calls that an end left without a result, for which it was refused."""
        self.parted = False
        """Whether another message may have come between a call and its result, as the list stands."""
        self.doubt: int | None = None
        """The event because of which calls of this step may be unknown."""

    def check_of(self, event_type: str) -> Check:
        """What checks an advertisement, a start, a result or an end."""
        checks = {
            _ASSISTANT: self._check_advertised,
            _CALL: self._check_start,
            TOOL_RESULT: self._check_any_result,
        }
        return checks.get(event_type, self._check_settled)

    def enter_of(self, event_type: str) -> Enter:
        """What advertises, starts or settles what an event names."""
        if event_type in _OTHERS:
            return self._pass
        enters = {_ASSISTANT: self._advertise, _CALL: self._start, TOOL_RESULT: self._settle}
        return enters.get(event_type, self._end)

    def lose(self, blame: int, /) -> None:
        """Rows are missing that may have been calls or results."""
        if self.doubt is None:
            self.doubt = blame

    def _pass(self, _event: Event, _data: Mapping[str, Any], _blame: int | None, /) -> None:
        if self.pending:
            self.parted = True

    def _advertise(self, _event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        if self.pending:
            self.parted = True
        content = _content(data)
        if isinstance(content, list):
            for block in content:
                if isinstance(block, dict) and block.get("type") == _BLOCK:
                    id_ = block.get("id", MISSING)
                    self.pending.setdefault(key(id_), Call(id_, block, blame))
        elif blame is not None:
            self.lose(blame)

    def _start(self, _event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        id_ = data.get("callId", MISSING)
        call = self.pending.get(key(id_))
        if call is None:
            call = self.pending[key(id_)] = Call(id_, data, blame)
            if blame is not None:
                self.lose(blame)
        call.started = True

    def _settle(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        if event.surface_op != _APPEND:
            return
        id_ = key(self._answered(data))
        known = self.pending.pop(id_, None) is not None or id_ in self._settled
        self._settled.setdefault(id_, blame)
        if blame is not None and not known and id_ not in self._dropped:
            self.lose(blame)

    def _end(self, _event: Event, _data: Mapping[str, Any], blame: int | None, /) -> None:
        if blame is None or not self.pending:
            self._dropped.clear()
        else:
            self._dropped = dict.fromkeys(self.pending, blame)
        self.pending.clear()
        self._settled.clear()
        self.doubt = None

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
        content = _content(scene.data)
        seen: set[Hashable] = set()
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if not isinstance(block, dict) or block.get("type") != _BLOCK:
                continue
            id_ = block.get("id", MISSING)
            if not is_text(id_) and scene.report.holds("tool/call-id"):
                place = member(block, "id", "data", "message", "content", index)
                scene.report.add("tool/call-id", *place, found=block.get("id"))
                continue
            known_as = key(id_)
            known = self.pending.get(known_as)
            if known is not None or known_as in seen:
                place = member(block, "id", "data", "message", "content", index)
                why = None if known is None else known.blame
                scene.report.add("tool/call-repeated", *place, because=why, call=block.get("id"))
                # A copy of the message repeats all of its calls: once is enough.
                return
            seen.add(known_as)

    def _check_start(self, scene: Scene) -> None:
        data = scene.data
        id_ = data.get("callId", MISSING)
        call = self.pending.get(key(id_))
        shown = None if id_ is MISSING else id_
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

    def _check_any_result(self, scene: Scene) -> None:
        error = scene.data.get("error")
        is_odd = "error" in scene.data and not isinstance(error, dict)
        if is_odd and not scene.reported("data", "error"):
            scene.report.add("tool/error-object", "data", "error", found=error)
        if scene.event.surface_op == _APPEND:
            self._check_result(scene)

    def _check_result(self, scene: Scene) -> None:
        id_ = self._answered(scene.data)
        call = self.pending.get(key(id_))
        if (call is not None and call.started) or _is_malformed(scene):
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
