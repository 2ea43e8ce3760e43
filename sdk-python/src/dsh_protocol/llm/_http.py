"""Requests over HTTP, and server-sent events: the only module that knows the HTTP library.

The library reads events as the HTML standard says. What is ours stands below it, on the bytes: a
limit for all of them, and an end that makes no event of an unfinished tail.
"""

from __future__ import annotations

import codecs
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast

import httpx2

from dsh_protocol.wire import ModelCallError, failed

MAX_EVENT_BYTES = 16 * 2**20
"""The longest server-sent event that is read."""
MAX_RESPONSE_BYTES = 64 * 2**20
"""The longest response that is read; a settlement that keeps more would be no legal row."""
_NAMELESS = "message"
"""What the library calls an event without a name."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most bytes of one event, and of one response."""

    event: int = MAX_EVENT_BYTES
    response: int = MAX_RESPONSE_BYTES


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event: its data, and its `event` field if it has one."""

    data: str
    name: str | None


class TransportError(Exception):
    """The connection failed. It holds no request, so that no header can show up anywhere."""


class SecretHeaders(dict[str, str]):
    """Request headers whose values are not shown."""

    def __repr__(self) -> str:
        return f"<{len(self)} headers>"


class HttpResponse(Protocol):
    """A response whose body has not been read."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers by lower-case name."""

    def body(self) -> AsyncGenerator[bytes, None]:
        """The body, decompressed, as it comes.

        Raises:
            TransportError: the connection broke.
        """

    async def aclose(self) -> None:
        """Close the connection, or give it back when the body was read to its end."""


class Transport(Protocol):
    """Sends requests."""

    async def post(
        self, url: str, headers: SecretHeaders, body: bytes, *, follow_redirects: bool
    ) -> HttpResponse:
        """Send a request, and wait for the head of its response.

        Raises:
            TransportError: there is no connection, or it broke.
        """

    async def open(self) -> None:
        """Keep connections open between requests from now on."""

    async def aclose(self) -> None:
        """Close what is kept open between requests, and keep nothing open any more."""


class HttpTransport:
    """Sends requests with the HTTP library; there is no time limit here.

    Each request has a connection of its own, unless they are kept `open`.
    """

    def __init__(self) -> None:
        self._shared: httpx2.AsyncClient | None = None

    async def post(
        self, url: str, headers: SecretHeaders, body: bytes, *, follow_redirects: bool
    ) -> HttpResponse:
        """Send a request, and wait for the head of its response.

        Raises:
            TransportError: there is no connection, or it broke.
        """
        async with AsyncExitStack() as stack:
            client = self._shared
            if client is None:
                client = await stack.enter_async_context(self._client())
            response = await _sent(client, url, headers, body, follow_redirects)
            stack.push_async_callback(response.aclose)
            return _Response(response, stack.pop_all())

    async def open(self) -> None:
        """Keep connections open between the requests of this event loop, until `aclose`."""
        if self._shared is None:
            self._shared = self._client()

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        shared, self._shared = self._shared, None
        if shared is not None:
            await shared.aclose()

    def _client(self) -> httpx2.AsyncClient:
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=20)
        return httpx2.AsyncClient(verify=self._context, timeout=None, limits=limits)

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return httpx2.create_ssl_context()


class _Response:
    def __init__(self, response: httpx2.Response, resources: AsyncExitStack) -> None:
        self._response = response
        self._resources = resources

    @property
    def status(self) -> int:
        return self._response.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self._response.headers

    async def body(self) -> AsyncGenerator[bytes, None]:
        problem = None
        source = self._response.aiter_bytes()
        try:
            async for data in source:
                yield data
        except httpx2.HTTPError as error:
            problem = None if self._ends_so(error) else type(error).__name__
        finally:
            # Left early, the library's generators would end wherever they are collected: on a closed
            # connection they end here.
            await self._response.aclose()
            with suppress(httpx2.HTTPError, httpx2.StreamError):
                async for _ in source:
                    pass
        if problem is not None:
            raise TransportError(problem)

    async def aclose(self) -> None:
        await self._resources.aclose()

    def _ends_so(self, error: httpx2.HTTPError) -> bool:
        """Whether a reset connection is the end of this body, as the official HTTP client sees it.

        That is so when nothing else says where the body ends.
        """
        headers = self._response.headers
        is_framed = "content-length" in headers or "transfer-encoding" in headers
        return isinstance(error, httpx2.ReadError) and not is_framed


async def _sent(
    client: httpx2.AsyncClient,
    url: str,
    headers: SecretHeaders,
    body: bytes,
    follow_redirects: bool,
) -> httpx2.Response:
    # Raised outside of the handler: a chained error of the library would hold the request.
    problem = None
    try:
        request = client.build_request("POST", url, headers=headers, content=body)
        return await client.send(request, stream=True, follow_redirects=follow_redirects)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        problem = type(error).__name__
    raise TransportError(problem)


async def read_events(
    body: AsyncIterator[bytes], limits: Limits
) -> AsyncGenerator[ServerSentEvent, None]:
    """The events of a body, as it comes; an event that no blank line ends is none.

    Raises:
        ModelCallError: `RESPONSE_TOO_LARGE`.
        TransportError: the connection broke.
    """
    text = _text_of(body, _Tap(limits.response))
    source = aiter(httpx2.EventSource(_Text(live=text), limits.event))
    names = _Names()
    # What the library left open is closed here, not wherever it would be collected.
    async with aclosing(text), aclosing(cast(_Events, source)) as events:
        try:
            async for event in events:
                if (read := names.read(event)) is not None:
                    yield read
        except httpx2.SSEError:
            raise _too_long(limits) from None


def read_events_at_once(body: Iterable[bytes], limits: Limits) -> Iterator[ServerSentEvent]:
    """The events of a body that is at hand; as `read_events`.

    Raises:
        ModelCallError: `RESPONSE_TOO_LARGE`.
    """
    tap = _Tap(limits.response)
    names = _Names()
    try:
        for event in httpx2.EventSource(_Text(whole=tap.text_of(body)), limits.event):
            if (read := names.read(event)) is not None:
                yield read
    except httpx2.SSEError:
        raise _too_long(limits) from None


_Events = AsyncGenerator[httpx2.ServerSentEvent, None]


class _Text(httpx2.Response):
    """A response for the library's parser; its text is given."""

    def __init__(
        self, *, live: AsyncIterator[str] | None = None, whole: Iterator[str] | None = None
    ) -> None:
        request = httpx2.Request("POST", "http://localhost")
        super().__init__(200, headers={"content-type": "text/event-stream"}, request=request)
        self._live, self._whole = live, whole

    def aiter_text(self, chunk_size: int | None = None) -> AsyncIterator[str]:  # noqa: ARG002
        assert self._live is not None
        return self._live

    def iter_text(self, chunk_size: int | None = None) -> Iterator[str]:  # noqa: ARG002
        assert self._whole is not None
        return self._whole


class _Tap:
    """The bytes below the parser: counted, decoded, and ended so that an unfinished tail is no event."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._left = limit
        self._held = ""
        # Drops a byte order mark, which the standard wants.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")

    def take(self, data: bytes) -> str:
        """The text of the next bytes.

        Raises:
            ModelCallError: `RESPONSE_TOO_LARGE`.
        """
        self._left -= len(data)
        if self._left < 0:
            raise failed("response/too-large", what="a body", limit=self._limit)
        text = self._held + self._decoder.decode(data)
        # Half of a line end decides nothing; at the end of a body the library would take it for a whole one.
        self._held = "\r" if text.endswith("\r") else ""
        return text.removesuffix("\r")

    def rest(self) -> str:
        """What ends the text: a comment, which makes no event of a line that nothing ended."""
        return ":"

    def text_of(self, body: Iterable[bytes]) -> Iterator[str]:
        """The text of a body that is at hand."""
        yield from map(self.take, body)
        yield self.rest()


async def _text_of(body: AsyncIterator[bytes], tap: _Tap) -> AsyncGenerator[str, None]:
    async for data in body:
        yield tap.take(data)
    yield tap.rest()


class _Names:
    """What the library leaves open: whether an event had a name, and whether it had data at all.

    An event that is called `message` looks like one without a name.
    """

    def __init__(self) -> None:
        self._last_id = ""

    def read(self, event: httpx2.ServerSentEvent) -> ServerSentEvent | None:
        """The event; null for one without data, which is none."""
        name = None if event.event == _NAMELESS else event.event
        is_new_id, self._last_id = event.id != self._last_id, event.id
        if not event.data and (name is not None or event.retry is not None or is_new_id):
            return None
        return ServerSentEvent(event.data, name)


def _too_long(limits: Limits) -> ModelCallError:
    return failed("response/too-large", what="an event", limit=limits.event)
