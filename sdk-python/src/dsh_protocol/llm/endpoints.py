"""Models behind an endpoint: the wires `deepseek-messages` and `deepseek-chat` over HTTP."""

from __future__ import annotations

import os
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import anyio
from anyio import to_thread

from dsh_protocol import jsonvalue, wire
from dsh_protocol.findings import WireError
from dsh_protocol.wire import AttachmentStore, ModelCallError, failed, failed_finish, http_failure
from dsh_protocol.wire.routes import logged_route, model_name, newest_format

from ._http import (
    HttpResponse,
    HttpTransport,
    Limits,
    SecretHeaders,
    Transport,
    TransportError,
    read_events,
)
from ._model import Capabilities, Chunk, ChunkStream, PreparedCall, prepared
from .retry import RetryPolicy

Json = dict[str, Any]
BASE_URLS = {
    "deepseek-messages": "https://api.deepseek.com/anthropic",
    "deepseek-chat": "https://api.deepseek.com",
}
"""Where each wire is spoken unless an endpoint says otherwise."""
KEY_VARIABLE = "DEEPSEEK_API_KEY"
URL_VARIABLE = "DEEPSEEK_BASE_URL"
PROVIDER = "deepseek-official"
IDLE_TIMEOUT_MS = 300_000
MAX_ERROR_BYTES = 2**20
"""How much of the body of a refusal is read."""
EFFORTS = ("off", "low", "high", "max")
_LEGAL_KEY = re.compile(r"[!-~]+")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_WITHOUT_BODY = frozenset({204, 205})
_HIDDEN = "[API key]"


class Endpoint:
    """A model behind an endpoint. `api_key` is the key, or what gives it when a request is made.

    `base_url` is http(s) without user, query and fragment. `route` has members of `Route` that
    differ from what the release that speaks this wire declares; `attachments` is where images are
    found. `idle_timeout_ms` bounds the silence of the endpoint while a chunk is awaited. The key
    shows up in no failure, not even when the endpoint repeats it.

    `async with endpoint` keeps its connections open from one request to the next.

    Raises:
        UsageError: `wire/unknown`: no wire has this name; `wire/route`: a bad member of `route`.
        ModelCallError: `INVALID_BASE_URL`.
    """

    def __init__(
        self,
        wire_name: str = "deepseek-messages",
        *,
        api_key: str | Callable[[], str | None] | None,
        base_url: str | None = None,
        provider: str = PROVIDER,
        route: Mapping[str, Any] | None = None,
        attachments: AttachmentStore | None = None,
        retry_policy: RetryPolicy | None = None,
        idle_timeout_ms: int = IDLE_TIMEOUT_MS,
        limits: Limits | None = None,
        user_id: str | None = None,
        user_agent: str = "dsh-protocol (+https://pypi.org/project/dsh-protocol)",
        transport: Transport | None = None,
    ) -> None:
        wire.stream_parser(wire_name, model="")
        self.wire = wire_name
        self.provider = provider
        self.base_url = _checked_url(base_url or BASE_URLS[wire_name])
        self._format = newest_format(wire_name)
        self._overrides = dict(route or {})
        logged_route(self._format, provider, "", None, self._overrides)
        self._key = api_key if callable(api_key) else lambda: api_key
        self._attachments = attachments
        self._retry_policy = retry_policy or RetryPolicy()
        self._idle_timeout_ms = idle_timeout_ms
        self._limits = limits or Limits()
        self._user_id = user_id
        self._user_agent = user_agent
        self._transport = transport or HttpTransport()

    def __repr__(self) -> str:
        return f"Endpoint({self.wire!r}, provider={self.provider!r}, base_url={self.base_url!r})"

    async def __aenter__(self) -> Self:
        await self._transport.open()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._transport.aclose()

    async def prepare(self, config: Mapping[str, Any]) -> PreparedCall:
        """See `Model.prepare`.

        Raises:
            ModelCallError: `UNSUPPORTED_REASONING_EFFORT`, or `NO_ADAPTER` for another provider.
        """
        if config["provider"] != self.provider:
            raise failed("provider/unknown", provider=config["provider"])
        return prepared(config, self.capabilities(config["model"]), self._retry_policy)

    def capabilities(self, model: str) -> Capabilities:
        """What this endpoint declares about a model."""
        route = self._route(model)
        is_off = route.get("thinking") == "disabled"
        return Capabilities(
            provider=self.provider,
            model=model,
            name=model_name(self._format, model),
            context_window=route.get("contextWindow"),
            input_modalities=tuple(route["inputModalities"])
            if "inputModalities" in route
            else None,
            system_prompt_update=route.get("systemPromptUpdate"),
            tool_update=route.get("toolUpdate") if self._format >= 4 else None,
            default_max_tokens=route.get("maxTokens"),
            efforts=EFFORTS[:1] if is_off else EFFORTS,
            default_effort="off" if is_off else route.get("reasoningEffort", "high"),
        )

    def stream(self, request: Mapping[str, Any]) -> ChunkStream:
        """See `Model.stream`."""
        idle = _IdleTimer(self._idle_timeout_ms / 1000, self._idle_failure)
        return _EndpointStream(self._chunks(request, idle.pulse), idle)

    def _route(self, model: str) -> Json:
        return logged_route(self._format, self.provider, model, None, self._overrides)

    async def _chunks(
        self, request: Mapping[str, Any], pulse: Callable[[], None]
    ) -> AsyncGenerator[Chunk, None]:
        key = self._checked_key()
        async with AsyncExitStack() as stack:
            try:
                response = await self._sent(request, key)
                stack.push_async_callback(response.aclose)
                parsed = self._parsed(request["model"], response, pulse)
                async for chunk in await stack.enter_async_context(aclosing(parsed)):
                    yield _without(key, chunk) if chunk["type"] == "finish" else chunk
            except WireError as error:
                yield _without(key, failed_finish(error))

    async def _sent(self, request: Mapping[str, Any], key: _Secret) -> HttpResponse:
        body = await self._body(request)
        headers = self._headers(request, body, key)
        path = (
            _messages_path(self.base_url)
            if self.wire == "deepseek-messages"
            else "/chat/completions"
        )
        data = jsonvalue.dump_bytes(body)
        follow = self.wire == "deepseek-chat"
        try:
            return await self._transport.post(
                self.base_url + path, headers, data, follow_redirects=follow
            )
        except TransportError:
            raise self._failed("connect") from None

    async def _body(self, request: Mapping[str, Any]) -> Json:
        arguments = (self.wire, request, self._route(request["model"]), self._attachments)
        if self._attachments is None:
            return wire.serialize(*arguments)
        # Images are read from disk.
        return await to_thread.run_sync(wire.serialize, *arguments)

    async def _parsed(
        self, model: str, response: HttpResponse, pulse: Callable[[], None]
    ) -> AsyncGenerator[Chunk, None]:
        if self.wire == "deepseek-messages" and response.status in _REDIRECTS:
            raise self._failed("transport")
        async with aclosing(_pulsing(response.body(), pulse)) as body:
            try:
                if not 200 <= response.status < 300:
                    raise await self._refusal(response, body)
                if response.status in _WITHOUT_BODY:
                    raise self._failed("no-body")
                async with aclosing(self._read(model, body)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            except TransportError:
                raise self._failed("transport") from None

    async def _read(self, model: str, body: AsyncIterator[bytes]) -> AsyncGenerator[Chunk, None]:
        parser = wire.stream_parser(self.wire, model=model, base_url=self.base_url)
        async with aclosing(read_events(body, self._limits)) as events:
            async for event in events:
                for chunk in parser.push(event.data, event.name):
                    yield chunk
                if parser.done:
                    return
        parser.end()

    async def _refusal(self, response: HttpResponse, body: AsyncIterator[bytes]) -> ModelCallError:
        text = bytearray()
        async for data in body:
            text += data
            if len(text) > MAX_ERROR_BYTES:
                break
        now_ms = time.time_ns() // 1_000_000
        shown = text.decode("utf-8-sig", "replace")
        return http_failure(
            self.wire,
            response.status,
            response.headers,
            shown,
            now_ms=now_ms,
            base_url=self.base_url,
        )

    def _checked_key(self) -> _Secret:
        key = _Secret(self._key())
        if key.value is None:
            raise failed("credential/missing", provider=self.provider, variable=KEY_VARIABLE)
        if not _LEGAL_KEY.fullmatch(key.text):
            raise failed("credential/invalid", provider=self.provider)
        return key

    def _headers(self, request: Mapping[str, Any], body: Json, key: _Secret) -> SecretHeaders:
        headers = SecretHeaders(
            {
                "user-agent": self._user_agent,
                "content-type": "application/json",
                "accept": "text/event-stream",
            }
        )
        if self.wire == "deepseek-messages":
            headers |= {"x-api-key": key.text, "anthropic-version": "2023-06-01"}
            if betas := _betas(body):
                headers["anthropic-beta"] = ",".join(betas)
        else:
            headers["authorization"] = f"Bearer {key.text}"
        if self._user_id is not None:
            headers["x-deepseek-harness-user-id"] = self._user_id
        if "sessionId" in request:
            headers["x-deepseek-harness-session-id"] = request["sessionId"]
        if request.get("purpose") == "compaction":
            headers["x-deepseek-harness-compact"] = "1"
        return headers

    def _idle_failure(self) -> ModelCallError:
        return self._failed("idle")

    def _failed(self, what: str) -> ModelCallError:
        kind = self.wire.removeprefix("deepseek-")
        if kind == "messages" and what == "connect":
            what = "transport"
        values = {"base": self.base_url, "milliseconds": self._idle_timeout_ms}
        return failed(f"{kind}/{what}", **values)


def deepseek(
    wire_name: str = "deepseek-messages",
    *,
    environ: Mapping[str, str] = os.environ,
    **settings: Any,
) -> Endpoint:
    """The DeepSeek endpoint that the environment names: `DEEPSEEK_API_KEY`, `DEEPSEEK_BASE_URL`.

    `settings` are those of `Endpoint`.

    Raises:
        UsageError: `wire/unknown`, `wire/route`.
        ModelCallError: `INVALID_BASE_URL`.
    """
    given = {"api_key": environ.get(KEY_VARIABLE), "base_url": environ.get(URL_VARIABLE)}
    return Endpoint(wire_name, **{**given, **settings})


class _Secret:
    """A text that is not shown, not even as a variable of a traceback."""

    __slots__ = ("value",)

    def __init__(self, value: str | None) -> None:
        self.value = value

    @property
    def text(self) -> str:
        """The secret, without white space around it."""
        return (self.value or "").strip()

    def __repr__(self) -> str:
        return "<secret>"


class _IdleTimer:
    """Bounds the silence of an endpoint; it runs only while a chunk is awaited."""

    def __init__(self, seconds: float, failure: Callable[[], ModelCallError]) -> None:
        self._seconds = seconds
        self._failure = failure
        self._scope: anyio.CancelScope | None = None

    def pulse(self) -> None:
        """Say that the endpoint lives."""
        if self._scope is not None:
            self._scope.deadline = anyio.current_time() + self._seconds

    async def next(self, chunks: AsyncIterator[Chunk]) -> Chunk:
        with anyio.move_on_after(self._seconds) as self._scope:
            return await anext(chunks)
        raise self._failure()


class _EndpointStream(ChunkStream):
    def __init__(self, chunks: AsyncGenerator[Chunk, None], idle: _IdleTimer) -> None:
        super().__init__(chunks)
        self._idle = idle

    async def _next(self) -> Chunk:
        return await self._idle.next(self._chunks)


async def _pulsing(
    body: AsyncGenerator[bytes, None], pulse: Callable[[], None]
) -> AsyncGenerator[bytes, None]:
    async with aclosing(body):
        async for data in body:
            pulse()
            yield data


def _without(key: _Secret, finish: Chunk) -> Chunk:
    """The end of a stream without the key, should an endpoint have repeated it in a failure."""
    failure = finish["reason"].get("failure")
    if failure is None:
        return finish
    pattern = re.compile(re.escape(key.text), re.IGNORECASE)
    said = {k: pattern.sub(_HIDDEN, v) if isinstance(v, str) else v for k, v in failure.items()}
    return {**finish, "reason": {**finish["reason"], "failure": said}}


def _betas(body: Json) -> list[str]:
    """What a body uses that the wire calls beta, in the order in which it is named."""
    blocks = [block for message in body["messages"] for block in message["content"]]
    betas = []
    if any(_uses_file(block) for block in blocks):
        betas.append("files-api-2025-04-14")
    if any(block["type"] in ("tool_addition", "tool_removal") for block in blocks):
        betas.append("mid-conversation-tool-changes-2026-07-01")
    return betas


def _uses_file(block: Json) -> bool:
    if block["type"] == "tool_result":
        return any(map(_uses_file, block["content"]))
    return bool(block["type"] == "image" and block["source"]["type"] == "file")


def _messages_path(base_url: str) -> str:
    return "/messages" if urlsplit(base_url).path.endswith("/v1") else "/v1/messages"


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise failed("endpoint/url") from None
    plain = not (parts.query or parts.fragment or "@" in parts.netloc or "?" in url or "#" in url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise failed("endpoint/url")
    return url.rstrip("/")
