"""A model endpoint on this machine that answers what a test has scripted, and keeps every request as it came."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Json = dict[str, Any]
Purpose = Literal["loop", "compaction"]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: any bytes, so that a test can serve a stream that no endpoint should send."""

    body: bytes
    status: int = 200
    content_type: str = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for an answer of the model. `headers` have lower-case names, `body` is the exact text."""

    path: str
    headers: Mapping[str, str]
    body: str

    @property
    def session(self) -> str | None:
        """The session that asks."""
        return self.headers.get("x-deepseek-harness-session-id")

    @property
    def purpose(self) -> Purpose:
        """Whether the loop asks, or a compaction."""
        return "compaction" if "x-deepseek-harness-compact" in self.headers else "loop"


class ScriptedModel:
    """Serves `POST .../messages` and `.../chat/completions` on a free port of this machine, while it is open as a context.

    `script` holds the answers, in order; once it is empty, an error that no runtime tries again. `on_asked` is called
    with each request before it is answered.
    """

    def __init__(
        self, script: Sequence[Reply] = (), *, on_asked: Callable[[Asked], None] | None = None
    ) -> None:
        self.script = deque(script)
        self.asked: list[Asked] = []
        self.errors: list[Exception] = []
        """What `on_asked` raised."""
        self._on_asked = on_asked
        self._lock = threading.Lock()
        self._server = _server(self)

    @property
    def url(self) -> str:
        """The base address, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, asked: Asked) -> Reply:
        """Note a request, and take the next answer."""
        with self._lock:
            self.asked.append(asked)
            try:
                if self._on_asked is not None:
                    self._on_asked(asked)
            except Exception as error:
                self.errors.append(error)
            return self.script.popleft() if self.script else refusal("nothing is scripted")

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _server(model: ScriptedModel) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode("utf-8")
            if not self.path.endswith(("/messages", "/chat/completions")):
                # Among them the Files API: images are then sent inline.
                self._send(Reply(b"{}", 404, "application/json"))
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            self._send(model.answer(Asked(self.path, headers, body)))

        def do_GET(self) -> None:
            self._send(Reply(b'{"data":[]}', 200, "application/json"))

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            self.send_header("content-type", reply.content_type)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    return server


# ---- Answers ---------------------------------------------------------------------------------------


def refusal(message: str, status: int = 400) -> Reply:
    """An error of the endpoint; one with status 400 is not tried again."""
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    return Reply(json.dumps(error).encode(), status, "application/json")


def says(text: str = "", *, calls: Sequence[tuple[str, str, Mapping[str, Any]]] = ()) -> Reply:
    """An answer on the wire `deepseek-messages`: a text, and tool calls as (id, name, arguments)."""
    return Reply(b"".join(_stream(text, calls)))


def _stream(text: str, calls: Sequence[tuple[str, str, Mapping[str, Any]]]) -> Iterator[bytes]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted"}
    more: Json = {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield _event("message_start", message={**start, **more})
    index = 0
    if text:
        yield from _block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": text})
        index += 1
    for id_, name, arguments in calls:
        block = {"type": "tool_use", "id": id_, "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        yield from _block(index, block, delta)
        index += 1
    reason = "tool_use" if calls else "end_turn"
    end = {"stop_reason": reason, "stop_sequence": None}
    yield _event("message_delta", delta=end, usage={"output_tokens": 3})
    yield _event("message_stop")


def _block(index: int, block: Json, delta: Json) -> Iterator[bytes]:
    yield _event("content_block_start", index=index, content_block=block)
    yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
