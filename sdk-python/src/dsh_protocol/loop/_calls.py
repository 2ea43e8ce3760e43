"""The tool calls of one step: which run together, and how their results come into the log in the order of the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

import anyio

from dsh_protocol.findings import JsonError
from dsh_protocol.jsonvalue import JsonValue, loads
from dsh_protocol.session import Session

from ._turns import Turn
from .inbox import Inbox

Json: TypeAlias = dict[str, Any]

ABORTED_BEFORE_DISPATCH: Final = {
    "isError": True,
    "error": {
        "message": "tool call aborted before dispatch",
        "info": {"name": "AbortError", "code": "ABORTED_BEFORE_DISPATCH"},
    },
    "content": [{"type": "text", "text": "Error: tool call aborted before dispatch"}],
}


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the model. `arguments` is what its text stands for: the text itself when it is no JSON."""

    id: str
    name: str
    text: str
    arguments: JsonValue


class Toolbox(Protocol):
    """What runs the calls of an agent."""

    def is_parallel(self, call: Call) -> bool:
        """Whether a call may run beside others of its kind."""
        ...

    async def execute(self, call: Call, turn: Turn) -> Json:
        """The result of a call, `{isError, content, error?, meta?, additionalContexts?, concludesTurn?}`. Never fails for the tool."""
        ...


class CallRunner:
    """Runs the calls of one step."""

    def __init__(
        self, session: Session, inbox: Inbox, tools: Toolbox, turn: Turn, flush: Callable[[], Awaitable[None]], limit: int
    ) -> None:
        self._session = session
        self._inbox = inbox
        self._tools = tools
        self._turn = turn
        self._flush = flush
        self._slots = anyio.Semaphore(limit)
        self._calls: Sequence[Call] = ()
        self._call_seqs: dict[int, int] = {}
        self._results: dict[int, Json] = {}
        self._committed = 0
        self.concluded = False
        """Whether a result has ended the turn."""

    async def run(self, calls: Sequence[Call]) -> None:
        """Run the calls. When the turn is asked to stop, those that run are awaited, the rest is answered as not begun."""
        self._calls = calls
        index = 0
        while index < len(calls) and not self._turn.signal.aborted:
            if self._tools.is_parallel(calls[index]):
                index = await self._run_pool(index)
            else:
                self._start(index)
                await self._finish(index)
                index += 1
        for skipped in range(index, len(calls)):
            self._start(skipped)
            self._settle(skipped, ABORTED_BEFORE_DISPATCH)

    async def _run_pool(self, index: int) -> int:
        """Run parallel calls from `index` on; the index of the first call that is none, or was not begun."""
        async with anyio.create_task_group() as group:
            while index < len(self._calls):
                await self._slots.acquire()
                if self._turn.signal.aborted or not self._tools.is_parallel(self._calls[index]):
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

    def _start(self, index: int) -> None:
        call, turn = self._calls[index], self._turn
        event = self._session.append(
            "tool/call",
            {
                "turn": turn.number,
                "step": turn.step,
                "callId": call.id,
                "name": call.name,
                "arguments": call.text,
            },
        )
        self._call_seqs[index] = event.seq

    async def _finish(self, index: int) -> None:
        await self._flush()
        self._settle(index, await self._tools.execute(self._calls[index], self._turn))

    def _settle(self, index: int, result: Json) -> None:
        """Keep a result, and log all whose turn it is."""
        self._results[index] = result
        while self._committed in self._results:
            self._commit(self._committed)
            self._committed += 1

    def _commit(self, index: int) -> None:
        result = self._results.pop(index)
        message = self._session.make.tool_result(
            self._calls[index].id, result["content"], is_error=result["isError"]
        )
        members = {"meta": result["meta"]} if "meta" in result else {}
        info = result.get("error", {}).get("info")
        if info is not None:
            members = {"error": {"name": info["name"], "code": info["code"]}, **members}
        self._session.append_message(
            message, source_event_seqs=[self._call_seqs[index]], **members
        )
        self._inbox.append("next-step", *result.get("additionalContexts", ()))
        self.concluded |= not result["isError"] and result.get("concludesTurn") is True


def calls_of(content: Sequence[Mapping[str, Any]]) -> list[Call]:
    """The tool calls in the blocks of an answer."""
    blocks = (block for block in content if block.get("type") == "tool-call")
    return [
        Call(block["id"], block["name"], block["arguments"], _value(block["arguments"]))
        for block in blocks
    ]


def _value(text: str) -> JsonValue:
    if not text:
        return {}
    try:
        return loads(text)
    except JsonError:
        return text
