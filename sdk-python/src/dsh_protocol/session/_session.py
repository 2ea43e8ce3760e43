"""A session that is being written: its events, what they amount to, and the one way to add another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import time_ns
from typing import Any, TypeAlias

from dsh_protocol.dialect import CURRENT, Dialect, dialect
from dsh_protocol.findings import Finding, RefusedError, UsageError
from dsh_protocol.reading import Accepted, accept
from dsh_protocol.rows import Event, Header, Log
from dsh_protocol.state import MessageView, Plan, Surface
from dsh_protocol.state.seeds import END_SEED
from dsh_protocol.state.writing import Level, writing

from ._candidate import candidate, row_of
from ._events import EventRange
from ._headers import new_header
from ._observers import Observer, Observers, ReportFailure, log_failure
from ._plugins import require_record_type
from ._turns import PendingCall, open_turn
from .closers import repair
from .forks import fork_seed
from .messages import Messages, NewId, random_id, surface_event

Clock: TypeAlias = Callable[[], int]
Json: TypeAlias = dict[str, Any]


def system_clock() -> int:
    """Milliseconds since 1970."""
    return time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a session is written, and what it takes from outside.

    `level` says what an append refuses. `"log"`: whatever would make the log unreadable or invalid, or keep it from being
    resumed: the findings of a full check of the log with the event at its end. `"append"`: exactly what the append of
    the released runtime of that format refuses, which lets logs come about that no reader takes.

    `clock` gives milliseconds since 1970, `new_id` the ids of messages and sessions, and `report_failure` gets what
    observers raise (default: the logger `dsh_protocol.session`).
    """

    level: Level = "log"
    clock: Clock = system_clock
    new_id: NewId = random_id
    report_failure: ReportFailure = log_failure


_DEFAULT = SessionOptions()


class Session:
    """The log of one session, in memory, and the way to add to it. It never changes an event, and does no I/O.

    Made by `create` (a new one), `open` (one that was read), `resume` (the same, made ready to go on) and `fork`.
    Not for several threads at once.
    """

    def __init__(self, header: Header, options: SessionOptions = _DEFAULT) -> None:
        self.header = header
        self.options = options
        self.dialect: Dialect = dialect(header.version)
        self.make = Messages(self.dialect, options.new_id)
        """Makes messages for this session's format."""
        self.first_new_seq = 0
        """The number of the first event that was not in the log which was opened."""
        self._events: list[Event] = []
        self._writing = writing(options.level, self.dialect, header)
        self._turns = open_turn([], self.dialect)
        self._observers = Observers(options.report_failure)

    # ---- Making one --------------------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        version: int = CURRENT,
        *,
        id: str | None = None,
        created_at: int | None = None,
        cwd: str | None = None,
        origin: str | None = None,
        parent_session: str | None = None,
        delegation_depth: int = 0,
        agent_preset: str | None = None,
        options: SessionOptions = _DEFAULT,
    ) -> Session:
        """A new session without events, of format 4 or 3. Id and time of creation are made when they are not given.

        Raises:
            StorageError: `header/member`: a value is not what the format takes.
            UnsupportedFormatError: the format is not 3 or 4.
        """
        header = new_header(
            version,
            options.new_id() if id is None else id,
            options.clock() if created_at is None else created_at,
            cwd=cwd,
            parent_session=parent_session,
            origin=origin,
            delegation_depth=delegation_depth,
            agent_preset=agent_preset,
        )
        return cls(header, options)

    @classmethod
    def open(cls, source: Log | Accepted, *, options: SessionOptions = _DEFAULT) -> Session:
        """The session in a log, as far as the released reader takes it; nothing is added.

        Raises:
            RefusedError: the reader refuses the log, or (unless the level is `append`) the log breaks rules that
                keep it from being resumed or valid; all findings. Also when a row was beyond the limits of reading.
        """
        accepted = source if isinstance(source, Accepted) else accept(source)
        accepted.require_whole()
        session = cls(accepted.log.header, options)
        session._take(accepted.events)
        session._finish()
        session.first_new_seq = len(session._events)
        return session

    @classmethod
    def resume(cls, source: Log | Accepted, *, options: SessionOptions = _DEFAULT) -> Session:
        """The session in a log, made ready to go on as the released runtime does it.

        Adds the events that end an interrupted turn, and a `session/end-seed` unless the log ends with one. They are
        the events from `first_new_seq` on; store them before anything that follows.

        Raises:
            RefusedError: as `open` and `repair`.
        """
        session = cls.open(source, options=options)
        session._take(repair(session._events))
        if not session._events or session._events[-1].type != END_SEED:
            session.append(END_SEED, {})
        return session

    def fork(
        self,
        boundary: int | None = None,
        *,
        id: str | None = None,
        origin: str | None = None,
        delegation_depth: int = 0,
        agent_preset: str | None = None,
    ) -> Session:
        """A child that inherits the events up to `boundary` (null: all), as the released runtime forks a session.

        The child has the working directory of this session; what else a header may say is given here.

        Raises:
            ForkError: `INVALID_BOUNDARY`; in format 3 also `OPEN_TURN`.
            RefusedError: the child breaks rules, which a child of a sound session does not.
        """
        seed = fork_seed(self._events, boundary)
        header = new_header(
            self.dialect.version,
            self.options.new_id() if id is None else id,
            self.options.clock(),
            cwd=self.header.cwd,
            parent_session=self.header.id,
            is_seeded=True,
            origin=origin,
            delegation_depth=delegation_depth,
            agent_preset=agent_preset,
        )
        child = Session(header, self.options)
        child._take(seed)
        if not self.dialect.forks_open_turns or not seed:
            child.append(END_SEED, {"inherited": True})
        child._finish()
        return child

    # ---- Reading -----------------------------------------------------------------------------------

    @property
    def next_seq(self) -> int:
        """The number that the next event gets: how many there are."""
        return len(self._events)

    @property
    def events(self) -> Sequence[Event]:
        """All events so far, those inherited from a parent included."""
        return self.events_between(0, self.next_seq)

    def own_events(self) -> Sequence[Event]:
        """The events of this session itself: those from the inherited marker on, or all when nothing is inherited."""
        return self.events_between(self.inherited_event_count, self.next_seq)

    def events_between(self, start: int, stop: int) -> Sequence[Event]:
        """The events from number `start` up to `stop` (excluded).

        Raises:
            UsageError: `session/no-such-range`: there is no such range of events.
        """
        if not 0 <= start <= stop <= self.next_seq:
            raise UsageError(
                "session/no-such-range",
                f"there are no events from {start} to {stop}",
                fix=f"Name numbers from 0 to {self.next_seq}, the lower one first.",
            )
        return EventRange(self._events, start, stop)

    @property
    def inherited_event_count(self) -> int:
        """How many events in front are those of the parent session."""
        return self._writing.state.inherited_event_count

    @property
    def surface(self) -> Surface:
        """The surface as it stands, to be read only."""
        return self._writing.state.surface

    def messages(self) -> MessageView:
        """The messages that a model would be given now; a later append does not change them."""
        return self.surface.messages()

    @property
    def request_header(self) -> Json | None:
        """The canonical request header in force; null before the first.

        Raises:
            RefusedError: at level `append`, when the header is one that readers refuse.
        """
        return self._writing.state.headers.current()

    @property
    def context(self) -> Json | None:
        """The latest request/context; null before the first."""
        return self._writing.state.context.current()

    @property
    def tool_history(self) -> Json:
        """What the model was told about tools: `{tools, updates}`.

        Raises:
            RefusedError: at level `append`, when an event about tools is one that readers refuse.
        """
        return self._writing.state.tool_history.at()

    @property
    def open_turn(self) -> int | None:
        """The number of the open turn; null when none is open."""
        return self._turns.turn

    @property
    def open_step(self) -> int | None:
        """The number of the open step; null when none is open."""
        return self._turns.step

    @property
    def pending_calls(self) -> list[PendingCall]:
        """The tool calls of the open step that have no result, in the order of the model."""
        return self._turns.pending

    # ---- Writing -----------------------------------------------------------------------------------

    def check_append(
        self,
        type: str,
        data: Any,
        *,
        surface_op: Any = None,
        source_event_seqs: Iterable[int] | None = None,
        ignorable: bool = False,
        time: int | None = None,
    ) -> list[Finding]:
        """Everything that is wrong with an event as the next one, errors first. Changes nothing.

        Without an error among the findings, `append` takes the event. At level `log` they are those that a full check has
        about the event once it is the last one of the log; what keeps the session from being continued is an error here,
        even where a reader only warns of it. What a model provider would say to the message list is not among them.

        Raises:
            JsonError: `json/value`, `json/depth`: the data is no JSON value at all, or contains itself.
        """
        row = self._row(type, data, surface_op, source_event_seqs, ignorable, time)
        _, findings = self._plan(row)
        return findings

    def append(
        self,
        type: str,
        data: Any,
        *,
        surface_op: Any = None,
        source_event_seqs: Iterable[int] | None = None,
        ignorable: bool = False,
        time: int | None = None,
    ) -> Event:
        """Add an event. The log gets a copy of `data`; the event that is given back has it.

        `surface_op` is `"append"` or `{"op": "replace", "startSeq": ..., "endSeq": ...}`, and belongs to the types of
        the surface. `source_event_seqs` are the earlier events that this one comes from. `ignorable` lets readers pass
        over an event whose type they do not know. `time` (default: the clock) counts milliseconds since 1970.

        Raises:
            RefusedError: the event breaks rules: all findings, errors first and warnings behind them. The session
                is as it was.
            JsonError: `json/value`, `json/depth`: the data is no JSON value at all, or contains itself.
            UsageError: `session/reentrant-append`: an observer is being told of another event.
        """
        if self._observers.are_being_told:
            raise UsageError(
                "session/reentrant-append",
                "an event cannot be appended while observers are told of another one",
                fix="Append it after the observer has returned.",
            )
        row = self._row(type, data, surface_op, source_event_seqs, ignorable, time)
        plan, findings = self._plan(row)
        if findings and findings[0].severity == "error":
            raise RefusedError(f"{type} cannot be appended: {findings[0].message}", findings)
        return self._commit(plan)

    def append_message(
        self,
        message: Mapping[str, Any],
        *,
        source_event_seqs: Iterable[int] | None = None,
        time: int | None = None,
        **members: Any,
    ) -> Event:
        """Append a message to the surface, as the event that its role asks for, in the open turn and step.

        `members` are further members of the data, such as `usage`, `stream` or `headerSeq`; an answer of a model
        without a `stream` gets an empty one. A tool result cites the tool/call that it answers.

        Raises:
            RefusedError, JsonError, UsageError: as `append`; also UsageError `session/no-open-step` and
                `session/message-role`.
        """
        type, data = surface_event(self.dialect, message, self.open_turn, self.open_step, members)
        if source_event_seqs is None and type == "tool/result":
            call = message["source"].get("callId")
            source_event_seqs = next(
                ([c.seq] for c in self.pending_calls if c.id == call and c.seq is not None), None
            )
        return self.append(
            type, data, surface_op="append", source_event_seqs=source_event_seqs, time=time
        )

    def append_plugin_record(self, type: str, data: Any, *, time: int | None = None) -> Event:
        """Append a record of a plugin's own, such as `plugin:acme/note` (format 4). Every reader keeps it.

        Raises:
            UsageError: `session/plugin-record-type`, or `session/no-plugin-records` in format 3.
            RefusedError, JsonError: as `append`.
        """
        require_record_type(self.dialect, type)
        return self.append(type, data, ignorable=True, time=time)

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Have `observer(event)` called for each event once it is in the log. Calling the result ends that.

        What an observer raises is reported (`SessionOptions.report_failure`); the event stays in the log, and the
        other observers are told.
        """
        return self._observers.add(observer)

    # ---- Inside ------------------------------------------------------------------------------------

    def _row(
        self,
        type: str,
        data: Any,
        surface_op: Any,
        source_event_seqs: Iterable[int] | None,
        ignorable: bool,
        time: int | None,
    ) -> Json:
        return row_of(
            type,
            self.next_seq,
            self.options.clock() if time is None else time,
            data,
            surface_op=surface_op,
            source_event_seqs=source_event_seqs,
            ignorable=ignorable,
        )

    def _plan(self, row: Json) -> tuple[Plan, list[Finding]]:
        event, losses = candidate(self.dialect.version, row)
        plan = self._writing.plan(event)
        findings = sorted([*losses, *plan.findings], key=lambda found: found.severity != "error")
        return plan, findings

    def _commit(self, plan: Plan) -> Event:
        event = plan.event
        self._writing.state.apply(plan)
        self._events.append(event)
        self._turns.observe(event)
        self._observers.tell(event)
        return event

    def _take(self, events: Sequence[Event]) -> None:
        """Add events that are there already."""
        _require_sound(self._writing.take(events))
        self._events.extend(events)
        self._turns = open_turn(self._events, self.dialect)

    def _finish(self) -> None:
        _require_sound(self._writing.finish())


def _require_sound(findings: list[Finding]) -> None:
    errors = [found for found in findings if found.severity == "error"]
    if errors:
        raise RefusedError(f"the log cannot be continued: {errors[0].message}", errors)
