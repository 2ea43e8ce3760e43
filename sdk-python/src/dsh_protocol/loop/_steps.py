"""One step: what enters the log before a request, the request, and the tools that its answer calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.findings import UsageError
from dsh_protocol.llm import ChunkStream, Model, ModelCall, ModelCallError
from dsh_protocol.projections import (
    Attempt,
    CallOptions,
    PreparedCall,
    PromptProjection,
    RequestProjections,
    seed_config,
)
from dsh_protocol.prompt import (
    AssembleContext,
    PromptAssembly,
    PromptService,
    assemble_context_for,
    join_context_sections,
    render_context_sections,
    render_prompt,
)
from dsh_protocol.requests import generate_options
from dsh_protocol.scopes import Events
from dsh_protocol.tools import ToolRegistry

from ._answers import Answer, AnswerReceiver, close
from ._calls import CallRunner, calls_of
from ._failures import ModelFailureError
from ._journal import Journal
from ._turns import StepEnd, Turn
from .frames import Frames
from .hooks import Decision, Enter, FailedRequest, Hooks, PreStep, StepHook, StreamCall

if TYPE_CHECKING:
    from .agent import Agent

Json: TypeAlias = dict[str, Any]

_NO_MODEL = (
    'agent "{id}" has no provider/model: set AgentOptions.provider and AgentOptions.model or supply both via the '
    "agent/request waterfall"
)


@dataclass(frozen=True, slots=True)
class AgentParts:
    """What an agent works with.

    `prompt` is where plugins contribute; the tools of `tools` are told to the model when their provider is among its
    tool providers (`prompt.tools(tools.provider)`). `journal` stores what is appended; without one the log lives in
    memory. `projection` is the rule by which prompts reach the surface, by default that of the releases.
    """

    model: Model
    prompt: PromptService = field(default_factory=PromptService)
    tools: ToolRegistry = field(default_factory=lambda: ToolRegistry(Events()))
    hooks: Hooks = field(default_factory=Hooks)
    journal: Journal | None = None
    projection: PromptProjection | None = None


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """How an agent works: what it asks for, and how many parallel calls of one step run at a time (at least 1).

    Raises:
        UsageError: `loop/parallel-calls`.
    """

    call: CallOptions = field(default_factory=CallOptions)
    max_parallel_tool_calls: int = 10

    def __post_init__(self) -> None:
        if self.max_parallel_tool_calls < 1:
            raise UsageError(
                "loop/parallel-calls",
                f"no tool call could run: max_parallel_tool_calls is {self.max_parallel_tool_calls}",
                fix="Allow at least 1; 1 runs them one by one.",
            )


class ModelSteps:
    """The steps of one agent."""

    def __init__(self, agent: Agent, frames: Frames) -> None:
        self._agent = agent
        self._session = agent.session
        self._parts = agent.parts
        self._options = agent.options
        self._frames = frames
        self._projections = RequestProjections(agent.session, agent.parts.projection)
        self._assembly = PromptAssembly()
        self._revision = 0

    def close(self) -> None:
        """Stop following the session."""
        self._projections.close()

    async def flush(self) -> None:
        """Wait until the log is stored."""
        if self._parts.journal is not None:
            await self._parts.journal.flush()

    # ---- Before a step -----------------------------------------------------------------------------

    async def before(self, turn: Turn, claimed: list[Json]) -> Decision:
        """Assemble the prompt of the next step, and decide about its messages."""
        self._assembly = await self._parts.prompt.assemble(self._context(turn))
        turn.require_going()
        decision = await self._decide(turn, claimed)
        turn.require_going()
        await self.flush()
        return decision

    async def _decide(self, turn: Turn, claimed: list[Json]) -> Decision:
        renews = self._session.dialect.renews_context
        # Loops of format 3 show the hooks the batch with its runtime context; those of format 4 add it behind them.
        batch = claimed if renews else self._enter(claimed)

        async def default() -> Decision:
            return Enter(tuple(self._enter(claimed) if renews else batch))

        about = PreStep(self._agent, turn.number, turn.step + 1, turn.signal, tuple(batch))
        return await self._parts.hooks.pre_step.run(about, default)

    def _enter(self, claimed: list[Json]) -> list[Json]:
        return self._projections.enter(claimed, *_snapshot(self._assembly))

    def _context(self, turn: Turn) -> AssembleContext:
        return assemble_context_for(self._agent, turn.signal)

    # ---- The step ----------------------------------------------------------------------------------

    async def run(self, turn: Turn, decision: Enter) -> StepEnd:
        """Ask the model until it answers, and run the tools that it calls.

        Raises:
            ModelFailureError: the request failed, and no hook tries it again.
            AbortedError: the turn was asked to stop.
        """
        rendered = render_prompt(self._assembly)
        answer = await self._attempt(turn, rendered, decision)
        while answer.failure is not None:
            # What was admitted with the first attempt is in the log.
            answer = await self._attempt(turn, rendered, None)
        if answer.finish["kind"] == "max-tokens":
            return "max-tokens"
        return await self._run_tools(turn, answer)

    async def _run_tools(self, turn: Turn, answer: Answer) -> StepEnd:
        calls = calls_of(answer.content, self._agent, turn)
        if not calls:
            return "completed"
        runner = CallRunner(self._agent, turn, self.flush)
        await runner.run(calls)
        return "completed" if runner.concluded else None

    # ---- One request -------------------------------------------------------------------------------

    async def _attempt(self, turn: Turn, rendered: str, decision: Enter | None) -> Answer:
        """Send one request. `decision` is null when an earlier one of this step has failed.

        An answer that is a failure is to be tried again.
        """
        config = await self._configure(turn)
        call = await self._prepare(config)
        turn.require_going()
        config = config if call is None else dict(call.config)
        prepared = _prepared(config, self._assembly.tools, call)
        self._projections.admit(self._due(turn, prepared, rendered, decision))
        turn.require_going()
        answer = await self._ask(turn, config)
        if answer.failure is not None:
            await self._require_retry(turn, config["provider"], call, answer.failure)
        return answer

    async def _configure(self, turn: Turn) -> Json:
        header = self._session.request_header
        seed = seed_config(self._options.call, header, self._projections.memory)

        async def default() -> Json:
            return seed

        config = await self._parts.hooks.request.run(StepHook(*self._place(turn)), default)
        if not config.get("provider") or not config.get("model"):
            raise UsageError(
                "loop/no-model",
                _NO_MODEL.format(id=self._session.header.id),
                fix="Name both in AgentOptions.call, or have a request hook supply them.",
            )
        return config

    async def _prepare(self, config: Json) -> ModelCall | None:
        try:
            return await self._parts.model.prepare(config)
        except ModelCallError as error:
            if error.code != "NO_ADAPTER":
                raise
            # The stream says so as any other failure, unless a hook serves the request.
            return None

    def _due(
        self, turn: Turn, call: PreparedCall, rendered: str, decision: Enter | None
    ) -> Attempt:
        fresh = self._assembly
        if self._session.dialect.renews_context:
            fresh = self._parts.prompt.refresh_context(self._assembly, self._context(turn))
        snapshot, sections = _snapshot(fresh)
        return Attempt(
            call=call,
            rendered=rendered,
            snapshot=snapshot,
            sections=sections,
            messages=() if decision is None else decision.messages,
            is_first=decision is not None,
            starts_request_series=decision is not None and decision.starts_request_series,
        )

    async def _ask(self, turn: Turn, config: Json) -> Answer:
        options = self._request()
        about = StreamCall(*self._place(turn), options)

        opened: list[ChunkStream] = []

        def ask_model() -> AsyncIterator[Json]:
            opened.append(self._parts.model.stream(options))
            return opened[-1]

        self._revision += 1
        receiver = AnswerReceiver(self._session, self._frames, turn, self._revision, config)
        hooks = self._parts.hooks
        try:
            return await receiver.run(lambda: hooks.open_stream(about, ask_model), self.flush)
        finally:
            # A hook that fails, or takes another stream, leaves this one open.
            for stream in opened:
                await close(stream)

    def _request(self) -> Json:
        """The request that the log as it stands now amounts to."""
        session = self._session
        header = session.request_header
        assert header is not None
        return generate_options(
            header,
            list(session.messages()),
            tool_history=session.tool_history if session.dialect.has_tool_updates else None,
            session_id=session.header.id,
        )

    async def _require_retry(
        self, turn: Turn, provider: str, call: ModelCall | None, failure: Json
    ) -> None:
        policy = None if call is None else call.retry_policy
        about = FailedRequest(*self._place(turn), provider, failure, policy)
        if await self._parts.hooks.request_error.run(about, _no_retry) != "retry":
            raise ModelFailureError(failure)
        turn.require_going()

    def _place(self, turn: Turn) -> tuple[Agent, int, int, Any]:
        return self._agent, turn.number, turn.step, turn.signal


async def _no_retry() -> None:
    pass


def _snapshot(assembly: PromptAssembly) -> tuple[str, Sequence[Mapping[str, str]]]:
    """The runtime context of an assembly: its text as a whole, and the sections of it."""
    sections = render_context_sections(assembly)
    return join_context_sections(sections), [section.to_json() for section in sections]


def _prepared(config: Json, tools: list[Json], call: ModelCall | None) -> PreparedCall:
    if call is None:
        return PreparedCall(config=config, tools=tools)
    route = call.capabilities
    return PreparedCall(
        config=config,
        tools=tools,
        adapter_defaults=call.adapter_defaults,
        context_window=route.context_window,
        system_prompt_update=route.system_prompt_update,
        tool_update=route.tool_update,
    )
