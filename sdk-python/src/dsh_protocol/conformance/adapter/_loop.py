"""The op about the whole loop: an agent on a model, tools and hooks that do what a case says."""

from __future__ import annotations

import copy
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any

import anyio
import anyio.lowlevel

from dsh_protocol.abort import AbortSignal
from dsh_protocol.llm import (
    Capabilities,
    ChunkStream,
    ModelCall,
    ModelCallError,
    RetryPolicy,
    prepared,
)
from dsh_protocol.loop import (
    USER,
    Agent,
    AgentOptions,
    AgentParts,
    Decision,
    Enter,
    FailedRequest,
    PreStep,
    Reject,
    Retries,
    StepHook,
    StreamCall,
    TurnStopping,
)
from dsh_protocol.projections import CallOptions
from dsh_protocol.prompt import PromptConfig, PromptService
from dsh_protocol.rows import Event, Log, header_bytes, open_log
from dsh_protocol.scopes import Disposer
from dsh_protocol.session import Session
from dsh_protocol.tools import ToolDefinition, ToolError, ToolExecution, ToolOutput, ToolRegistry

from ._answers import Json

_FAILURE = {"message": "nothing is scripted", "code": "UNKNOWN"}
_NOTHING = {"type": "finish", "reason": {"kind": "error", "failure": _FAILURE}}
_TIMES = frozenset({"time", "time0", "dt"})
_IDS = frozenset({"id", "messageId", "retryId"})


def replay(given: Json, version: int) -> Json:
    """What an agent logs and asks while all of this happens."""
    return {"ok": anyio.run(_Play(given, version).run)}


class _Play:
    """One case: the agent, and everything around it. It is the agent's model, too."""

    def __init__(self, given: Json, version: int) -> None:
        self._given = given
        self._version = version
        self._prompt: str = given.get("prompt", "")
        self._context: str = given.get("context", "")
        self._route: Json = given.get("route", {})
        self._replies: list[list[Json]] = list(given.get("replies", ()))
        self._turns = {name: list(turns) for name, turns in given.get("hooks", {}).items()}
        self._requests: list[Json] = []
        self._gates: dict[str, anyio.Event] = {}
        self._shown_tools: list[Disposer] = []
        self._names = [tool["name"] for tool in given.get("tools", ())]
        self._signal: AbortSignal | None = None
        self._agent: Agent

    async def run(self) -> Json:
        """The events that were added, and the options of each request."""
        inherited = self._given.get("events", [])
        session = self._opened(inherited) if "events" in self._given else self._created()
        inputs = list(self._given["inputs"])
        while inputs:
            inputs = await self._live(session, inputs)
            session = self._opened([event.value for event in session.events])
        shown = _Shown()
        written = self._agent.session.events[len(inherited) :]
        return {
            "events": [shown.event(event) for event in written],
            "requests": [shown.value(request) for request in self._requests],
        }

    async def _live(self, session: Session, inputs: list[list[Json]]) -> list[list[Json]]:
        """One life of an agent, up to a restart; what is left to be done."""
        agent = self._agent = Agent(session, self._parts(), self._options())
        self._hook(agent)
        async with agent:
            while inputs:
                acts = inputs.pop(0)
                while acts:
                    if acts[0]["do"] == "restart":
                        return [acts[1:], *inputs]
                    await self._act(acts[0], None)
                    acts = acts[1:]
                await agent.idle()
        return []

    def _created(self) -> Session:
        return Session.create(self._version, id="s-1")

    def _opened(self, events: Iterable[Json]) -> Session:
        header = header_bytes(self._created().header.logical)
        rows = [header, *(Event.from_value(dict(event)).row_bytes() for event in events)]
        log: Log = open_log(b"".join(row + b"\n" for row in rows))
        return Session.resume(log)

    def _options(self) -> AgentOptions:
        given = self._given.get("agentOptions", {"provider": "p", "model": "m"})
        chosen = CallOptions(
            provider=given.get("provider", ""),
            model=given.get("model", ""),
            reasoning_effort=given.get("reasoningEffort"),
            max_tokens=given.get("maxTokens"),
        )
        return AgentOptions(chosen, self._given.get("maxParallelToolCalls", 10))

    def _parts(self) -> AgentParts:
        service = PromptService(
            config=PromptConfig(include_harness_identity=False, include_runtime_context=True)
        )
        service.section("case:prompt", order=1, text=lambda _: self._prompt, interpolate=False)
        service.context("case:context", order=1, text=lambda _: self._context, interpolate=False)
        self._registry = ToolRegistry(service.events)
        self._shown_tools.clear()
        self._show(self._names)
        service.tools(self._registry.provider)
        return AgentParts(model=self, prompt=service, tools=self._registry)

    def _hook(self, agent: Agent) -> None:
        hooks = agent.hooks
        hooks.request_error.use(Retries(agent))
        hooks.pre_step.use(self._pre_step)
        hooks.request.use(self._configured)
        hooks.request_error.use(self._request_error)
        hooks.turn_stopping.use(self._turn_stopping)
        hooks.stream(self._stream)
        self._registry.on("tools/pre-execute", self._policy)
        self._registry.on("tools/post-execute", self._judged)

    # ---- The model -----------------------------------------------------------------------------------

    async def prepare(self, config: Mapping[str, Any]) -> ModelCall:
        """What the route of the case declares; nobody but the provider `p` is served."""
        if config["provider"] != "p":
            raise _not_served(config["provider"])
        return prepared(config, self._capabilities(config["model"]), self._policy_of_retries())

    def _capabilities(self, model: str) -> Capabilities:
        route = self._route
        return Capabilities(
            provider="p",
            model=model,
            name=model,
            context_window=route.get("contextWindow"),
            system_prompt_update=route.get("systemPromptUpdate"),
            tool_update=route.get("toolUpdate"),
            default_max_tokens=route.get("defaultMaxTokens"),
            efforts=tuple(route.get("efforts", ())),
            default_effort=route.get("defaultEffort"),
        )

    def _policy_of_retries(self) -> RetryPolicy:
        given = self._given.get("retryPolicy", {"mode": "normal", "maxRetries": 0})
        members = {
            "mode": "mode",
            "max_retries": "maxRetries",
            "retryable_codes": "retryableCodes",
            "initial_delay_ms": "initialDelayMs",
            "max_delay_ms": "maxDelayMs",
            "jitter_ratio": "jitterRatio",
        }
        given = {**given, **given.get("backoff", {})}
        chosen = {name: given[member] for name, member in members.items() if member in given}
        if "retryable_codes" in chosen:
            chosen["retryable_codes"] = tuple(chosen["retryable_codes"])
        return RetryPolicy(**chosen)

    def stream(self, request: Mapping[str, Any]) -> ChunkStream:
        """The next reply."""
        return ChunkStream(self._reply(str(request["provider"])))

    async def _reply(self, provider: str) -> AsyncGenerator[Json, None]:
        """The next reply, taken once somebody wants its first chunk."""
        if provider != "p":
            raise _not_served(provider)
        reply = self._replies.pop(0) if self._replies else [_NOTHING]
        async for chunk in self._chunks(reply, self._signal):
            yield chunk

    async def _chunks(
        self, parts: Iterable[Json], signal: AbortSignal | None
    ) -> AsyncGenerator[Json, None]:
        for part in parts:
            if "do" in part:
                await self._act(part, signal)
            else:
                await anyio.lowlevel.checkpoint()
                yield part

    # ---- Tools ---------------------------------------------------------------------------------------

    def _show(self, names: list[str]) -> None:
        self._names = names
        for dispose in self._shown_tools:
            dispose()
        tools = [tool for tool in self._given.get("tools", ()) if tool["name"] in names]
        self._shown_tools = [self._registry.register(self._tool(tool)) for tool in tools]

    def _tool(self, given: Json) -> ToolDefinition:
        return ToolDefinition(
            name=given["name"],
            description=given.get("description", f"Does {given['name']}."),
            parameters=given.get("parameters", {"type": "object"}),
            output=ToolOutput({}, lambda _, value: [{"type": "text", "text": str(value)}]),
            execute=self._body,
            is_concurrency_safe=lambda _: given.get("parallel") is True,
        )

    async def _body(self, _arguments: Any, execution: ToolExecution) -> Any:
        call = self._call(execution.call_id)
        for context in call.get("contexts", ()):
            execution.defer_context(self._message(context))
        if call.get("concludes"):
            execution.conclude_turn()
        for act in call.get("acts", ()):
            await self._act(act, execution.signal)
        if "throws" in call:
            raise RuntimeError(call["throws"])
        if "coded" in call:
            raise ToolError(**call["coded"])
        return call.get("returns", "done")

    def _call(self, id_: str) -> Json:
        call: Json = self._given.get("calls", {}).get(id_, {})
        return call

    async def _policy(self, execution: ToolExecution, further: Callable[[], Awaitable[Any]]) -> Any:
        return self._call(execution.call_id).get("policy") or await further()

    async def _judged(
        self, execution: ToolExecution, _result: Any, further: Callable[[], Awaitable[Any]]
    ) -> Any:
        return self._call(execution.call_id).get("judged") or await further()

    # ---- Hooks: what the case says for the k-th time that each is called -------------------------------

    async def _called(self, name: str, signal: AbortSignal) -> Json:
        turns = self._turns.get(name)
        turn: Json = turns.pop(0) if turns else {}
        for act in turn.get("acts", ()):
            await self._act(act, signal)
        if "throws" in turn:
            raise RuntimeError(turn["throws"])
        return turn

    async def _pre_step(
        self, about: PreStep, proceed: Callable[[], Awaitable[Decision]]
    ) -> Decision:
        turn = await self._called("pre-step", about.signal)
        if turn.get("rejects"):
            return Reject()
        decision = await proceed()
        assert isinstance(decision, Enter)
        kept = () if turn.get("drops") else decision.messages
        added = [self._message(each) for each in turn.get("adds", ())]
        series = turn.get("startsRequestSeries", decision.starts_request_series)
        return Enter((*kept, *added), series)

    async def _configured(self, about: StepHook, proceed: Callable[[], Awaitable[Json]]) -> Json:
        turn = await self._called("request", about.signal)
        return {**await proceed(), **turn.get("config", {})}

    async def _request_error(
        self, about: FailedRequest, proceed: Callable[[], Awaitable[Any]]
    ) -> Any:
        turn = await self._called("request-error", about.signal)
        return "retry" if turn.get("retries") else await proceed()

    async def _turn_stopping(
        self, about: TurnStopping, proceed: Callable[[], Awaitable[None]]
    ) -> None:
        await self._called("turn-stopping", about.signal)
        await proceed()

    def _stream(
        self, about: StreamCall, proceed: Callable[[], AsyncIterator[Json]]
    ) -> AsyncIterator[Json]:
        self._requests.append(copy.deepcopy(dict(about.options)))
        self._signal = about.signal
        turns = self._turns.get("stream")
        turn: Json = turns.pop(0) if turns else {}
        if "chunks" in turn:
            return self._wrapped(turn, self._chunks(turn["chunks"], about.signal), about.signal)
        return self._wrapped(turn, proceed(), about.signal)

    async def _wrapped(
        self, turn: Json, chunks: AsyncIterator[Json], signal: AbortSignal
    ) -> AsyncIterator[Json]:
        left = turn.get("after", 0)
        for act in turn.get("acts", ()):
            await self._act(act, signal)
        if "throws" in turn and left == 0:
            raise RuntimeError(turn["throws"])
        async for chunk in chunks:
            yield chunk
            left -= 1
            if "throws" in turn and left == 0:
                raise RuntimeError(turn["throws"])

    # ---- Acts ----------------------------------------------------------------------------------------

    async def _act(self, act: Json, signal: AbortSignal | None) -> None:
        while "at" in act and all(e.type != act["at"] for e in self._agent.session.events):
            await anyio.sleep(0.001)
        verb = act["do"]
        if verb in ("followup", "steer", "inject"):
            getattr(self._agent, verb)(self._message(act))
        elif verb == "pass":
            await self._gate(act).wait()
        elif verb == "open":
            self._gate(act).set()
        elif verb == "pause":
            await anyio.sleep(act["ms"] / 1000)
        elif verb == "wait":
            assert signal is not None
            await signal.wait()
        else:
            getattr(self, f"_do_{verb}")(act)

    def _do_cancel(self, act: Json) -> None:
        self._agent.cancel(act.get("cause", USER), keep_inbox=act.get("keepInbox", False))

    def _do_pending(self, act: Json) -> None:
        inbox = self._agent.inbox
        if act["verb"] == "remove":
            inbox.remove(act["of"])
        elif act["verb"] == "replace":
            inbox.replace(act["of"], self._message(act))
        else:
            inbox.prepend(act["target"], self._message(act))

    def _do_set(self, act: Json) -> None:
        self._prompt = act.get("prompt", self._prompt)
        self._context = act.get("context", self._context)
        self._route = act.get("route", self._route)
        if "tools" in act:
            self._show(act["tools"])

    def _do_append(self, act: Json) -> None:
        event = act["event"]
        self._agent.session.append(
            event["type"],
            event["data"],
            surface_op=event.get("surfaceOp"),
            source_event_seqs=event.get("sourceEventSeqs"),
        )

    def _gate(self, act: Json) -> anyio.Event:
        return self._gates.setdefault(act["gate"], anyio.Event())

    def _message(self, given: Json) -> Json:
        source = given.get("source", {"kind": "user"})
        message = self._agent.session.make.user_message(given["text"], source=source)
        return {**message, "id": given["id"]} if "id" in given else message


def _not_served(provider: str) -> ModelCallError:
    return ModelCallError("NO_ADAPTER", f'no adapter registered for provider "{provider}"')


class _Shown:
    """Values without times, and with the ids of messages and retries by the order in which they appear."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def event(self, event: Event) -> Json:
        """An event without its number, and without what a log only has for its reader."""
        shown: Json = self.value({n: member for n, member in event.value.items() if n != "seq"})
        return shown

    def value(self, value: Any) -> Any:
        """A value inside an event or a request."""
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if not isinstance(value, Mapping):
            return value
        is_call = str(value.get("type", "")).startswith("tool-call")
        return {
            name: self._name(member)
            if name in _IDS and isinstance(member, str) and not is_call
            else self.value(member)
            for name, member in value.items()
            if name not in _TIMES
        }

    def _name(self, id_: str) -> str:
        return self._names.setdefault(id_, f"id-{len(self._names) + 1}")
