"""An endpoint of the wire `deepseek-messages` on the loopback interface, in a process of its own: `python -m _bench.endpoint`.

It prints its port, and serves until its standard input ends. What an answer says follows from the session that asks and from
how much it has asked, so that whoever reads it can tell what is missing and what comes out of order.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator

SESSION_HEADER = "x-deepseek-harness-session-id"
DELTAS = 60
"""Deltas of one block."""
TOOL = "look"


def words(session: str, number: int, kind: str) -> list[str]:
    """The deltas of a block in the answer to request `number` (from 0) of a session."""
    return [f"{session}/{number}/{kind}/{index};" for index in range(DELTAS)]


def calls_tool(number: int) -> bool:
    """Whether the answer to this request calls a tool: each turn has one such answer, and one that ends it."""
    return number % 2 == 0


def call_id(session: str, number: int) -> str:
    """The id of the call in an answer."""
    return f"call-{session}-{number}"


def pieces(session: str, number: int) -> Iterator[bytes]:
    """The body of an answer. No piece ends where an event does, and every fifth one is held back for the one behind it."""
    text = b"".join(_events(session, number))
    sizes = (1, 97, 300, 41, 1009)
    at = turn = 0
    while at < len(text):
        yield text[at : at + sizes[turn % len(sizes)]]
        at += sizes[turn % len(sizes)]
        turn += 1


def _events(session: str, number: int) -> Iterator[bytes]:
    yield _event("message_start", message={"usage": {"input_tokens": 3}})
    yield from _block(0, "thinking", words(session, number, "thinking"))
    yield from _block(1, "text", words(session, number, "text"))
    if calls_tool(number):
        tool = {"type": "tool_use", "id": call_id(session, number), "name": TOOL, "input": {}}
        yield _event("content_block_start", index=2, content_block=tool)
        yield _event("content_block_stop", index=2)
    reason = "tool_use" if calls_tool(number) else "end_turn"
    yield _event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 5})
    yield _event("message_stop")


def _block(index: int, kind: str, deltas: list[str]) -> Iterator[bytes]:
    yield _event("content_block_start", index=index, content_block={"type": kind, kind: ""})
    for text in deltas:
        delta = {"type": f"{kind}_delta", kind: text}
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **members: object) -> bytes:
    data = json.dumps({"type": kind, **members}, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()


class Endpoint:
    """Serves all sessions at once: none gets the rest of its first answer before every one has got a part of it."""

    def __init__(self, sessions: int) -> None:
        self._asked: dict[str, int] = {}
        self._all_ask = asyncio.Barrier(sessions)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while (session := await _session_of_request(reader)) is not None:
                await self._answer(session, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, session: str, writer: asyncio.StreamWriter) -> None:
        number = self._asked.get(session, 0)
        self._asked[session] = number + 1
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for index, piece in enumerate(pieces(session, number)):
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            if index % 5:
                await writer.drain()
                # The others have their turn.
                await asyncio.sleep(0)
            if (index, number) == (5, 0):
                await self._all_ask.wait()
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _session_of_request(reader: asyncio.StreamReader) -> str | None:
    """Read one request; the session that sent it, null when the connection has ended."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = (line.partition(":") for line in head.decode("latin-1").split("\r\n"))
    headers = {name.lower(): value.strip() for name, _, value in lines}
    await reader.readexactly(int(headers["content-length"]))
    return headers[SESSION_HEADER]


async def main(sessions: int) -> None:
    """Serve until standard input ends."""
    endpoint = Endpoint(sessions)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
