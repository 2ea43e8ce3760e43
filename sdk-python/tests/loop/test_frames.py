"""What readers of a live agent get: everything in order, in bounded pieces, and nothing beyond their end."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from agents import CALLS, Scripted, agent, text, tool

from dsh_protocol.loop import Committed, Frame, StatusChanged, StreamChunk, StreamEnd, StreamStart
from dsh_protocol.session import Session

pytestmark = pytest.mark.anyio

WORDS = [f"{number} " for number in range(5000)]


def chunks(frames: list[Frame]) -> list[StreamChunk]:
    return [frame for frame in frames if isinstance(frame, StreamChunk)]


def call_in_pieces(arguments: str) -> list[Any]:
    """An answer that calls a tool, with a chunk for each character of the arguments."""
    delta = {"type": "tool-call-delta", "index": 0, "id": "c"}
    block = {"type": "tool-call", "id": "c", "name": "look", "arguments": arguments}
    return [
        {"type": "block-start", "index": 0, "blockType": "tool-call"},
        {**delta, "name": "look", "argumentsDelta": ""},
        *({**delta, "argumentsDelta": piece} for piece in arguments),
        {"type": "block-end", "index": 0, "block": block},
        CALLS,
    ]


async def test_a_reader_that_falls_behind_loses_nothing() -> None:
    made = agent(Scripted(text(*WORDS)))
    async with made:
        late = made.stream("hi")
        await made.idle()
        frames = [frame async for frame in late]
    assert len(frames) < 300
    got = chunks(frames)
    assert "".join(frame.text for frame in got) == "".join(WORDS)
    # A piece has the number of the last chunk in it; the chunks in front of the text and behind it are three.
    assert [frame.index for frame in got] == sorted({frame.index for frame in got})
    assert got[-1].index == len(WORDS) + 3 - 1
    (end,) = [frame for frame in frames if isinstance(frame, StreamEnd)]
    assert end.index == len(WORDS) + 3
    events = [frame.event for frame in frames if isinstance(frame, Committed)]
    assert events == list(made.session.events)


async def test_arguments_of_a_call_are_taken_together_too() -> None:
    async def look(arguments: Any, execution: Any) -> str:
        return str(arguments["where"])

    arguments = '{"where": "' + "x" * 3000 + '"}'
    made = agent(Scripted(call_in_pieces(arguments), text("done")), tool("look", look))
    async with made:
        late = made.stream("hi")
        await made.idle()
        frames = [frame async for frame in late]
    assert len(frames) < 300
    deltas = [f.chunk for f in chunks(frames) if f.chunk["type"] == "tool-call-delta"]
    assert "".join(delta["argumentsDelta"] for delta in deltas) == arguments
    # The name stands in the first one only, as it came.
    assert [delta.get("name") for delta in deltas][:2] == ["look", None]


async def test_a_reader_that_keeps_up_gets_each_chunk() -> None:
    made = agent(Scripted(text("a", "b")))
    async with made:
        frames = [frame async for frame in made.stream("hi")]
    assert [frame.index for frame in chunks(frames)] == list(range(5))
    assert [frame.text for frame in chunks(frames)] == ["", "a", "b", "", ""]
    (start,) = [frame for frame in frames if isinstance(frame, StreamStart)]
    (end,) = [frame for frame in frames if isinstance(frame, StreamEnd)]
    assert (start.attempt_id, start.revision, start.turn, start.step) == ("s-1:1", 1, 1, 1)
    message = next(e for e in made.session.events if e.type == "assistant/message")
    assert (end.event_type, end.seq) == ("assistant/message", message.seq)
    assert frames[-1] == StatusChanged("idle")


async def test_each_reader_gets_all_of_it() -> None:
    made = agent(Scripted(text("a"), text("b")))
    seen: list[list[Frame]] = [[], []]

    async def read(into: list[Frame]) -> None:
        into.extend([frame async for frame in made.stream()])

    async with anyio.create_task_group() as group, made:
        for into in seen:
            group.start_soon(read, into)
        await anyio.wait_all_tasks_blocked()
        await made.send("hi")
        await made.send("and?")
    # Watching ends with the agent.
    assert seen[0] == seen[1]
    assert [frame for frame in seen[0] if isinstance(frame, StatusChanged)] == [
        StatusChanged("running"),
        StatusChanged("idle"),
    ] * 2
    assert [frame.text for frame in chunks(seen[0]) if frame.text] == ["a", "b"]


async def test_a_reader_that_has_closed_gets_nothing_more() -> None:
    made = agent(Scripted(text("a")), session=Session.create(3, id="s-1"))
    async with made:
        stream = made.stream("hi")
        assert isinstance(await anext(stream), Committed)
        await stream.aclose()
        await made.idle()
        assert [frame async for frame in stream] == []
