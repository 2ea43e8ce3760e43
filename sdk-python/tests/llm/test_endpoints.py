"""Endpoints against a scripted server on the loopback interface."""

from __future__ import annotations

import gc
import json
import warnings
from collections.abc import Sequence
from typing import Any

import anyio
import pytest
from loopback import RESET, Piece, Reply, Server, serve
from recorded import recorded, without_extensions
from responses import BEGUN, CHAT_WHOLE, CHUNKS, CLOSE, HI, OPEN, REASON, START, STOP, WHOLE, chat

from dsh_protocol import DirectoryAttachments, iter_requests, open_log
from dsh_protocol.findings import UsageError
from dsh_protocol.llm import Endpoint, Limits, ModelCallError, deepseek
from dsh_protocol.wire import RequestImage

pytestmark = pytest.mark.anyio
Json = dict[str, Any]
KEY = "sk-loopback-0123456789"
SILENCE = 2000
"""Milliseconds of silence that end a stream: longer than a busy machine takes between two pieces that it has."""


def endpoint(server: Server, wire: str = "deepseek-messages", **settings: Any) -> Endpoint:
    return Endpoint(wire, **{"api_key": KEY, "base_url": server.url, **settings})


async def chunks_of(model: Endpoint, request: Json) -> list[Json]:
    async with model.stream(request) as stream:
        return [chunk async for chunk in stream]


async def settled(request: Json, pieces: Sequence[Piece], **settings: Any) -> list[Json]:
    names = ("status", "headers", "length", "chunked")
    about = {name: settings.pop(name) for name in names if name in settings}
    with serve(Reply(pieces, **about)) as server:
        return await chunks_of(endpoint(server, **settings), request)


def failure(chunk: Json) -> tuple[str, str]:
    said = chunk["reason"]["failure"]
    return said["code"], said["message"]


@pytest.mark.parametrize(
    "pieces",
    [
        [WHOLE],
        [START, OPEN, HI, CLOSE, REASON, STOP],
        [bytes([byte]) for byte in WHOLE],
        [WHOLE.replace(b"\n", b"\r\n")],
        [START, 0.05, b": still there\n\n", 0.05, WHOLE.removeprefix(START)],
    ],
    ids=["whole", "by-event", "by-byte", "crlf", "comments"],
)
async def test_a_response_is_streamed(request_options: Json, pieces: list[Piece]) -> None:
    assert await settled(request_options, pieces) == CHUNKS


async def test_chunks_come_while_the_response_is_sent(request_options: Json) -> None:
    with serve(Reply([START, OPEN, HI, 30.0])) as server:
        async with endpoint(server).stream(request_options) as stream:
            with anyio.fail_after(20):
                assert [await anext(stream), await anext(stream)] == BEGUN


async def test_leaving_early_closes_the_connection(request_options: Json) -> None:
    with serve(Reply([START, OPEN, HI, 30.0])) as server:
        async with endpoint(server).stream(request_options) as stream:
            await anext(stream)
        assert await anyio.to_thread.run_sync(server.closed.wait, 60)


async def test_cancelling_ends_the_call_and_closes_the_connection(request_options: Json) -> None:
    taken = []
    with serve(Reply([START, OPEN, HI, 30.0])) as server:
        with anyio.CancelScope() as scope:
            async with endpoint(server).stream(request_options) as stream:
                async for chunk in stream:
                    taken.append(chunk)
                    if taken == BEGUN:
                        scope.cancel()
        assert scope.cancelled_caught
        assert taken == BEGUN
        assert await anyio.to_thread.run_sync(server.closed.wait, 60)


async def test_no_generator_is_left_behind(request_options: Json) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with serve(*[Reply([START, OPEN, HI, CLOSE, REASON, STOP])] * 2) as server:
            model = endpoint(server)
            await chunks_of(model, request_options)
            async with model.stream(request_options) as stream:
                await anext(stream)
        gc.collect()
    assert not [warning.message for warning in caught]


CUTS: dict[str, tuple[list[Piece], tuple[str, str]]] = {
    "closed": (
        [START, OPEN, HI],
        ("STREAM_CLOSED", "DeepSeek Messages stream ended before message_stop"),
    ),
    "closed-inside": (
        [START, OPEN, HI, CLOSE[:-7]],
        ("STREAM_CLOSED", "DeepSeek Messages stream ended before message_stop"),
    ),
    # Nothing says where the body ends: as for the official client, it ends here.
    "reset": (
        [START, OPEN, HI, 0.05, RESET],
        ("STREAM_CLOSED", "DeepSeek Messages stream ended before message_stop"),
    ),
    "silent": ([START, OPEN, HI, 10.0], ("TIMEOUT", "DeepSeek Messages stream idle timeout")),
}


@pytest.mark.parametrize("cut", CUTS)
async def test_what_came_before_a_failure_stays(request_options: Json, cut: str) -> None:
    pieces, said = CUTS[cut]
    *chunks, last = await settled(request_options, pieces, idle_timeout_ms=SILENCE)
    assert chunks == BEGUN
    assert failure(last) == said


CHAT_CUTS: dict[str, tuple[list[Piece], tuple[str, str]]] = {
    "closed": ([chat({"content": "Hi"})], ("STREAM_CLOSED", "SSE stream ended without [DONE]")),
    "reset": (
        [chat({"content": "Hi"}), 0.05, RESET],
        ("STREAM_CLOSED", "SSE stream ended without [DONE]"),
    ),
    "silent": (
        [chat({"content": "Hi"}), 10.0],
        ("TIMEOUT", f"DeepSeek stream idle timeout after {SILENCE}ms"),
    ),
}


@pytest.mark.parametrize("cut", CHAT_CUTS)
async def test_the_same_on_chat(request_options: Json, cut: str) -> None:
    pieces, (code, message) = CHAT_CUTS[cut]
    with serve(Reply(pieces)) as server:
        model = endpoint(server, "deepseek-chat", idle_timeout_ms=SILENCE)
        *chunks, last = await chunks_of(model, request_options)
    assert chunks == BEGUN
    assert failure(last) == (code, message.format(url=server.url))


@pytest.mark.parametrize("pieces", [[START, OPEN, HI], [START, OPEN, HI, 0.05, RESET]])
async def test_a_framed_body_that_breaks_off(request_options: Json, pieces: list[Piece]) -> None:
    *chunks, last = await settled(request_options, pieces, chunked=True)
    assert chunks == BEGUN
    assert failure(last) == ("TRANSPORT", "DeepSeek Messages transport failed")


async def test_a_framed_body_on_chat(request_options: Json) -> None:
    with serve(Reply([chat({"content": "Hi"}), 0.05, RESET], chunked=True)) as server:
        *_, last = await chunks_of(endpoint(server, "deepseek-chat"), request_options)
    assert failure(last) == ("TRANSPORT", f"DeepSeek API stream from {server.url} failed")


async def test_a_body_that_is_shorter_than_announced_is_broken(request_options: Json) -> None:
    chunks = await settled(request_options, [START, OPEN, HI], length=10_000)
    assert failure(chunks[-1]) == ("TRANSPORT", "DeepSeek Messages transport failed")


async def test_silence_before_the_head_is_bounded(request_options: Json) -> None:
    with serve(Reply([WHOLE], before=10)) as server:
        (chunk,) = await chunks_of(endpoint(server, idle_timeout_ms=200), request_options)
    assert failure(chunk) == ("TIMEOUT", "DeepSeek Messages stream idle timeout")


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        ("deepseek-messages", "DeepSeek Messages transport failed"),
        ("deepseek-chat", "DeepSeek API request to {url} failed"),
    ],
)
async def test_nobody_listens(request_options: Json, wire: str, message: str) -> None:
    with serve() as server:
        pass
    (chunk,) = await chunks_of(endpoint(server, wire), request_options)
    assert failure(chunk) == ("TRANSPORT", message.format(url=server.url))


async def test_the_idle_timer_rests_while_nobody_asks(request_options: Json) -> None:
    with serve(Reply([START, OPEN, HI, CLOSE, REASON, STOP])) as server:
        async with endpoint(server, idle_timeout_ms=SILENCE).stream(request_options) as stream:
            chunks = [await anext(stream)]
            await anyio.sleep(1.1 * SILENCE / 1000)
            chunks += [chunk async for chunk in stream]
    assert chunks == CHUNKS


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *(
            (400, "INVALID_REQUEST"),
            (401, "AUTH"),
            (402, "QUOTA"),
            (403, "AUTH"),
            (404, "HTTP_404"),
        ),
        *((413, "INVALID_REQUEST"), (429, "RATE_LIMIT"), (500, "SERVER"), (529, "SERVER")),
    ],
)
@pytest.mark.parametrize("wire", ["deepseek-messages", "deepseek-chat"])
async def test_statuses(request_options: Json, wire: str, status: int, code: str) -> None:
    if wire == "deepseek-chat" and status == 402:
        code = "HTTP_402"
    body = b'{"error":{"message":"refused","type":"x"}}'
    headers = [("retry-after", "7"), ("x-request-id", "r-1")]
    with serve(Reply([body], status=status, headers=headers)) as server:
        (chunk,) = await chunks_of(endpoint(server, wire), request_options)
    assert chunk["reason"]["failure"] == {
        "message": "refused",
        "code": code,
        "status": status,
        "providerRetryAfterMs": 7000,
        "requestId": "r-1",
    }


async def test_a_redirect_is_no_answer_on_messages(request_options: Json) -> None:
    with serve(Reply([WHOLE])) as other:
        headers = [("location", other.url + "/v1/messages")]
        chunks = await settled(request_options, [], status=307, headers=headers)
        assert failure(chunks[-1]) == ("TRANSPORT", "DeepSeek Messages transport failed")
        assert other.requests == []


async def test_a_redirect_is_followed_on_chat_without_the_key(request_options: Json) -> None:
    with serve(Reply([CHAT_WHOLE])) as other:
        # Another host name: only there a client has to leave the key out.
        location = other.url.replace("127.0.0.1", "localhost") + "/chat/completions"
        with serve(Reply([], status=307, headers=[("location", location)])) as server:
            chunks = await chunks_of(endpoint(server, "deepseek-chat"), request_options)
    assert chunks[-1] == {"type": "finish", "reason": {"kind": "stop"}}
    assert KEY.encode() in server.requests[0][0]
    assert KEY.encode() not in other.requests[0][0]


async def test_a_response_without_a_body(request_options: Json) -> None:
    chunks = await settled(request_options, [], status=204)
    assert failure(chunks[-1]) == ("EMPTY_RESPONSE", "DeepSeek Messages returned no response body")


async def test_limits_hold_on_the_way(request_options: Json) -> None:
    limits = Limits(event=1000)
    pieces = [START, b"data: " + b"x" * 2000, 10.0]
    chunks = await settled(request_options, pieces, limits=limits)
    assert failure(chunks[-1]) == (
        "RESPONSE_TOO_LARGE",
        "the response has an event of more than 1000 bytes",
    )


async def test_a_long_refusal_is_not_read_to_its_end(request_options: Json) -> None:
    with anyio.fail_after(20):
        chunks = await settled(request_options, [b"x" * 2**20, b"y", 60.0], status=500)
    assert failure(chunks[-1]) == ("SERVER", "DeepSeek Messages request failed (500)")


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("", "/v1/messages"),
        ("/", "/v1/messages"),
        ("/anthropic", "/anthropic/v1/messages"),
        ("/x/v1", "/x/v1/messages"),
        ("/x/v1/", "/x/v1/messages"),
    ],
)
async def test_where_messages_are_asked(request_options: Json, path: str, asked: str) -> None:
    with serve(Reply([WHOLE])) as server:
        await chunks_of(endpoint(server, base_url=server.url + path), request_options)
    assert server.requests[0][0].startswith(f"POST {asked} HTTP/1.1\r\n".encode())


async def test_what_is_sent_on_messages(request_options: Json) -> None:
    request = {**request_options, "sessionId": "s-1", "purpose": "compaction"}
    with serve(Reply([WHOLE])) as server:
        await chunks_of(endpoint(server, user_id="u-1"), request)
    head, body = server.requests[0]
    headers = dict(line.split(": ", 1) for line in head.decode().lower().split("\r\n")[1:])
    expected = {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "x-api-key": KEY,
        "anthropic-version": "2023-06-01",
        "x-deepseek-harness-user-id": "u-1",
        "x-deepseek-harness-session-id": "s-1",
        "x-deepseek-harness-compact": "1",
    }
    assert {name: headers[name] for name in expected} == expected
    assert "authorization" not in headers
    assert "anthropic-beta" not in headers
    assert list(json.loads(body)) == [
        *("model", "stream", "messages", "max_tokens", "thinking", "output_config")
    ]


async def test_what_is_sent_on_chat(request_options: Json) -> None:
    with serve(Reply([CHAT_WHOLE])) as server:
        chunks = await chunks_of(endpoint(server, "deepseek-chat"), request_options)
    head, _ = server.requests[0]
    assert head.startswith(b"POST /chat/completions HTTP/1.1\r\n")
    assert f"authorization: bearer {KEY}" in head.decode().lower()
    assert chunks == [*CHUNKS[:3], {"type": "finish", "reason": {"kind": "stop"}}]


@pytest.mark.parametrize(
    ("scenario", "wire"),
    [
        *(("v4/plain", "deepseek-messages"), ("v4/image-inline", "deepseek-messages")),
        *(("v4/tools", "deepseek-messages"), ("v3/tools", "deepseek-chat")),
    ],
)
async def test_the_request_of_a_log_is_sent_as_it_was(scenario: str, wire: str) -> None:
    """From a stored log to the bytes on the wire, images included."""
    (entry,) = [e for e in recorded() if e.name == scenario]
    route = json.loads(json.dumps(entry.route))
    attachments = DirectoryAttachments(entry.attachments)
    for request, body in zip(iter_requests(open_log(entry.log)), entry.bodies, strict=True):
        with serve(Reply([], status=400)) as server:
            model = endpoint(server, wire, route=route, attachments=attachments)
            await chunks_of(model, request.options())
        assert server.requests[0][1].decode() == without_extensions(body)


async def test_betas_are_named_when_they_are_used(request_options: Json) -> None:
    reference = {
        "attachmentId": "sha256:" + "0" * 64,
        "mediaType": "image/png",
        "bytes": 3,
        "width": 1,
        "height": 1,
    }
    content = [{"type": "image", "attachment": reference}, {"type": "text", "text": "?"}]
    change = {
        "role": "developer",
        "id": "d",
        "source": {"kind": "tool-registry"},
        "content": [{"type": "tool-addition", "toolName": "grep"}],
    }
    tool = {"name": "grep", "description": "", "parameters": {}}
    request = {
        **request_options,
        "messages": [{"role": "user", "content": content}, change],
        "tools": [tool],
        "toolHistory": {"tools": [], "updates": [{"messageId": "d", "additions": [tool]}]},
    }
    route = {"fileIds": {reference["attachmentId"]: "file-1"}}
    with serve(Reply([WHOLE])) as server:
        model = endpoint(server, route=route, attachments=_Images())
        await chunks_of(model, request)
    head, _ = server.requests[0]
    betas = b"anthropic-beta: files-api-2025-04-14,mid-conversation-tool-changes-2026-07-01"
    assert betas in head.lower()


class _Images:
    root = None

    def image(self, reference: Any) -> RequestImage:
        return RequestImage(b"png", reference["mediaType"], 1, 1)


async def test_a_request_that_the_wire_cannot_say_is_a_failure(request_options: Json) -> None:
    request = {**request_options, "reasoningEffort": "enormous"}
    with serve() as server:
        (chunk,) = await chunks_of(endpoint(server), request)
    assert failure(chunk)[0] == "UNSUPPORTED_REASONING_EFFORT"
    assert server.requests == []


@pytest.mark.parametrize(
    ("key", "code"),
    [(None, "MISSING_CREDENTIAL"), ("  ", "INVALID_CREDENTIAL"), ("a b", "INVALID_CREDENTIAL")],
)
async def test_keys_that_cannot_be_sent(request_options: Json, key: str | None, code: str) -> None:
    with serve() as server:
        (chunk,) = await chunks_of(endpoint(server, api_key=key), request_options)
    assert failure(chunk)[0] == code
    assert server.requests == []


async def test_a_key_is_trimmed(request_options: Json) -> None:
    with serve(Reply([WHOLE])) as server:
        await chunks_of(endpoint(server, api_key=lambda: f" {KEY}\n"), request_options)
    assert f"x-api-key: {KEY}\r\n".encode() in server.requests[0][0] + b"\r\n"


@pytest.mark.parametrize(
    "url",
    ["ftp://x", "http://user:pass@x", "http://x?a=1", "http://x/#f", "x", "http://", "http://x?"],
)
async def test_base_urls_that_are_refused(url: str) -> None:
    with pytest.raises(ModelCallError) as caught:
        Endpoint(api_key=KEY, base_url=url)
    assert caught.value.code == "INVALID_BASE_URL"
    assert "pass" not in str(caught.value)


async def test_settings_that_do_not_exist() -> None:
    with pytest.raises(UsageError, match="no wire is called"):
        Endpoint("telegraph", api_key=KEY)
    with pytest.raises(UsageError, match="route"):
        Endpoint(api_key=KEY, route={"colour": "red"})


async def test_connections_are_kept_while_an_endpoint_is_open(request_options: Json) -> None:
    async with deepseek(environ={}, api_key=KEY) as model:
        assert model.base_url == "https://api.deepseek.com/anthropic"
    with serve(Reply([WHOLE]), Reply([WHOLE])) as server:
        async with endpoint(server) as model:
            first = await chunks_of(model, request_options)
            second = await chunks_of(model, request_options)
    assert first == second == CHUNKS


async def test_the_environment_names_an_endpoint(request_options: Json) -> None:
    with serve(Reply([WHOLE])) as server:
        environ = {"DEEPSEEK_API_KEY": KEY, "DEEPSEEK_BASE_URL": server.url}
        assert await chunks_of(deepseek(environ=environ), request_options) == CHUNKS


async def test_what_a_route_declares() -> None:
    model = Endpoint(api_key=KEY)
    call = await model.prepare({"provider": "deepseek-official", "model": "deepseek-flash"})
    # The released catalog of format 4 (spec/wire/routes.yaml) and the released defaults.
    assert call.config == {
        "provider": "deepseek-official",
        "model": "deepseek-flash",
        "reasoningEffort": "high",
        "maxTokens": 256000,
    }
    assert call.adapter_defaults == {"reasoningEffort": True, "maxTokens": True}
    assert call.capabilities.context() == {
        "provider": "deepseek-official",
        "model": "deepseek-flash",
        "contextWindow": 1000000,
        "systemPromptUpdate": "in-history",
    }
    assert call.capabilities.tool_update == "addition-only"
    assert call.capabilities.name == "DeepSeek-V4.1-Flash"
    given = {
        "provider": "deepseek-official",
        "model": "x",
        "reasoningEffort": "low",
        "maxTokens": 5,
    }
    call = await model.prepare(given)
    assert (call.config, call.adapter_defaults) == (given, {})
    assert call.capabilities.system_prompt_update is None
    with pytest.raises(ModelCallError) as caught:
        await model.prepare({"provider": "other", "model": "x"})
    assert (caught.value.code, caught.value.message) == (
        "NO_ADAPTER",
        'no adapter registered for provider "other"',
    )


async def test_a_deployment_that_does_not_think() -> None:
    model = Endpoint(api_key=KEY, route={"thinking": "disabled"})
    config = {"provider": "deepseek-official", "model": "deepseek-flash"}
    assert (await model.prepare(config)).config["reasoningEffort"] == "off"
    with pytest.raises(ModelCallError) as caught:
        await model.prepare({**config, "reasoningEffort": "high"})
    assert caught.value.message == (
        'provider "deepseek-official" model "deepseek-flash" does not support reasoning effort "high"'
    )
