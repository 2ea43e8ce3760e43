"""What the official runtime and an agent of ours both go through: prompts, answers, and a plugin that both have."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from official_runtime import PROVIDER
from scripted_model import Reply

from _replay.drive import RecordedResponse, RecordedTransport
from _replay.scenario import Exchange
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.llm import Endpoint, RetryPolicy
from dsh_protocol.loop import (
    Agent,
    AgentOptions,
    AgentParts,
    Decision,
    Enter,
    PreStep,
    Reject,
    Retries,
    StepHook,
    StreamCall,
    TurnStopping,
)
from dsh_protocol.projections import CallOptions
from dsh_protocol.prompt import PromptConfig, PromptService, context_order
from dsh_protocol.session import Session
from dsh_protocol.tools import ToolDefinition, ToolExecution, ToolOutput, ToolRegistry

Json = dict[str, Any]

PROMPT = "You are a careful assistant."
RETRIES = RetryPolicy(max_retries=2, initial_delay_ms=1, max_delay_ms=4, jitter_ratio=0)
_TEXT: Json = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}


@dataclass(frozen=True, slots=True)
class Script:
    """Prompts, each sent when the agent has nothing to do, and the answers of the model in order.

    `queued` are prompts that come while the model thinks about its first answer.
    """

    prompts: Sequence[str]
    replies: Sequence[Reply]
    queued: Sequence[str] = ()
    model: str = "deepseek-v4-pro"


class QueueingTransport(RecordedTransport):
    """Answers with recorded responses; before the first one, prompts are queued."""

    def __init__(self, exchanges: Sequence[Exchange], queue: Callable[[], None]) -> None:
        super().__init__(tuple(exchanges))
        self._queue = queue

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, follow_redirects: bool
    ) -> RecordedResponse:
        """The recorded response to this request."""
        if not self.sent:
            self._queue()
        return await super().post(url, headers, body, follow_redirects=follow_redirects)


class Compared:
    """An agent of ours in the place of the official runtime with its minimal profile and `loop.mjs`."""

    def __init__(self, script: Script, exchanges: Sequence[Exchange], cwd: str) -> None:
        self.script = script
        self.session = Session.create(cwd=cwd)
        self.transport = QueueingTransport(exchanges, self._queue)
        self._prompt = ""
        self._asked = ""
        service = self._service(cwd)
        self._tools = ToolRegistry(service.events)
        self._register()
        service.tools(self._tools.provider)
        endpoint = Endpoint(api_key="unused", retry_policy=RETRIES, transport=self.transport)
        parts = AgentParts(model=endpoint, prompt=service, tools=self._tools)
        options = AgentOptions(call=CallOptions(provider=PROVIDER, model=script.model))
        self.agent = Agent(self.session, parts, options)
        self._hook()

    async def run(self) -> None:
        """Send the prompts, one after the other."""
        async with self.agent:
            for prompt in self.script.prompts:
                self.agent.followup(prompt)
                await self.agent.idle()

    def _queue(self) -> None:
        for prompt in self.script.queued:
            self.agent.followup(prompt)

    def _service(self, cwd: str) -> PromptService:
        service = PromptService(
            config=PromptConfig(
                include_harness_identity=False,
                include_runtime_context=False,
                persona_prefix=PROMPT,
            )
        )
        service.context(
            "working-directory:current",
            order=context_order("WORKING_DIRECTORY") or 0,
            text=f"Current working directory: {dumps(cwd)}.",
            required=True,
            interpolate=False,
        )
        service.section(
            "protocol:prompt", order=900, text=lambda _: self._prompt, interpolate=False
        )
        return service

    # ---- What loop.mjs has ---------------------------------------------------------------------------

    def _register(self) -> None:
        async def fail(*_: Any) -> Any:
            raise RuntimeError("it went wrong")

        async def look(*_: Any) -> Any:
            await anyio.sleep(0.3)
            return "seen"

        def note(_given: Any, execution: ToolExecution) -> Any:
            execution.defer_context(self._message("A note."))
            return "noted"

        def conclude(_given: Any, execution: ToolExecution) -> Any:
            execution.conclude_turn()
            return "concluded"

        async def stop(*_: Any) -> Any:
            self.agent.cancel({"kind": "hook", "reason": "the tool"})
            return "stopped"

        async def more(*_: Any) -> Any:
            self.agent.steer(self._message("Steered."))
            return "steered"

        self._tool("echo", lambda given, _: given["text"], parameters=_TEXT)
        self._tool("fail", fail)
        self._tool("look", look, is_concurrency_safe=lambda _: True)
        for name, execute in (
            ("note", note),
            ("conclude", conclude),
            ("stop", stop),
            ("more", more),
        ):
            self._tool(name, execute)

    def _tool(self, name: str, execute: Callable[[Any, ToolExecution], Any], **more: Any) -> None:
        given = {"description": f"Does {name}.", "parameters": {"type": "object"}, **more}
        output = ToolOutput({}, lambda _, value: [{"type": "text", "text": str(value)}])
        self._tools.register(ToolDefinition(name=name, output=output, execute=execute, **given))

    def _message(self, text: str) -> Json:
        return dict(self.session.make.user_message(text))

    def _hook(self) -> None:
        hooks = self.agent.hooks
        hooks.request_error.use(Retries(self.agent))
        hooks.pre_step.use(self._pre_step)
        hooks.request.use(self._request)
        hooks.turn_stopping.use(self._stopping)
        hooks.stream(self._stream)

    async def _pre_step(
        self, about: PreStep, proceed: Callable[[], Awaitable[Decision]]
    ) -> Decision:
        words = " ".join(block["text"] for each in about.messages for block in each["content"])
        if about.messages:
            self._asked = words
        if "verbose" in words:
            self._prompt = "Be verbose."
        if "reject" in words:
            return Reject()
        decision = await proceed()
        if isinstance(decision, Enter) and "series" in words:
            return Enter(decision.messages, starts_request_series=True)
        return decision

    async def _request(self, _about: StepHook, proceed: Callable[[], Awaitable[Json]]) -> Json:
        config = await proceed()
        return {**config, "temperature": 0.5} if "warm" in self._asked else config

    async def _stopping(self, _about: TurnStopping, proceed: Callable[[], Awaitable[None]]) -> None:
        if "again" in self._asked:
            self.agent.steer(self._message("One more."))
        await proceed()

    async def _stream(
        self, _about: StreamCall, proceed: Callable[[], AsyncIterator[Json]]
    ) -> AsyncIterator[Json]:
        async for chunk in proceed():
            yield chunk
            if "STOP" in str(chunk.get("text", "")):
                self.agent.cancel()
