"""Model requests, rebuilt from a log: one for each settlement.

A settlement (`assistant/message` or `assistant/attempt`) ends one request, and that request is a
function of the events before it: the messages of the surface, the header in force, and (format 4)
what the model was told about its tools.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .findings import RefusedError, UsageError
from .state import LogState, MessageView, header_equals, inherited_event_count

if TYPE_CHECKING:
    from .rows import Event, Log

Json: TypeAlias = dict[str, Any]
Kind: TypeAlias = Literal["message", "attempt"]
Change: TypeAlias = Literal[
    "first",
    "prompt-replaced",
    "prompt-appended",
    "config-or-tools",
    "history-replaced",
    "images-offloaded",
    "nothing",
]

_KINDS: dict[str, Kind] = {"assistant/message": "message", "assistant/attempt": "attempt"}
_PROMPT = "system/message"
_DEVELOPER = "developer/message"
_CONFIG = ("provider", "model", "reasoningEffort", "temperature", "maxTokens", "stop")


@dataclass(frozen=True, slots=True)
class _Moment:
    """How far the log had come when a request was made."""

    header: Event | None
    context: Event | None
    told: int
    prompts_appended: int
    prompts_replaced: int
    others_replaced: int
    offloads: int


class ModelRequest:
    """The request that one settlement ended. Payloads are decoded when they are asked for.

    `index` counts the session's own settlements from 0 and is null for inherited ones. `messages`
    holds for good; make it a list to have all of them. Reading a member that rests on malformed data
    raises `RefusedError`.
    """

    __slots__ = (
        "_moment",
        "_previous",
        "_settlement",
        "_state",
        "index",
        "inherited",
        "inherited_event_count",
        "messages",
    )

    def __init__(
        self,
        state: LogState,
        settlement: Event,
        moment: _Moment,
        previous: _Moment | None,
        *,
        index: int | None,
        inherited_event_count: int,
    ) -> None:
        self._state = state
        self._settlement = settlement
        self._moment = moment
        self._previous = previous
        self.index = index
        self.inherited = index is None
        self.inherited_event_count = inherited_event_count
        self.messages: MessageView = state.surface.messages()

    @property
    def seq(self) -> int:
        """The number of the settlement event."""
        return self._settlement.seq

    @property
    def kind(self) -> Kind:
        """`message`: the answer is part of the history. `attempt`: it is not."""
        return _KINDS[self._settlement.type]

    @property
    def turn(self) -> Any:
        """The turn that the settlement names."""
        return self._settled("turn")

    @property
    def step(self) -> Any:
        """The step that the settlement names."""
        return self._settled("step")

    @property
    def header_seq(self) -> int | None:
        """The number of the request/header in force; null before the first."""
        return None if self._moment.header is None else self._moment.header.seq

    @property
    def header(self) -> Json | None:
        """The canonical header in force, `{config, adapterDefaults?, tools?}`."""
        return self._header(self._moment)

    @property
    def header_reason(self) -> str | None:
        """Why the header in force was logged."""
        if self._moment.header is None or self.header is None:
            return None
        reason: str = self._moment.header.data["reason"]
        return reason

    @property
    def context(self) -> Json | None:
        """`{provider, model, contextWindow?, systemPromptUpdate?}` as logged last."""
        if self._moment.context is None:
            return None
        return self._state.context.of(self._moment.context)

    @property
    def tool_history(self) -> Json | None:
        """`{tools, updates: [{messageId, additions}]}`; null in a format without it."""
        if _DEVELOPER not in self._state.dialect.event_types:
            return None
        return self._state.tool_history.at(self._moment.told)

    @property
    def changed(self) -> tuple[Change, ...]:
        """What is different from the request before, besides new messages at the end.

        `first` and `nothing` stand alone; of the others any may come together: a system/message
        replaced another one, or was appended; another header is in force; anything but a
        system/message replaced a part of the history (a compaction, a rewritten tool result); an
        `image/offload` took images out.
        """
        before, now = self._previous, self._moment
        if before is None:
            return ("first",)
        signs: list[tuple[Change, bool]] = [
            ("prompt-replaced", now.prompts_replaced > before.prompts_replaced),
            ("prompt-appended", now.prompts_appended > before.prompts_appended),
            ("config-or-tools", self._asks_differently(before)),
            ("history-replaced", now.others_replaced > before.others_replaced),
            ("images-offloaded", now.offloads > before.offloads),
        ]
        return tuple(change for change, happened in signs if happened) or ("nothing",)

    def options(self) -> Json:
        """The request as `GenerateOptions` of spec/wire, as the loop hands it to an adapter.

        Raises:
            UsageError: `requests/no-header`: no header says which model is asked.
        """
        header = self.header
        if header is None:
            raise UsageError(
                "requests/no-header",
                f"no request/header stands before seq {self.seq}, so the model is not known",
                fix="Only requests after a request/header can be rebuilt.",
                seq=self.seq,
            )
        session_id = None if self._state.header is None else self._state.header.id
        return generate_options(
            header, list(self.messages), tool_history=self.tool_history, session_id=session_id
        )

    def _settled(self, name: str) -> Any:
        data = self._settlement.data
        return data.get(name) if isinstance(data, dict) else None

    def _header(self, moment: _Moment) -> Json | None:
        return None if moment.header is None else self._state.headers.canonical(moment.header)

    def _asks_differently(self, before: _Moment) -> bool:
        if self._moment.header is before.header:
            return False
        old, new = self._header(before), self._header(self._moment)
        return old is None or new is None or not header_equals(old, new)


def generate_options(
    header: Mapping[str, Any],
    messages: Sequence[Json],
    *,
    tool_history: Json | None,
    session_id: str | None,
) -> Json:
    """A request as `GenerateOptions` of spec/wire: what the log amounts to at the moment when it is sent.

    `header` is the canonical header in force, `messages` the surface; `tool_history` is null in a format without it.
    """
    config = header["config"]
    options: Json = {name: config[name] for name in _CONFIG if name in config}
    options["messages"] = messages
    if tool_history is not None:
        options["toolHistory"] = tool_history
    if "tools" in header:
        options["tools"] = header["tools"]
    if session_id is not None:
        options["sessionId"] = session_id
    return options


def iter_requests(log: Log, *, events: Sequence[Event] | None = None) -> Iterator[ModelRequest]:
    """Every request of a log, one per settlement, in order; inherited ones first.

    `events` are the events of the log to go by (null: all of them). One pass: a request costs what
    has happened since the one before.

    Raises:
        RefusedError: an event breaks a rule of the envelope or of the surface.
    """
    events = log.events if events is None else events
    inherited = inherited_event_count(events) if log.header.is_seeded else 0
    state = LogState(log.dialect, log.header, rules="envelope")
    prompts_appended = own = start = 0
    previous: _Moment | None = None
    for end, settlement in enumerate(events):
        if settlement.type == _PROMPT and settlement.surface_op == "append":
            prompts_appended += 1
        # One that is not well-formed is refused, which ends the iteration with the next events.
        if settlement.type not in _KINDS or not settlement.well_formed:
            continue
        _extend(state, events[start:end])
        start = end
        moment = _moment(state, prompts_appended)
        is_own = settlement.seq >= inherited
        yield ModelRequest(
            state,
            settlement,
            moment,
            previous,
            index=own if is_own else None,
            inherited_event_count=inherited,
        )
        own += is_own
        previous = moment
    _extend(state, events[start:])


def request_at(log: Log, index: int, *, events: Sequence[Event] | None = None) -> ModelRequest:
    """The request of the session's own settlement number `index`, from 0.

    Raises:
        UsageError: `requests/index`: the session has no such settlement.
        RefusedError: an event breaks a rule of the envelope or of the surface.
    """
    own = 0
    for request in iter_requests(log, events=events):
        if request.index == index:
            return request
        own += not request.inherited
    last = f"The session's own requests are 0 to {own - 1}." if own else "It has none of its own."
    raise UsageError("requests/index", f"the log has no request {index}", fix=last)


def _extend(state: LogState, events: Sequence[Event]) -> None:
    findings = [found for found in state.extend(events) if found.severity == "error"]
    if findings:
        raise RefusedError(f"the log cannot be replayed: {findings[0].message}", findings)


def _moment(state: LogState, prompts_appended: int) -> _Moment:
    surface = state.surface
    return _Moment(
        header=state.headers.latest,
        context=state.context.latest,
        told=len(state.tool_history),
        prompts_appended=prompts_appended,
        prompts_replaced=surface.prompts_replaced,
        others_replaced=surface.replace_generation - surface.prompts_replaced,
        offloads=surface.content_generation - surface.replace_generation,
    )
