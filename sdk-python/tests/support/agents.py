"""Agents on models that need no network: what a test of the loop starts from."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel

from dsh_protocol.llm import Capabilities, ChunkStream, PreparedCall, RetryPolicy, prepared
from dsh_protocol.loop import Agent, AgentOptions, AgentParts
from dsh_protocol.projections import CallOptions
from dsh_protocol.prompt import PromptConfig, PromptService
from dsh_protocol.session import Session
from dsh_protocol.tools import ToolDefinition, ToolExecution, ToolOutput, ToolRegistry

Json: TypeAlias = dict[str, Any]
Reply: TypeAlias = Sequence[Json]
STOP: Json = {"type": "finish", "reason": {"kind": "stop"}}
CALLS: Json = {"type": "finish", "reason": {"kind": "tool-calls"}}
MAX: Json = {"type": "finish", "reason": {"kind": "max-tokens"}}


def failed(code: str = "SERVER", **members: Any) -> Reply:
    """An answer that did not come."""
    failure = {"message": f"the model said {code}", "code": code, **members}
    return [{"type": "finish", "reason": {"kind": "error", "failure": failure}}]


def text(*words: str, index: int = 0, finish: Json | None = STOP) -> Reply:
    """An answer of one text block, a chunk for each word."""
    block = {"type": "text", "text": "".join(words)}
    chunks = [{"type": "block-start", "index": index, "blockType": "text"}]
    chunks += [{"type": "text-delta", "index": index, "text": word} for word in words]
    chunks.append({"type": "block-end", "index": index, "block": block})
    return chunks if finish is None else [*chunks, finish]


def calls(*named: tuple[str, str, str], finish: Json = CALLS) -> Reply:
    """An answer that calls tools: for each its id, its name and the text of its arguments."""
    chunks: list[Json] = []
    for index, (id_, name, arguments) in enumerate(named):
        block = {"type": "tool-call", "id": id_, "name": name, "arguments": arguments}
        delta = {"type": "tool-call-delta", "index": index, "id": id_, "name": name}
        chunks += [
            {"type": "block-start", "index": index, "blockType": "tool-call"},
            {**delta, "argumentsDelta": arguments},
            {"type": "block-end", "index": index, "block": block},
        ]
    return [*chunks, finish]


class Scripted:
    """A model that gives one prepared answer after the other, and keeps what it was asked.

    A number in an answer stands for that many moments of waiting.
    """

    def __init__(self, *replies: Any, capabilities: Mapping[str, Any] | None = None) -> None:
        self.replies: list[Any] = list(replies)
        self.asked: list[Json] = []
        self._capabilities = Capabilities(
            **{"provider": "p", "model": "m", "name": "M", **(capabilities or {})}
        )
        self.policy = RetryPolicy()

    async def prepare(self, config: Mapping[str, Any]) -> PreparedCall:
        """The configuration as it is."""
        await anyio.lowlevel.checkpoint()
        return prepared(config, self._capabilities, self.policy)

    def stream(self, request: Mapping[str, Any]) -> ChunkStream:
        """The next answer."""
        self.asked.append(dict(request))
        return ChunkStream(self._chunks(self.replies.pop(0)))

    async def _chunks(self, reply: Reply | AsyncIterator[Json]) -> AsyncGenerator[Json, None]:
        if isinstance(reply, AsyncIterator):
            async for chunk in reply:
                yield chunk
            return
        for chunk in reply:
            await anyio.lowlevel.checkpoint()
            yield chunk


def tool(
    name: str,
    execute: Callable[[Any, ToolExecution], Any],
    *,
    parallel: bool = False,
    schema: Json | None = None,
) -> ToolDefinition:
    """A tool whose value is a text."""
    return ToolDefinition(
        name=name,
        description=f"Does {name}.",
        parameters=schema or {"type": "object"},
        output=ToolOutput({}, lambda _, value: [{"type": "text", "text": str(value)}]),
        execute=execute,
        is_concurrency_safe=lambda _: parallel,
    )


def agent(
    model: Scripted,
    *tools: ToolDefinition,
    session: Session | None = None,
    prompt: PromptService | None = None,
    **parts: Any,
) -> Agent:
    """An agent with a system prompt of one line."""
    prompt = prompt or PromptService(
        config=PromptConfig(include_harness_identity=False, persona_prefix="Be brief.")
    )
    registry = ToolRegistry(prompt.events)
    for each in tools:
        registry.register(each)
    prompt.tools(registry.provider)
    options = AgentOptions(call=CallOptions(provider="p", model="m"))
    everything = AgentParts(model=model, prompt=prompt, tools=registry, **parts)
    return Agent(session or Session.create(id="s-1"), everything, options)


def types(session: Session, start: int = 0) -> list[str]:
    """The types of the events from a number on."""
    return [event.type for event in session.events_between(start, session.next_seq)]


def ends(session: Session) -> list[Json]:
    """The reasons of the turns that have ended."""
    return [event.data["reason"] for event in session.events if event.type == "turn/end"]
