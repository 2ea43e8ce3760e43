"""Ops about what prompts and requests leave in a log: system prompts, runtime context, request headers, whole attempts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dsh_protocol.findings import RefusedError
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.projections import (
    Attempt,
    CallOptions,
    LogFacts,
    PreparedCall,
    RequestProjections,
    RuntimeContextProjection,
    SeriesMemory,
    SingleCommitProjection,
    SystemPromptProjection,
    decide_header,
    seed_config,
)
from dsh_protocol.prompt import ContextText, join_context_sections
from dsh_protocol.rows import Event, open_log
from dsh_protocol.session import Session, SessionOptions

from ._answers import Json, of_findings
from ._logs import log_bytes

_REVISIONS = {None: SystemPromptProjection, "single": SingleCommitProjection}


def project(given: Json, _version: int) -> Json:
    """The system/message events that are due for a rendered prompt."""
    session = _session(given)
    revision = _REVISIONS[given.get("revision")](session.surface, session.dialect)
    commits = revision.project(
        given["rendered"], in_history=given["inHistory"], starts_series=given["startsSeries"]
    )
    return {"ok": {"commits": [_commit(each.message, each) for each in commits]}}


def _commit(message: Json, commit: Any) -> Json:
    value = {**_picked(message, "content", "source"), "surfaceOp": commit.surface_op}
    if commit.source_event_seqs is not None:
        value["sourceEventSeqs"] = list(commit.source_event_seqs)
    return value


def context(given: Json, _version: int) -> Json:
    """The runtime context, as a loop follows it."""
    return _Steps(_Context(_session(given))).answers(given)


def header(given: Json, _version: int) -> Json:
    """What requests log about themselves."""
    return _Steps(_Header(_session(given))).answers(given)


def attempt(given: Json, _version: int) -> Json:
    """Whole turns of one step, up to their answer."""
    return _Steps(_Attempts(_session(given))).answers(given)


def _session(given: Json) -> Session:
    options = SessionOptions(level="append", clock=lambda: 1)
    return Session.open(open_log(log_bytes(given)), options=options)


class _Loop(ABC):
    """A loop over a log, and the steps that every op has."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.restart({})

    @abstractmethod
    def restart(self, _step: Json) -> None:
        """A new loop over the same log."""

    def append(self, step: Json) -> Json:
        """An event of somebody else."""
        return {"seq": _append(self.session, step["event"]).seq}


class _Steps:
    """The methods of a loop as steps."""

    def __init__(self, loop: _Loop) -> None:
        self._loop = loop

    def answers(self, given: Json) -> Json:
        """The answers to all steps of a case."""
        return {"steps": [self._answer(step) for step in given["steps"]]}

    def _answer(self, step: Json) -> Json:
        act: Callable[[Json], Any] = getattr(self._loop, step["do"])
        try:
            return {"ok": act(step)}
        except RefusedError as error:
            return of_findings(None, error.findings)


class _Context(_Loop):
    def restart(self, _step: Json) -> None:
        self._projection = RuntimeContextProjection.restore(
            self.session.events, self.session.surface, self.session.dialect
        )
        self.session.subscribe(lambda event: self._projection.observe(event))

    def restore(self, step: Json) -> None:
        """A projection that begins with the log as it is now."""
        self.restart(step)

    def project(self, step: Json) -> Json:
        """The message that is due."""
        message = self._projection.project(_snapshot(step["sections"]), step["sections"])
        return {"message": message and _picked(message, "content", "source")}


class _Header(_Loop):
    def restart(self, _step: Json) -> None:
        self._memory = SeriesMemory.attach(self.session)

    def seed(self, step: Json) -> Json:
        """What a request starts from, before any plugin changes it."""
        options = step["options"]
        chosen = CallOptions(
            provider=options.get("provider", ""),
            model=options.get("model", ""),
            reasoning_effort=options.get("reasoningEffort"),
            max_tokens=options.get("maxTokens"),
        )
        config = seed_config(chosen, self.session.request_header, self._memory)
        return {"config": config, "text": dumps(config)}

    def request(self, step: Json) -> Json:
        """A request, as far as it is logged before it is sent."""
        session = self.session
        first = session.next_seq
        decision = decide_header(
            _call(step, step.get("route", {})),
            LogFacts.of(session),
            self._memory,
            session.dialect,
            starts_request_series=step.get("startsRequestSeries", False),
        )
        self._memory = decision.memory
        if decision.header is not None:
            session.append("request/header", decision.header)
        if decision.added or decision.removed:
            message = session.make.developer_message(added=decision.added, removed=decision.removed)
            cited = {"headerSeq": first} if decision.added else {}
            data = {"turn": 1, "step": 1, "message": message, **cited}
            session.append("developer/message", data, surface_op="append")
        if decision.route is not None:
            session.append("request/context", decision.route)
        return {"events": _shown(session.events_between(first, session.next_seq))}


class _Attempts(_Loop):
    def restart(self, _step: Json) -> None:
        self._projections = RequestProjections(self.session)

    def attempt(self, step: Json) -> Json:
        """A turn of one step: what is due before its request, and an answer. A retry comes after a failed attempt."""
        session = self.session
        turn = sum(event.type == "turn/start" for event in session.events) + 1
        place = {"turn": turn, "step": 1}
        session.append("turn/start", {"turn": turn})
        session.append("step/start", place)
        first = session.next_seq
        self._admit(step, place)
        added = session.events_between(first, session.next_seq)
        shown = _shown(event for event in added if not event.type.startswith("assistant/"))
        session.append("assistant/message", _answer(place, step["config"]), surface_op="append")
        session.append("step/end", place)
        session.append("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
        return {"events": shown}

    def _admit(self, step: Json, place: Json) -> None:
        sections = step.get("contexts", [])
        told = {"snapshot": _snapshot(sections), "sections": sections}
        route = step.get("route", {})
        messages = self._projections.enter(step.get("messages", []), **told)
        series = step.get("startsRequestSeries", False)
        prepared: Json = {"rendered": step["rendered"], **told}
        first = Attempt(
            call=_call(step, route), messages=messages, starts_request_series=series, **prepared
        )
        self._projections.admit(first)
        if "retry" not in step:
            return
        self.session.append("assistant/attempt", {**place, "stream": []})
        for event in step["retry"].get("events", []):
            _append(self.session, event)
        again = _call(step, {**route, **step["retry"].get("route", {})})
        self._projections.admit(Attempt(call=again, is_first=False, **prepared))

    def messages(self, _step: Json) -> list[Json]:
        """What the model is told now."""
        return [_picked(each, "role", "content", "source") for each in self.session.messages()]


def _append(session: Session, event: Json) -> Event:
    return session.append(
        event["type"],
        event["data"],
        surface_op=event.get("surfaceOp"),
        source_event_seqs=event.get("sourceEventSeqs"),
    )


def _call(step: Json, route: Mapping[str, Any]) -> PreparedCall:
    return PreparedCall(
        config=step["config"],
        tools=step.get("tools", ()),
        adapter_defaults=step.get("adapterDefaults", {}),
        context_window=route.get("contextWindow"),
        system_prompt_update=route.get("systemPromptUpdate"),
        tool_update=route.get("toolUpdate"),
    )


def _answer(place: Json, config: Json) -> Json:
    source = {"kind": "model", **_picked(config, "provider", "model")}
    content = [{"type": "text", "text": "done"}]
    message = {"role": "assistant", "id": f"a{place['turn']}", "content": content, "source": source}
    return {**place, "message": message, "stream": []}


def _snapshot(sections: Sequence[Json]) -> str:
    return join_context_sections(ContextText(each["name"], each["text"]) for each in sections)


def _shown(events: Iterable[Event]) -> list[Json]:
    """Events without their numbers, times and message ids."""
    return [_event(event) for event in events]


def _event(event: Event) -> Json:
    value: Json = dict(event.value)
    members: Json = {n: value[n] for n in ("surfaceOp", "sourceEventSeqs") if n in value}
    return {"type": event.type, "data": _without_id(value["data"]), **members}


def _without_id(data: Json) -> Json:
    kept = {name: value for name, value in data.items() if name != "id"}
    if "message" in kept:
        kept["message"] = _without_id(kept["message"])
    return kept


def _picked(value: Json, *names: str) -> Json:
    return {name: value[name] for name in names}
