"""A scripted endpoint on the loopback interface: it answers each request with the next reply, byte for byte."""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

RESET = object()
"""Ends a reply by breaking the connection."""
Piece = bytes | float | Any
"""Bytes to send, seconds to be silent, or `RESET`."""


@dataclass
class Reply:
    """One response: the head, then the pieces, then the end of the connection."""

    pieces: Sequence[Piece]
    status: int = 200
    headers: Sequence[tuple[str, str]] = (("content-type", "text/event-stream"),)
    length: int | None = None
    """A `content-length`, if the response has one."""
    chunked: bool = False
    """Whether each piece is a chunk of its own; the last one is then not sent by itself."""
    kept: bool = False
    """Whether the response says nothing about the end of the connection."""
    before: float = 0
    """How long the server is silent before the head, in seconds."""

    def head(self) -> bytes:
        """The status line and the headers."""
        lines = [f"HTTP/1.1 {self.status} X"]
        lines += [] if self.kept else ["connection: close"]
        lines += ["transfer-encoding: chunked"] if self.chunked else []
        lines += [f"{name}: {value}" for name, value in self.headers]
        if self.length is not None:
            lines.append(f"content-length: {self.length}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


@dataclass
class Server:
    """A running endpoint: where it is, and what it was asked."""

    port: int
    replies: Iterator[Reply]
    requests: list[tuple[bytes, bytes]] = field(default_factory=list)
    """Head and body of each request."""
    closed: threading.Event = field(default_factory=threading.Event)
    """Set when a client went away while it was served."""

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serve(*replies: Reply) -> Iterator[Server]:
    """An endpoint that answers one request after the other, each on a connection of its own."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(listener.getsockname()[1], iter(replies))
    threading.Thread(target=_accept, args=(listener, server), daemon=True).start()
    try:
        yield server
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _accept(listener: socket.socket, server: Server) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_answer, args=(connection, server), daemon=True).start()


def _answer(connection: socket.socket, server: Server) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection, suppress(OSError):
        request = _request(connection)
        if request is None:
            return
        if not re.match(rb"POST \S*/(messages|chat/completions) ", request[0]):
            # What a runtime asks besides: for files, for a list of models.
            connection.sendall(b"HTTP/1.1 404 X\r\ncontent-length: 0\r\n\r\n")
            return
        server.requests.append(request)
        reply = next(server.replies, None)
        if reply is None:
            return
        try:
            _rest(connection, reply.before, server)
            connection.sendall(reply.head())
            for piece in reply.pieces:
                if piece is RESET:
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    return
                if isinstance(piece, bytes):
                    framed = b"%x\r\n%b\r\n" % (len(piece), piece) if reply.chunked else piece
                    connection.sendall(framed)
                else:
                    _rest(connection, piece, server)
        except OSError:
            server.closed.set()
            raise


def _rest(connection: socket.socket, seconds: float, server: Server) -> None:
    """Be silent, but see when the client goes away."""
    end = time.monotonic() + seconds
    connection.settimeout(0.02)
    while time.monotonic() < end:
        with suppress(TimeoutError):
            if not connection.recv(1):
                server.closed.set()
                return
    connection.settimeout(None)


def _request(connection: socket.socket) -> tuple[bytes, bytes] | None:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        body += connection.recv(65536)
    return head, body
