"""What is stored while an agent works: never less than what the world has seen of it, and a sound log after every end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from agents import Scripted, agent, calls, ends, failed, text, tool
from stores import FaultyFiles, no_room

from dsh_protocol.check import check_file
from dsh_protocol.loop import Agent, StoreJournal
from dsh_protocol.rows import Event, open_log
from dsh_protocol.session import Session
from dsh_protocol.store import Store, StoreError, Writer

pytestmark = pytest.mark.anyio


def stored(writer: Writer) -> list[Event]:
    """The events on disk, a sound log of which the session can go on."""
    report = check_file(writer.path)
    assert not report.findings, report.findings
    assert report.verdicts["resumable"]
    return open_log(writer.path).events


def rows(events: Sequence[Event]) -> list[bytes]:
    return [event.row_bytes() for event in events]


def assert_all_stored(session: Session, writer: Writer) -> None:
    assert rows(stored(writer)) == rows(session.events)


class Endings:
    """What may become of a turn. Each gives the reason that its end has in the log."""

    @staticmethod
    async def completed(made: Agent) -> Any:
        await made.send("hi")
        return {"kind": "completed"}

    @staticmethod
    async def failed(made: Agent) -> Any:
        await made.send("hi")
        return {"kind": "error", "error": {"message": "the model said AUTH", "code": "AUTH"}}

    @staticmethod
    async def cancelled(made: Agent) -> Any:
        async for frame in made.stream("hi"):
            if getattr(frame, "text", ""):
                made.cancel()
        return {"kind": "aborted", "reason": {"kind": "user"}}

    @staticmethod
    async def left(made: Agent) -> Any:
        made.followup("hi")
        await anyio.wait_all_tasks_blocked()
        return {"kind": "aborted", "reason": {"kind": "disposed"}}


async def slowly() -> AsyncIterator[Any]:
    """An answer that shows a word and then takes for ever."""
    for chunk in text("word", finish=None)[:2]:
        yield chunk
    await anyio.sleep_forever()


REPLIES: dict[str, Callable[[], Any]] = {
    "completed": lambda: text("yo"),
    "failed": lambda: failed("AUTH"),
    "cancelled": slowly,
    "left": slowly,
}


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize("ending", REPLIES)
async def test_a_stored_session_is_sound_after_every_end(
    tmp_path: Path, ending: str, version: int
) -> None:
    session = Session.create(version, id="s-1")
    store = Store(tmp_path, "none")
    with store.create(session.header) as writer:
        journal = StoreJournal(session, writer)
        made = agent(Scripted(REPLIES[ending]()), session=session, journal=journal)
        async with made:
            reason = await getattr(Endings, ending)(made)
        assert_all_stored(session, writer)
    assert ends(session) == [reason]
    with store.open_writer("s-1") as writer:
        resumed = Session.resume(writer.read())
        journal = StoreJournal(resumed, writer)
        made = agent(Scripted(text("again")), session=resumed, journal=journal)
        async with made:
            assert (await made.send("and?")).text == "again"
        assert_all_stored(resumed, writer)
    assert rows(resumed.events)[: session.next_seq] == rows(session.events)
    assert resumed.events[session.next_seq].type == "session/end-seed"


async def test_the_caller_is_cancelled(tmp_path: Path) -> None:
    session = Session.create(id="s-1")
    with Store(tmp_path, "none").create(session.header) as writer:
        made = agent(Scripted(slowly()), session=session, journal=StoreJournal(session, writer))
        with anyio.CancelScope() as scope:
            async with made:
                async for frame in made.stream("hi"):
                    if getattr(frame, "text", ""):
                        scope.cancel()
        assert scope.cancelled_caught
        assert_all_stored(session, writer)
    assert ends(session) == [{"kind": "aborted", "reason": {"kind": "disposed"}}]
    answers = [e.data for e in session.events if e.type == "assistant/message"]
    assert [answer["interrupted"] for answer in answers] == [True]


async def test_what_is_outside_is_never_ahead_of_the_log(tmp_path: Path) -> None:
    session = Session.create(id="s-1")
    seen: list[str] = []

    def look(where: str) -> None:
        seen.append(where)
        assert_prefix(session, writer)

    async def body(arguments: Any, execution: Any) -> str:
        look(execution.name)
        return "done"

    class Watched(Scripted):
        async def _chunks(self, reply: Any) -> AsyncGenerator[Any, None]:
            # A model sends its request when the first chunk is awaited.
            look("request")
            async with aclosing(super()._chunks(reply)) as chunks:
                async for chunk in chunks:
                    yield chunk

    model = Watched(calls(("1", "a", ""), ("2", "b", ""), ("3", "a", "")), text("end"))
    tools = (tool("a", body, parallel=True), tool("b", body))
    with Store(tmp_path, "none").create(session.header) as writer:
        made = agent(model, *tools, session=session, journal=StoreJournal(session, writer))
        async with made:
            await made.send("hi")
        assert seen == ["request", "a", "b", "a", "request"]
        assert_all_stored(session, writer)


def assert_prefix(session: Session, writer: Writer) -> None:
    """All that a request or a call follows from is on disk: the log up to its header, or up to the call itself."""
    on_disk = open_log(writer.path).events
    assert rows(on_disk) == rows(session.events)[: len(on_disk)]
    (*_, last) = [
        event.seq for event in session.events if event.type in ("user/message", "tool/call")
    ]
    assert len(on_disk) > last
    assert len(on_disk) == session.next_seq


class NoRoom(FaultyFiles):
    """Real system calls; no write finds room while `is_full`."""

    def __init__(self) -> None:
        super().__init__(None, lambda _: None)
        self.is_full = False

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.is_full:
            no_room()
        return super().write(fd, data)


async def test_a_full_disk_ends_the_block_with_the_error_of_the_store(tmp_path: Path) -> None:
    session = Session.create(id="s-1")
    files = NoRoom()
    store = Store(tmp_path, "none", files=files)
    model = Scripted(text("one"), text("two"))
    with store.create(session.header) as writer:
        journal = StoreJournal(session, writer)
        before = 0

        async def converse() -> None:
            nonlocal before
            async with agent(model, session=session, journal=journal) as made:
                await made.send("hi")
                before = session.next_seq
                files.is_full = True
                await made.send("and?")

        with pytest.raises(StoreError, match="No space left") as caught:
            await converse()
        assert caught.value.code == "store/write-failed"
        # The second request was not sent, and nothing of its turn is stored.
        assert len(model.asked) == 1
        assert rows(stored(writer)) == rows(session.events)[:before]
        files.is_full = False
        await journal.flush()
        assert_all_stored(session, writer)


async def test_flushes_at_the_same_time_write_each_event_once(tmp_path: Path) -> None:
    session = Session.create(id="s-1")
    with Store(tmp_path, "none").create(session.header) as writer:
        journal = StoreJournal(session, writer)
        async with anyio.create_task_group() as group:
            for turn in range(1, 20):
                session.append("turn/start", {"turn": turn})
                session.append("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
                group.start_soon(journal.flush)
                await anyio.lowlevel.checkpoint()
        assert_all_stored(session, writer)


async def test_a_fork_is_stored_with_what_it_inherits(tmp_path: Path) -> None:
    parent = Session.create(id="s-1")
    async with agent(Scripted(text("one")), session=parent) as made:
        await made.send("hi")
        child = parent.fork(id="c-1")
        await made.idle()
    with Store(tmp_path, "none").create(child.header) as writer:
        journal = StoreJournal(child, writer)
        async with agent(Scripted(text("two")), session=child, journal=journal) as made:
            assert (await made.send("and?")).turn == 2
        assert_all_stored(child, writer)


# ---- What leaves the block ---------------------------------------------------------------------------


async def test_an_error_in_the_block_is_raised_as_it_is() -> None:
    error = ValueError("mine")
    made = agent(Scripted(slowly()))

    async def fail() -> None:
        async with made:
            made.followup("hi")
            await anyio.wait_all_tasks_blocked()
            raise error

    with pytest.raises(ValueError, match="mine") as caught:
        await fail()
    assert caught.value is error
    assert error.__cause__ is None
    assert ends(made.session) == [{"kind": "aborted", "reason": {"kind": "disposed"}}]


async def test_two_errors_are_a_group() -> None:
    class Broken:
        async def flush(self) -> None:
            raise OSError("no disk")

    async def fail() -> None:
        async with agent(Scripted(slowly()), journal=Broken()) as made:
            made.followup("hi")
            raise ValueError("mine")

    with pytest.raises(ExceptionGroup) as caught:
        await fail()
    assert {type(each) for each in caught.value.exceptions} == {ValueError, OSError}
