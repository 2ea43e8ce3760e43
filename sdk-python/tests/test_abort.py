"""Signals that ask work to stop."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from dsh_protocol.abort import AbortController, cancel_on

pytestmark = pytest.mark.anyio


async def test_the_first_cause_counts_and_listeners_are_told_once() -> None:
    controller = AbortController()
    told: list[str] = []
    controller.signal.on_abort(lambda: told.append("kept"))
    controller.signal.on_abort(lambda: told.append("forgotten"))()
    controller.abort({"kind": "user"})
    controller.abort({"kind": "parent"})
    assert controller.signal.reason == {"kind": "user"}
    assert told == ["kept"]
    controller.signal.on_abort(lambda: told.append("late"))
    assert told == ["kept", "late"]


async def test_waiting_ends_when_the_signal_comes() -> None:
    controller = AbortController()
    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(controller.signal.wait)
            await anyio.lowlevel.checkpoint()
            controller.abort({"kind": "user"})


async def test_awaits_inside_the_scope_end_when_the_signal_comes() -> None:
    controller = AbortController()
    reached: list[str] = []

    async def work() -> None:
        with cancel_on(controller.signal):
            await anyio.sleep_forever()
        reached.append("behind the scope")

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            group.start_soon(work)
            await anyio.lowlevel.checkpoint()
            controller.abort({"kind": "user"})
    assert reached == ["behind the scope"]


async def test_a_scope_that_has_ended_is_not_cancelled() -> None:
    controller = AbortController()
    with cancel_on(controller.signal) as scope:
        pass
    controller.abort({"kind": "user"})
    assert not scope.cancel_called
