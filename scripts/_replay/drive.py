"""One recorded session, written again by our loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel

from dsh_protocol.jsonvalue import equal
from dsh_protocol.llm import Endpoint
from dsh_protocol.loop import Agent, AgentOptions, AgentParts, Retries, Target
from dsh_protocol.rows import Event, Header, Log, header_bytes, open_log
from dsh_protocol.session import Session
from dsh_protocol.tools import ToolDefinition, ToolError, ToolExecution, ToolOutput, ToolRegistry
from dsh_protocol.wire import DirectoryAttachments

from .normal import is_kept, normalized
from .scenario import Exchange, Recording, contributed, extra_tools

Json: TypeAlias = dict[str, Any]

WIRES = {3: "deepseek-chat", 4: "deepseek-messages"}
_SPLICED = "agent/inbox/spliced"
_PATIENCE = 60
"""Seconds that one session may take; a loop that waits for something else than the recording had would hang."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where our loop did something else."""

    where: str
    recorded: Any
    ours: Any


@dataclass(frozen=True, slots=True)
class Replay:
    """How our loop did: the events and the requests that were compared, and the first difference."""

    events: int
    requests: int
    difference: Difference | None


@dataclass(frozen=True, slots=True)
class Input:
    """Messages that somebody put into the inbox once the loop had written `after` events; `wakes`: a turn began with them."""

    after: int
    target: Target
    messages: tuple[Json, ...]
    wakes: bool


class RecordedResponse:
    """A response that was recorded."""

    def __init__(self, exchange: Exchange) -> None:
        self.status = exchange.status
        self.headers: Mapping[str, str] = {}
        self._data = exchange.response

    async def body(self) -> AsyncGenerator[bytes, None]:
        """The recorded bytes."""
        await anyio.lowlevel.checkpoint()
        yield self._data

    async def aclose(self) -> None:
        """Nothing is open."""


class RecordedTransport:
    """Answers the k-th request with the k-th recorded response, and compares the bodies."""

    def __init__(self, exchanges: tuple[Exchange, ...]) -> None:
        self._exchanges = exchanges
        self.sent = 0
        self.difference: Difference | None = None

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, follow_redirects: bool
    ) -> RecordedResponse:
        """The recorded response to this request."""
        del url, headers, follow_redirects
        number = self.sent
        self.sent += 1
        if number >= len(self._exchanges):
            self._differ(number, None, body.decode())
            raise RuntimeError("the recording has no further request")
        recorded = self._exchanges[number]
        if recorded.body != body.decode():
            self._differ(number, recorded.body, body.decode())
        return RecordedResponse(recorded)

    async def open(self) -> None:
        """Nothing is kept open."""

    async def aclose(self) -> None:
        """Nothing is open."""

    def _differ(self, number: int, recorded: str | None, ours: str) -> None:
        if self.difference is None:
            self.difference = Difference(f"request {number}", recorded, ours)


class Driver:
    """Drives the loop through one recording."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._transport = RecordedTransport(recording.exchanges)
        self._inputs = list(_inputs(recording))
        self._files: dict[str, str] = dict(recording.script.at_turn(1))
        self._written = 0
        self._agent: Agent | None = None
        self._session = Session(recording.log.header)

    async def run(self) -> Replay:
        """Write the session again, and compare."""
        with anyio.move_on_after(_PATIENCE):
            await self._drive()
        return _compared(self.recording, self._session, self._transport)

    async def _drive(self) -> None:
        start, *restarts = self.recording.attached
        if start:
            inherited = self.recording.log.events[:start]
            self._session = Session.open(_log(self.recording.log.header, inherited))
            self._written = sum(map(is_kept, inherited))
        for _ in restarts:
            await self._work(until_restart=True)
            self._session = Session.resume(_log(self._session.header, self._session.events))
            self._written = sum(map(is_kept, self._session.events))
        await self._work(until_restart=False)

    # ---- One life of the loop ----------------------------------------------------------------------

    async def _work(self, *, until_restart: bool) -> None:
        """Send what was sent to one loop instance, until it has written what that one did."""
        recording, session = self.recording, self._session
        stop = self._restart() if until_restart else None
        unsubscribe = session.subscribe(self._count)
        agent = self._agent = Agent(session, self._parts(), AgentOptions(call=recording.options()))
        agent.hooks.request_error.use(Retries(agent, sleep=_at_once))
        async with agent:
            while self._inputs and (stop is None or self._inputs[0].after < stop):
                if self._inputs[0].after != self._written:
                    # The log differs by now; sending more would only hide where.
                    break
                self._put_next(agent)
                await agent.idle()
        unsubscribe()

    def _restart(self) -> int:
        """How many events of the loop stood in front of the next restart."""
        kept = [event for event in self.recording.log.events if is_kept(event)]
        return next(
            number
            for number, event in enumerate(kept)
            if number >= self._written and event.type == "session/end-seed"
        )

    def _parts(self) -> AgentParts:
        recording, version = self.recording, self._session.header.version
        prompt = contributed(recording, self._files)
        tools = ToolRegistry(prompt.events)
        for tool in _recorded_tools(recording):
            tools.register(tool)
        prompt.tools(tools.provider)
        attachments = DirectoryAttachments(recording.attachments)
        endpoint = Endpoint(
            WIRES[version],
            api_key="none",
            route=recording.route,
            attachments=attachments if recording.attachments.is_dir() else None,
            transport=self._transport,
        )
        return AgentParts(model=endpoint, prompt=prompt, tools=tools, journal=Injector(self))

    def _count(self, event: Event) -> None:
        self._written += is_kept(event)
        if event.type == "turn/start":
            self._files.update(self.recording.script.at_turn(event.data["turn"]))

    # ---- Input -------------------------------------------------------------------------------------

    def inject_due(self) -> None:
        """Put what was put into the inbox at this place of the log, while a turn ran."""
        while self._inputs and self._inputs[0].after == self._written:
            assert self._agent is not None
            self._put_next(self._agent)

    def _put_next(self, agent: Agent) -> None:
        entry = self._inputs.pop(0)
        *first, last = entry.messages
        agent.inbox.append(entry.target, *first)
        if not entry.wakes:
            agent.inbox.append(entry.target, last)
        elif entry.target == "next-turn":
            agent.followup(last)
        else:
            agent.steer(last)


class Injector:
    """Stands where an agent waits for its log to be stored: a moment between any two of its events."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    async def flush(self) -> None:
        """Let the others in."""
        await anyio.lowlevel.checkpoint()
        self._driver.inject_due()


async def _at_once(_seconds: float) -> None:
    await anyio.lowlevel.checkpoint()


def _inputs(recording: Recording) -> Iterator[Input]:
    """What others put into the inbox, with the place where it stands among the events of the loop."""
    kept = [event for event in recording.log.events if is_kept(event)]
    for number, event in enumerate(kept):
        own = event.seq >= recording.attached[0]
        if own and event.type == _SPLICED and event.data["inserted"]:
            following = kept[number + 1].type if number + 1 < len(kept) else ""
            messages = tuple(event.data["inserted"])
            yield Input(number, event.data["target"], messages, following == "turn/start")


def _recorded_tools(recording: Recording) -> Iterator[ToolDefinition]:
    """The tools that the model was told of, each of which gives back what it gave then."""
    files = recording.script.files
    listed = {tool["name"] for entry in files for tool in extra_tools(entry)}
    results = {
        e.data["message"]["source"]["callId"]: e.data
        for e in recording.own
        if e.type == "tool/result"
    }
    schemas: dict[str, Json] = {}
    for event in recording.own:
        if event.type == "request/header":
            schemas |= {tool["name"]: tool for tool in event.data["header"].get("tools", [])}
    for name, schema in schemas.items():
        if name not in listed:
            yield _recorded_tool(schema, results)


def _recorded_tool(schema: Json, results: Mapping[str, Json]) -> ToolDefinition:
    def execute(_arguments: Any, execution: ToolExecution) -> Any:
        result = results[execution.call_id]
        content, is_error = _outcome(result["message"])
        if not is_error:
            return {"content": content, "meta": result.get("meta")}
        message = content[0]["text"].removeprefix("Error: ")
        error = result.get("error")
        if error is None:
            raise RuntimeError(message)
        raise ToolError(error["code"], message, name=error["name"])

    def meta(_arguments: Any, value: Any) -> Any:
        return value["meta"]

    has_meta = any("meta" in result for result in results.values())
    return ToolDefinition(
        name=schema["name"],
        description=schema["description"],
        parameters=schema["parameters"],
        output=ToolOutput({}, lambda _, value: value["content"], meta if has_meta else None),
        execute=execute,
        defer_loading=schema.get("deferLoading", False),
    )


def _outcome(message: Json) -> tuple[list[Json], bool]:
    """The content of a recorded result, and whether it is an error, in either format."""
    holder = message if message["role"] == "tool" else message["content"][0]
    return holder["content"], holder["isError"]


# ---- Comparing -------------------------------------------------------------------------------------


def _log(header: Header, events: Sequence[Event]) -> Log:
    """A log of these events, as a reader has it."""
    rows = [header.raw or header_bytes(header.logical), *(event.row_bytes() for event in events)]
    return open_log(b"".join(row + b"\n" for row in rows))


def _compared(recording: Recording, session: Session, transport: RecordedTransport) -> Replay:
    theirs, ours = normalized(recording.log.events), normalized(session.events)
    found = Replay(len(theirs), transport.sent, transport.difference)
    for number in range(max(len(theirs), len(ours))):
        pair = [events[number] if number < len(events) else None for events in (theirs, ours)]
        if found.difference is None and not equal(*pair):
            return replace(found, difference=Difference(f"event {number}", *pair))
    if found.difference is None and transport.sent != len(recording.exchanges):
        counts = (len(recording.exchanges), transport.sent)
        return replace(found, difference=Difference("number of requests", *counts))
    return found
