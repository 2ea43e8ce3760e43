"""One step: what enters the log before a request, the request, its settlement, and the tools that it calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

from dsh_protocol.abort import cancel_on
from dsh_protocol.findings import UsageError
from dsh_protocol.llm import Model, ModelCallError
from dsh_protocol.llm import PreparedCall as ModelCall
from dsh_protocol.projections import Attempt, CallOptions, PreparedCall, PromptProjection, RequestProjections, seed_config
from dsh_protocol.prompt import (
    AssembleContext,
    ContextText,
    PromptAssembly,
    PromptService,
    assemble_context_for,
    join_context_sections,
    render_context_sections,
    render_prompt,
)
from dsh_protocol.requests import generate_options
from dsh_protocol.session import Session
from dsh_protocol.tools import ToolRegistry

from ._answers import Answer, Recorder
from ._calls import CallRunner, calls_of
from ._failures import ModelFailureError
from ._journal import Journal
from ._turns import AbortedError, StepEnd, Turn
from .frames import Frames, StreamChunk, StreamEnd, StreamStart
from .hooks import Decision, Enter, Hooks, PreStep, RequestError, StepHook, StreamCall

if TYPE_CHECKING:
    from .agent import Agent

Json: TypeAlias = dict[str, Any]

_DISPOSED = {"kind": "disposed"}


@dataclass(frozen=True, slots=True)
class AgentParts:
    """What an agent works with.

    `tools` registers itself with nobody: make its provider one of `prompt` (`prompt.tools(tools.provider)`). `journal` stores
    what is appended; without one the log lives in memory. `projection` is the rule by which prompts reach the surface.
    """

    model: Model
    prompt: PromptService = field(default_factory=PromptService)
    tools: ToolRegistry | None = None
    hooks: Hooks = field(default_factory=Hooks)
    journal: Journal | None = None
    projection: PromptProjection | None = None


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """How an agent works: what it asks for, and how many parallel calls of one step run at a time."""

    call: CallOptions = CallOptions()
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

    def __init__(
        self, agent: Agent, parts: AgentParts, options: AgentOptions, frames: Frames
    ) -> None:
        self._agent = agent
        self._session: Session = agent.session
        self._parts = parts
        self._options = options
        self._frames = frames
        self._projections = RequestProjections(agent.session, parts.projection)
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
        await self.flush()
        return decision

    async def _decide(self, turn: Turn, claimed: list[Json]) -> Decision:
        # Writers of format 3 show the hooks the batch with its runtime context; those of format 4 add it behind them.
        given = claimed if self._session.dialect.renews_context else self._enter(claimed)

        async def default() -> Decision:
            renewed = self._session.dialect.renews_context
            return Enter(tuple(self._enter(claimed) if renewed else given))

        about = PreStep(self._agent, turn.number, turn.step + 1, turn.signal, tuple(given))
        return await self._parts.hooks.pre_step.run(about, default)

    def _enter(self, claimed: list[Json]) -> list[Json]:
        sections = render_context_sections(self._assembly)
        return self._projections.enter(claimed, join_context_sections(sections), sections)

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
            await self._require_retry(turn, answer.failure)
            answer = await self._attempt(turn, rendered, None)
        if answer.finish["kind"] == "max-tokens":
            return "max-tokens"
        return await self._run_tools(turn, answer)

    async def _require_retry(self, turn: Turn, failure: Json) -> None:
        call = self._call
        policy = None if call is None else call.retry_policy
        about = RequestError(
            *self._place(turn), self._config["provider"], failure, policy
        )
        if await self._parts.hooks.request_error.run(about, _no_retry) != "retry":
            raise ModelFailureError(failure)
        turn.require_going()

    async def _run_tools(self, turn: Turn, answer: Answer) -> StepEnd:
        calls = calls_of(answer.content)
        if not calls:
            return "completed"
        runner = CallRunner(self._agent, self._parts.tools, turn, self.flush, self._options.max_parallel_tool_calls)
        await runner.run(calls)
        return "completed" if runner.concluded else None

    def _place(self, turn: Turn) -> tuple[Agent, int, int, Any]:
        return self._agent, turn.number, turn.step, turn.signal

    # ---- One request -------------------------------------------------------------------------------

    async def _attempt(self, turn: Turn, rendered: str, decision: Enter | None) -> Answer:
        """Send one request; `decision` is null when an earlier one of this step has failed."""
        await self._prepare(turn)
        turn.require_going()
        self._projections.admit(self._due(turn, rendered, decision))
        await self.flush()
        turn.require_going()
        return await self._ask(turn)

    async def _prepare(self, turn: Turn) -> None:
        seed = seed_config(
            self._options.call, self._session.request_header, self._projections.memory
        )

        async def default() -> Json:
            return seed

        config = await self._parts.hooks.request.run(StepHook(*self._place(turn)), default)
        if not config.get("provider") or not config.get("model"):
            raise UsageError(
                "loop/no-model",
                _NO_MODEL.format(id=self._session.header.id),
                fix="Name both in AgentOptions.call, or have a request hook supply them.",
            )
        try:
            self._call = await self._parts.model.prepare(config)
        except ModelCallError as error:
            if error.code != "NO_ADAPTER":
                raise
            # Dispatch says so in-band, unless a stream hook serves the request.
            self._call = None
        self._config = config if self._call is None else dict(self._call.config)

    def _due(self, turn: Turn, rendered: str, decision: Enter | None) -> Attempt:
        sections: list[ContextText] = []
        if self._session.dialect.renews_context:
            fresh = self._parts.prompt.refresh_context(self._assembly, self._context(turn))
            sections = render_context_sections(fresh)
        return Attempt(
            call=_prepared(self._config, self._assembly.tools, self._call),
            rendered=rendered,
            snapshot=join_context_sections(sections),
            sections=sections,
            messages=() if decision is None else decision.messages,
            is_first=decision is not None,
            starts_request_series=decision is not None and decision.starts_request_series,
        )

    async def _ask(self, turn: Turn) -> Answer:
        """Send the request that the log says, and settle its answer whatever happens to it."""
        self._revision += 1
        name = (f"{self._session.header.id}:{self._revision}", self._revision)
        recorder = Recorder(self._session.options.clock)
        self._frames.put(StreamStart(*name, turn.number, turn.step))
        settled = None
        try:
            answer = await self._receive(turn, name, recorder)
            settled = answer.event
        finally:
            settled = settled or self._settled
        return answer
