"""An API key shows up in no log, no error, no repr and no debug line."""

from __future__ import annotations

import io
import json
import logging
import traceback
from typing import Any

import anyio
import pytest
from loopback import RESET, Reply, serve
from responses import HI, OPEN, START, WHOLE, chat

from dsh_protocol.llm import Endpoint, ask
from dsh_protocol.llm._http import SecretHeaders

pytestmark = pytest.mark.anyio
KEY = "sk-very-secret-0123456789abcdef"
Json = dict[str, Any]

ECHO = json.dumps({"error": {"message": f"bad key {KEY}", "type": "x", "code": KEY}}).encode()
REPLIES = {
    "whole": Reply([WHOLE]),
    "refused": Reply([ECHO], status=401),
    "failed": Reply([ECHO], status=500),
    "no-json": Reply([KEY.encode()], status=502),
    "in-band": Reply([START, b"event: error\ndata: " + ECHO[:-1] + b',"type":"error"}\n\n']),
    "reset": Reply([START, OPEN, HI, 0.02, RESET]),
    "silent": Reply([START, 5.0]),
    "redirect": Reply([], status=302, headers=[("location", "http://127.0.0.1:1/")]),
    "malformed": Reply([b"data: " + KEY.encode() + b"\n\n"]),
    "stopped": Reply([chat({"content": "x"}, KEY), b"data: [DONE]\n\n"]),
}


@pytest.fixture
def debug_lines() -> Any:
    """Everything that any logger says, at the finest level."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(1)
    try:
        yield stream
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def locals_of(error: BaseException | None) -> list[str]:
    """An error with everything behind it, and the variables of each frame but those of this file."""
    lines: list[str] = []
    while error is not None:
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        told.stack = traceback.StackSummary.from_list(
            frame for frame in told.stack if frame.filename != __file__
        )
        lines += told.format(chain=False)
        error = error.__cause__ or error.__context__
    return lines


@pytest.mark.parametrize("reply", REPLIES)
@pytest.mark.parametrize("wire", ["deepseek-messages", "deepseek-chat"])
async def test_nothing_tells_the_key(
    request_options: Json, wire: str, reply: str, debug_lines: io.StringIO
) -> None:
    told: list[object] = []
    with serve(REPLIES[reply], REPLIES[reply]) as server:
        # Silence is waited for; everything else comes, if not at once.
        idle = 1000 if reply == "silent" else 30_000
        model = Endpoint(wire, api_key=KEY, base_url=server.url, idle_timeout_ms=idle)
        told += [repr(model), str(model)]
        stream = model.stream(request_options)
        told.append(repr(stream))
        told += [chunk async for chunk in stream]
        try:
            await ask(model, request_options)
        except Exception as error:
            told += [repr(error), str(error), *locals_of(error)]
        # The key was sent: otherwise this test shows nothing.
        assert KEY.encode() in server.requests[0][0]
    told.append(debug_lines.getvalue())
    assert KEY not in json.dumps(told, default=str)


async def test_nobody_listening_tells_no_key(request_options: Json) -> None:
    with serve() as server:
        pass
    model = Endpoint(api_key=KEY, base_url=server.url)
    with pytest.raises(Exception, match="transport failed") as caught:
        await ask(model, request_options)
    assert KEY not in "".join(locals_of(caught.value))


async def test_a_bad_key_is_not_repeated(request_options: Json) -> None:
    model = Endpoint(api_key=f"{KEY} {KEY}", base_url="http://127.0.0.1:1")
    with pytest.raises(Exception, match="API key") as caught:
        await ask(model, request_options)
    assert KEY not in "".join(locals_of(caught.value))


@pytest.mark.parametrize("reply", [Reply([START, OPEN, HI, 10.0]), Reply([WHOLE], before=10)])
async def test_a_cancelled_call_tells_no_key(request_options: Json, reply: Reply) -> None:
    lines: list[str] = []
    with serve(reply) as server:
        model = Endpoint(api_key=KEY, base_url=server.url)
        with anyio.move_on_after(0.2):
            try:
                async for _ in model.stream(request_options):
                    pass
            except BaseException as error:
                lines = locals_of(error)
                raise
    assert any("dsh_protocol" in line for line in lines)
    assert KEY not in "".join(lines)


async def test_a_request_id_with_the_key(request_options: Json) -> None:
    reply = Reply([ECHO], status=500, headers=[("x-request-id", f"r-{KEY}")])
    with serve(reply) as server:
        model = Endpoint(api_key=KEY, base_url=server.url)
        (chunk,) = [chunk async for chunk in model.stream(request_options)]
    assert chunk["reason"]["failure"]["requestId"] == "r-[API key]"


def test_headers_do_not_show_their_values() -> None:
    headers = SecretHeaders({"x-api-key": KEY})
    assert KEY not in repr(headers) + str(headers) + f"{headers}"
