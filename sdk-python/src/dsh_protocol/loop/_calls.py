"""The tool calls of one step: which run together, and how their results come into the log in the order of the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

from dsh_protocol.findings import JsonError
from dsh_protocol.jsonvalue import JsonValue, loads
from dsh_protocol.tools import ToolCall, ToolResult, ToolSuccess

from ._turns import Turn

if TYPE_CHECKING:
    from .agent import Agent

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the model: the text of its arguments, and the call that the registry gets for it."""

    text: str
    of: ToolCall


class CallRunner:
    """Runs the calls of one step."""

    def __init__(self, agent: Agent, turn: Turn, flush: Callable[[], Awaitable[None]]) -> None:
        self._session = agent.session
        self._inbox = agent.inbox
        self._tools = agent.parts.tools
        self._turn = turn
        self._flush = flush
        self._slots = anyio.Semaphore(agent.options.max_parallel_tool_calls)
        self._calls: Sequence[Call] = ()
        self._call_seqs: dict[int, int] = {}
        self._results: dict[int, ToolResult] = {}
        self._committed = 0
        self.concluded = False
        """Whether a result has ended the turn."""

    async def run(self, calls: Sequence[Call]) -> None:
        """Run the calls. When the turn is asked to stop, those that run are awaited, the rest is answered as not begun."""
        self._calls = calls
        index = 0
        while index < len(calls) and not self._turn.signal.aborted:
            if self._is_parallel(index):
                index = await self._run_pool(index)
            else:
                self._start(index)
                await self._finish(index)
                index += 1
        for skipped in range(index, len(calls)):
            self._start(skipped)
            self._settle(skipped, await self._tools.execute(calls[skipped].of))

    async def _run_pool(self, index: int) -> int:
        """Run parallel calls from `index` on; the index of the first call that is none, or was not begun."""
        async with anyio.create_task_group() as group:
            while index < len(self._calls):
                await self._slots.acquire()
                if self._turn.signal.aborted or not self._is_parallel(index):
                    self._slots.release()
                    break
                self._start(index)
                group.start_soon(self._finish_in_pool, index)
                index += 1
        return index

    async def _finish_in_pool(self, index: int) -> None:
        try:
            await self._finish(index)
        finally:
            self._slots.release()

    def _is_parallel(self, index: int) -> bool:
        return self._tools.execution_mode(self._calls[index].of) == "parallel"

    def _start(self, index: int) -> None:
        call = self._calls[index]
        data = {
            "turn": self._turn.number,
            "step": self._turn.step,
            "callId": call.of.call_id,
            "name": call.of.name,
            "arguments": call.text,
        }
        self._call_seqs[index] = self._session.append("tool/call", data).seq

    async def _finish(self, index: int) -> None:
        await self._flush()
        self._settle(index, await self._tools.execute(self._calls[index].of))

    def _settle(self, index: int, result: ToolResult) -> None:
        """Keep a result, and log all whose turn it is."""
        self._results[index] = result
        while self._committed in self._results:
            self._commit(self._committed)
            self._committed += 1

    def _commit(self, index: int) -> None:
        result = self._results.pop(index)
        shown = result.to_json()
        message = self._session.make.tool_result(
            self._calls[index].of.call_id, shown["content"], is_error=result.is_error
        )
        self._session.append_message(
            message, source_event_seqs=[self._call_seqs[index]], **_members(shown)
        )
        self._inbox.append("next-step", *shown.get("additionalContexts", ()))
        self.concluded |= isinstance(result, ToolSuccess) and result.concludes_turn


def calls_of(content: Sequence[Mapping[str, Any]], agent: Agent, turn: Turn) -> list[Call]:
    """The tool calls in the blocks of an answer."""
    blocks = (block for block in content if block.get("type") == "tool-call")
    return [_call(block, agent, turn) for block in blocks]


def _call(block: Mapping[str, Any], agent: Agent, turn: Turn) -> Call:
    text = block["arguments"]
    arguments = _arguments(text)
    return Call(text, ToolCall(block["id"], block["name"], arguments, turn.signal, agent))


def _arguments(text: str) -> JsonValue:
    """What the text of a model stands for; text that is no JSON stays, for the tool's own validation to refuse."""
    if not text:
        return {}
    try:
        return loads(text)
    except JsonError:
        return text


def _members(shown: Json) -> Json:
    """What the event of a result has beside its message."""
    info = shown.get("error", {}).get("info")
    members: Json = {}
    if info is not None:
        members["error"] = {"name": info["name"], "code": info["code"]}
    if "meta" in shown:
        members["meta"] = shown["meta"]
    return members
