"""Agents of code that is not asynchronous: the same verbs, on both event loops, with the errors as they are."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeAlias

import anyio
import pytest
from agents import Scripted, agent, calls, ends, text, tool

from dsh_protocol.findings import UsageError
from dsh_protocol.loop import (
    Agent,
    BlockingAgent,
    Committed,
    InboxError,
    Outcome,
    StatusChanged,
    StreamChunk,
    blocking,
)

Blocking: TypeAlias = Callable[[Callable[[], Agent]], AbstractContextManager[BlockingAgent]]
COMPLETED = {"kind": "completed"}


@pytest.fixture
def opened(anyio_backend: str) -> Blocking:
    """`blocking` on one of the event loops."""
    return partial(blocking, backend=anyio_backend)


async def endless() -> AsyncIterator[Any]:
    """An answer that shows a word and then takes for ever."""
    for chunk in text("word", finish=None)[:2]:
        yield chunk
    await anyio.sleep_forever()


def test_messages_are_sent_one_after_the_other(opened: Blocking) -> None:
    with opened(lambda: agent(Scripted(text("one"), text("two")))) as made:
        assert made.send("hi") == Outcome(1, COMPLETED, "one")
        assert made.send([{"type": "text", "text": "and?"}]) == Outcome(2, COMPLETED, "two")
    assert ends(made.agent.session) == [COMPLETED] * 2


def test_frames_come_until_the_agent_is_idle(opened: Blocking) -> None:
    with opened(lambda: agent(Scripted(text("one ", "two")))) as made:
        frames = list(made.stream("hi"))
    assert [frame.text for frame in frames if isinstance(frame, StreamChunk) and frame.text] == [
        "one ",
        "two",
    ]
    committed = [frame.event for frame in frames if isinstance(frame, Committed)]
    assert committed == list(made.agent.session.events)
    assert StatusChanged("running") in frames
    assert frames[-1] == StatusChanged("idle")


def test_who_stops_reading_stops_nothing(opened: Blocking) -> None:
    with opened(lambda: agent(Scripted(text("one ", "two"), text("three")))) as made:
        for frame in made.stream("hi"):
            if isinstance(frame, StreamChunk):
                break
        made.idle()
        assert made.send("and?") == Outcome(2, COMPLETED, "three")
    assert ends(made.agent.session) == [COMPLETED] * 2


def test_an_iterator_that_outlives_its_agent(opened: Blocking) -> None:
    with opened(lambda: agent(Scripted(endless()))) as made:
        frames = made.stream("hi")
        assert isinstance(next(frames), Committed)
    assert list(frames) == []


def test_the_other_verbs(opened: Blocking) -> None:
    with opened(lambda: agent(Scripted(text("one"), text("two")))) as made:
        made.inject("first")
        assert made.agent.status == "idle"
        made.steer("second")
        made.idle()
        made.followup("third")
        made.idle()
    users = [e.data for e in made.agent.session.events if e.type == "user/message"]
    assert [data["content"][0]["text"] for data in users] == ["first", "second", "third"]
    assert ends(made.agent.session) == [COMPLETED] * 2


def test_cancel_from_another_thread(opened: Blocking) -> None:
    with opened(lambda: agent(Scripted(endless()))) as made:
        for frame in made.stream("hi"):
            if isinstance(frame, StreamChunk) and frame.text:
                thread = threading.Thread(target=made.cancel)
                thread.start()
                thread.join()
    assert ends(made.agent.session) == [{"kind": "aborted", "reason": {"kind": "user"}}]


def test_leaving_the_block_stops_what_runs(opened: Blocking) -> None:
    with opened(lambda: agent(Scripted(endless()))) as made:
        frames = made.stream("hi")
        while not isinstance(next(frames), StreamChunk):
            pass
    assert ends(made.agent.session) == [{"kind": "aborted", "reason": {"kind": "disposed"}}]


def test_a_blocking_tool_holds_nothing_up(opened: Blocking) -> None:
    inside = threading.Event()
    told = threading.Event()

    def wait(arguments: Any, execution: Any) -> str:
        inside.set()
        assert told.wait(10)
        return "told"

    def made_agent() -> Agent:
        return agent(
            Scripted(calls(("1", "wait", "")), text("done")), tool("wait", in_thread(wait))
        )

    with opened(made_agent) as made:
        frames = made.stream("hi")
        for frame in frames:
            if isinstance(frame, Committed) and frame.event.type == "tool/call":
                break
        assert inside.wait(10)
        # The event loop is free: this is done while the tool waits.
        made.steer("hurry")
        told.set()
        made.idle()
    assert ends(made.agent.session) == [COMPLETED]


def in_thread(body: Callable[[Any, Any], str]) -> Callable[[Any, Any], Any]:
    async def run(arguments: Any, execution: Any) -> str:
        return await anyio.to_thread.run_sync(body, arguments, execution)

    return run


# ---- Errors ----------------------------------------------------------------------------------------


def test_errors_of_a_call_leave_the_agent_at_work(opened: Blocking) -> None:
    with opened(lambda: agent(Scripted(text("one"), text("two")))) as made:
        message = made.agent.session.make.user_message("hi")
        made.inject(message)  # type: ignore[arg-type]
        with pytest.raises(InboxError, match="already pending") as caught:
            made.inject(message)  # type: ignore[arg-type]
        assert caught.value.code == "inbox/pending"
        assert made.send("and?").text == "one"


def test_an_error_in_the_block_is_raised_as_it_is(opened: Blocking) -> None:
    error = ValueError("mine")
    made = []

    def fail() -> None:
        with opened(lambda: agent(Scripted(endless()))) as inside:
            made.append(inside)
            next(inside.stream("hi"))
            raise error

    with pytest.raises(ValueError, match="mine") as caught:
        fail()
    assert caught.value is error
    assert ends(made[0].agent.session) == [{"kind": "aborted", "reason": {"kind": "disposed"}}]


def test_no_agent_can_be_made(opened: Blocking) -> None:
    def fails() -> Agent:
        raise UsageError("x/y", "there is none", fix="Have one.")

    with pytest.raises(UsageError, match="there is none"), opened(fails):
        pytest.fail("the block was entered")


class Broken:
    """A journal that cannot store anything."""

    async def flush(self) -> None:
        raise OSError("no disk")


def test_a_log_that_cannot_be_stored(opened: Blocking) -> None:
    with (
        pytest.raises(OSError, match="no disk"),
        opened(lambda: agent(Scripted(text("one")), journal=Broken())) as made,
    ):
        made.send("hi")


def test_reading_a_log_that_cannot_be_stored(opened: Blocking) -> None:
    with (
        pytest.raises(OSError, match="no disk"),
        opened(lambda: agent(Scripted(text("one")), journal=Broken())) as made,
    ):
        assert list(made.stream("hi"))


def test_sending_after_the_block(opened: Blocking) -> None:
    with opened(lambda: agent(Scripted(text("one")))) as made:
        pass
    with pytest.raises(UsageError, match="does not run") as caught:
        made.send("hi")
    assert caught.value.code == "loop/not-entered"
