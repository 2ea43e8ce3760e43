"""One attempt at a request: everything that enters the log between the preparation of the call and its first byte.

The order is that of the releases: system prompt, user messages and runtime context, request header, tool changes, route.
Nothing suspends in between, and a retry does it again without the user messages (rule `loop/attempt-order`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from dsh_protocol.rows import Event
from dsh_protocol.session import Session

from .header import LogFacts, PreparedCall, SeriesMemory, decide_header
from .runtime_context import RuntimeContextProjection
from .system_prompt import PromptProjection, SystemPromptProjection

Json: TypeAlias = dict[str, Any]
Section: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What an attempt sends.

    `rendered` is the system prompt, `snapshot` and `sections` the runtime context, all from the assembly of the step.
    `messages` are those of the pre-step decision: given for the first attempt of a step (`is_first`), and not for a retry.
    """

    call: PreparedCall
    rendered: str
    snapshot: str = ""
    sections: Sequence[Section] = ()
    messages: Sequence[Json] = ()
    is_first: bool = True
    starts_request_series: bool = False


class RequestProjections:
    """The projections of one loop instance on one session, and what it remembers of its requests.

    Make it when the loop begins to write the session; it follows what is appended until `close`.
    """

    def __init__(self, session: Session, prompt: PromptProjection | None = None) -> None:
        self._session = session
        new_id = session.options.new_id
        parts = (session.surface, session.dialect)
        self.prompt = SystemPromptProjection(*parts, new_id) if prompt is None else prompt
        self.context = RuntimeContextProjection.restore(session.events, *parts, new_id)
        self.memory = SeriesMemory.attach(session)
        self._stop = session.subscribe(self.context.observe)

    def close(self) -> None:
        """Stop following the session."""
        self._stop()

    def enter(
        self, messages: Iterable[Json], snapshot: str, sections: Sequence[Section]
    ) -> list[Json]:
        """The messages that a step is about to add by default: those given, and behind them runtime context that is due.

        Before format 4 this is where runtime context is decided on (rule `loop/context-once`).
        """
        due = self.context.project(snapshot, sections)
        return [*messages, *([] if due is None else [due])]

    def admit(self, attempt: Attempt) -> list[Event]:
        """Append what the attempt needs, in the open step. Gives the new events, in order.

        Raises:
            RefusedError, JsonError, UsageError: as `Session.append_message`.
        """
        first = self._session.next_seq
        # Before anything of this attempt is in the log.
        due = None
        if self._session.dialect.renews_context:
            due = self.context.project(attempt.snapshot, attempt.sections)
        self._admit_prompt(attempt)
        for message in self._users(attempt, due):
            self._session.append_message(message)
        self._admit_header(attempt)
        return list(self._session.events_between(first, self._session.next_seq))

    def _admit_prompt(self, attempt: Attempt) -> None:
        session = self._session
        starts_series = self.memory.prompt_starts_series(
            LogFacts.of(session),
            attempt.call,
            attempt.is_first and attempt.starts_request_series,
            session.dialect,
        )
        in_history = attempt.call.system_prompt_update == "in-history"
        commits = self.prompt.project(
            attempt.rendered, in_history=in_history, starts_series=starts_series
        )
        place = {"turn": session.open_turn, "step": session.open_step}
        for commit in commits:
            session.append(
                "system/message",
                {**place, "message": commit.message},
                surface_op=commit.surface_op,
                source_event_seqs=commit.source_event_seqs,
            )

    def _users(self, attempt: Attempt, due: Json | None) -> list[Json]:
        """The user messages in order. Renewed context takes the place of the one that the step was decided with.

        Rule `loop/context-renewed`.
        """
        dialect = self._session.dialect
        given = attempt.messages if attempt.is_first else ()
        if not dialect.renews_context:
            return list(given)
        users: list[Json] = []
        for message in given:
            if not dialect.is_context(message["source"]):
                users.append(message)
            elif due is not None:
                users.append(due)
                due = None
        return users if due is None else [*users, due]

    def _admit_header(self, attempt: Attempt) -> None:
        session = self._session
        decision = decide_header(
            attempt.call,
            LogFacts.of(session),
            self.memory,
            session.dialect,
            starts_request_series=attempt.is_first and attempt.starts_request_series,
        )
        header = None
        if decision.header is not None:
            header = session.append("request/header", decision.header)
        if decision.added or decision.removed:
            self._admit_tools(decision.added, decision.removed, header)
        if decision.route is not None:
            session.append("request/context", decision.route)
        self.memory = decision.memory

    def _admit_tools(
        self, added: Sequence[str], removed: Sequence[str], header: Event | None
    ) -> None:
        message = self._session.make.developer_message(added=added, removed=removed)
        if added and header is not None:
            self._session.append_message(message, headerSeq=header.seq)
        else:
            self._session.append_message(message)
