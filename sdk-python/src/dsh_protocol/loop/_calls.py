"""The tool calls of one step: which run together, and how their results come into the log in the order of the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from dsh_protocol.findings import JsonError
from dsh_protocol.jsonvalue import JsonValue, loads
from dsh_protocol.tools import NOT_STARTED, Stage, ToolCall, ToolResult, ToolSuccess

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
    """Runs the calls of one step.

    A call that runs alone, or a pool of parallel ones (rules `loop/tools-mode` and `loop/tools-parallel`): each is logged and
    prepared, by policies and guards, before the next one begins (`loop/tools-prepared`); bodies overlap; results are settled
    and logged in the order of the model (`loop/tools-order`).
    """

    def __init__(self, agent: Agent, turn: Turn, flush: Callable[[], Awaitable[None]]) -> None:
        self._session = agent.session
        self._inbox = agent.inbox
        self._tools = agent.parts.tools
        self._turn = turn
        self._flush = flush
        self._limit = agent.options.max_parallel_tool_calls
        self._calls: Sequence[Call] = ()
        self._call_seqs: dict[int, int] = {}
        self._running: set[int] = set()
        self._stages: dict[int, Stage] = {}
        self._ended: set[int] = set()
        self._news = anyio.Event()
        self._committed = 0
        self._failure: Exception | None = None
        self.concluded = False
        """Whether a result has ended the turn (rule `loop/tools-conclude`)."""

    async def run(self, calls: Sequence[Call]) -> None:
        """Run the calls. When the turn is asked to stop, those that run are awaited, the rest is answered as not begun.

        Rule `loop/tools-canceled`.
        """
        self._calls = calls
        index = 0
        while index < len(calls) and not self._turn.signal.aborted:
            index = await self._run_group(index)
        for skipped in range(index, len(calls)):
            self._start(skipped)
            self._commit(skipped, NOT_STARTED)

    async def _run_group(self, first: int) -> int:
        """Run an exclusive call, or a pool of parallel ones; the index of the first call that was not begun."""
        end = len(self._calls) if self._is_parallel(first) else first + 1
        async with anyio.create_task_group() as group:
            try:
                begun = await self._fill(group, first, first, end)
                while self._running:
                    await self._one_ended()
                    begun = await self._fill(group, first, begun, end)
            except Exception as error:
                # What runs is awaited; the step answers what has no result then.
                self._failure = self._failure or error
        if self._failure is not None:
            raise self._failure
        return begun

    async def _fill(self, group: TaskGroup, first: int, index: int, end: int) -> int:
        """Begin calls as long as there is room, and log what is ready; the index of the first one not begun."""
        await self._commit_ready()
        while self._has_room() and index < end and (index == first or self._is_parallel(index)):
            self._start(index)
            stage = await self._tools.prepare(self._calls[index].of)
            if stage.kind == "dispatch":
                self._running.add(index)
                group.start_soon(self._dispatch, index, stage)
            else:
                self._stages[index] = stage
            index += 1
            await self._commit_ready()
            # A body may end the turn before the next call begins.
            await anyio.lowlevel.checkpoint()
        return index

    def _has_room(self) -> bool:
        return len(self._running) < self._limit and not self._turn.signal.aborted

    async def _dispatch(self, index: int, stage: Stage) -> None:
        try:
            await self._flush()
            self._stages[index] = await self._tools.dispatch(stage.execution)
        except Exception as error:
            self._failure = self._failure or error
        self._ended.add(index)
        self._news.set()

    async def _one_ended(self) -> None:
        """Wait for a call that runs to end. Of several the first in the order of the model counts."""
        while not self._ended:
            await self._news.wait()
            self._news = anyio.Event()
        ended = min(self._ended)
        self._ended.remove(ended)
        self._running.remove(ended)

    async def _commit_ready(self) -> None:
        if self._failure is not None:
            raise self._failure
        while self._committed in self._stages:
            index = self._committed
            self._commit(index, await self._tools.settle(self._stages.pop(index)))

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

    def _commit(self, index: int, result: ToolResult) -> None:
        shown = result.to_json()
        message = self._session.make.tool_result(
            self._calls[index].of.call_id, shown["content"], is_error=result.is_error
        )
        self._session.append_message(
            message, source_event_seqs=[self._call_seqs[index]], **_members(shown)
        )
        # One splice for each (rule `loop/tools-contexts`).
        for message in shown.get("additionalContexts", ()):
            self._inbox.append("next-step", message)
        self._committed = index + 1
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
    """What the text of a model stands for; text that is no JSON stays, for the tool's own validation to refuse.

    Rule `loop/tools-arguments`.
    """
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
