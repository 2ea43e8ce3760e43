"""A turn that is cancelled, at every place where it can be: the log is always one that can be continued."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest
from agents import Scripted, agent, calls, ends, failed, text, tool

from dsh_protocol.check import check_log
from dsh_protocol.loop import Agent, Retries
from dsh_protocol.rows import Log, header_bytes, open_log
from dsh_protocol.session import Session, SessionOptions

pytestmark = pytest.mark.anyio

USER = {"kind": "user"}


class Moments:
    """Stands for a store: a moment passes whenever the log is stored."""

    async def flush(self) -> None:
        """Let a moment pass."""
        await anyio.lowlevel.checkpoint()


def log_of(session: Session) -> Log:
    """The log as a reader gets it."""
    rows = [header_bytes(session.header.logical), *(e.row_bytes() for e in session.events)]
    return open_log(b"".join(row + b"\n" for row in rows))


async def _pass(_about: Any, proceed: Any) -> Any:
    await anyio.lowlevel.checkpoint()
    return await proceed()


def busy_agent(session: Session) -> Agent:
    """An agent whose turn has everything in it: hooks, a retry, parallel and exclusive tools, several steps, text."""

    async def slow(arguments: Any, _execution: Any) -> str:
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        return f"did {arguments}"

    async def quick(_about: float) -> None:
        await anyio.lowlevel.checkpoint()

    model = Scripted(
        failed("SERVER"),
        [
            *text("thinking ", "aloud", finish=None),
            *calls(*((f"c{i}", name, f'{{"n":{i}}}') for i, name in enumerate("ppexpu")))[:-1],
            {"type": "finish", "reason": {"kind": "tool-calls"}},
        ],
        calls(("d0", "p", "{}")),
        text("all ", "done"),
        text("and ", "again"),
    )
    # The blocks of the second answer have to be told apart.
    for place, chunk in enumerate(model.replies[1]):
        if place >= 4 and "index" in chunk:
            chunk["index"] += 1
    made = agent(
        model,
        tool("p", slow, parallel=True),
        tool("e", slow),
        session=session,
        journal=Moments(),
    )
    made.hooks.pre_step.use(_pass)
    made.hooks.request.use(_pass)
    made.hooks.turn_stopping.use(_pass)
    made.hooks.request_error.use(Retries(made, sleep=quick))
    return made


def _options() -> SessionOptions:
    clock = iter(range(10**6))
    return SessionOptions(clock=lambda: next(clock))


async def _work(made: Agent) -> None:
    async with made:
        made.followup("do it")
        made.followup("and again")
        await made.idle()


async def _cancel_at(made: Agent, tick: int) -> bool:
    """Let the turn run for some moments, then ask it to stop; false when it had ended by itself."""
    async with made:
        made.followup("do it")
        for _ in range(tick):
            await anyio.lowlevel.checkpoint()
        was_running = made.status == "running"
        made.cancel()
        await made.idle()
    return was_running


async def _leave_at(made: Agent, tick: int) -> bool:
    """The same, by cancelling the task in which the agent runs."""
    finished = False
    async with anyio.create_task_group() as group:

        async def work() -> None:
            nonlocal finished
            await _work(made)
            finished = True

        group.start_soon(work)
        for _ in range(tick):
            await anyio.lowlevel.checkpoint()
        if not finished:
            group.cancel_scope.cancel()
    return not finished


async def _check(session: Session) -> None:
    report = check_log(log_of(session))
    errors = [found for found in report.findings if found.severity == "error"]
    assert errors == []
    assert report.verdicts["resumable"] is True
    assert report.verdicts["valid"] is True
    assert report.verdicts["wireValid"] is True
    assert session.open_turn is None
    assert session.pending_calls == []
    await _check_continuation(session)


async def _check_continuation(session: Session) -> None:
    again = agent(Scripted(text("fine"), text("fine")), session=Session.resume(log_of(session)))
    async with again:
        outcome = await again.send("go on")
    assert outcome.reason == {"kind": "completed"}


@pytest.mark.parametrize("version", [4, 3])
@pytest.mark.parametrize("way", [_cancel_at, _leave_at])
async def test_cancelled_at_every_moment(way: Any, version: int) -> None:
    tick = 0
    while True:
        session = Session.create(version, id="s-1", options=_options())
        if not await way(busy_agent(session), tick):
            break
        await _check(session)
        if session.events:
            (reason, *_) = ends(session) or [{"kind": "none"}]
            assert reason["kind"] in ("aborted", "completed", "none")
        tick += 1
    assert tick > 40


async def test_a_request_that_is_canceled_while_the_log_is_stored_is_an_empty_attempt() -> None:
    """As officially, where the store stands inside of the stream; and nothing is sent."""

    class Canceling:
        async def flush(self) -> None:
            await anyio.lowlevel.checkpoint()
            if made.session.events[-1].type == "request/context":
                made.cancel()

    model = Scripted(text("never"))
    made = agent(model, journal=Canceling())
    async with made:
        await made.send("go")
    *_, attempt, _, end = made.session.events
    assert (attempt.type, attempt.data["stream"]) == ("assistant/attempt", [])
    assert end.data["reason"] == {"kind": "aborted", "reason": USER}
