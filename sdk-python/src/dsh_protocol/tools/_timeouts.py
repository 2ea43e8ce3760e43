"""The wrapper that ends calls which take longer than their tool says they may."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio

from dsh_protocol.abort import AbortController
from dsh_protocol.jsonvalue import dumps

from ._results import ToolResult, timed_out
from .definitions import ToolDefinition
from .execution import ToolExecution, fused

Next: TypeAlias = Callable[[], Awaitable[ToolResult]]


async def within_timeout(
    tool: ToolDefinition | None, execution: ToolExecution, further: Next
) -> ToolResult:
    """Run the rest of a call; when its time is over first, its signal comes and the result says so.

    The body is not left alone: the result waits until it has stopped.
    """
    if tool is None or tool.timeout_ms is None:
        return await further()
    outer = execution.signal
    timer = AbortController()
    reason = {"kind": "timeout"}
    with fused(outer, timer.signal) as signal:
        execution.signal = signal
        try:
            result = await _timed(further, tool.timeout_ms / 1000, lambda: timer.abort(reason))
        finally:
            execution.signal = outer
        return timed_out(dumps(tool.timeout_ms)) if signal.reason is reason else result


async def _timed(further: Next, seconds: float, expire: Callable[[], None]) -> ToolResult:
    async def wait() -> None:
        await anyio.sleep(seconds)
        expire()

    failed: Exception | None = None
    result: ToolResult | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        try:
            result = await further()
        except Exception as error:
            # Raised outside the group, which would put it into an exception group.
            failed = error
        group.cancel_scope.cancel()
    if failed is not None:
        raise failed
    assert result is not None
    return result
