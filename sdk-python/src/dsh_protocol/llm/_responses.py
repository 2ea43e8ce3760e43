"""A response that is at hand, as a recording has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dsh_protocol import wire
from dsh_protocol.findings import WireError
from dsh_protocol.wire import failed_finish, http_failure

from ._http import Limits, read_events_at_once
from ._model import Chunk


def parse_response(
    wire_name: str,
    body: Iterable[bytes],
    *,
    model: str,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    base_url: str = "",
    limits: Limits | None = None,
    now_ms: int = 0,
) -> list[Chunk]:
    """The chunks of a response, exactly those that an endpoint would give.

    `body` comes in any pieces; `model` is the requested one; `headers` have lower-case names. The
    last chunk is the `finish`, also of a response that is cut, malformed or a refusal (`status`).

    Raises:
        UsageError: `wire/unknown`: no wire has this name.
    """
    parser = wire.stream_parser(wire_name, model=model, base_url=base_url)
    chunks: list[Chunk] = []
    try:
        if not 200 <= status < 300:
            text = b"".join(body).decode("utf-8-sig", "replace")
            raise http_failure(
                wire_name, status, headers or {}, text, now_ms=now_ms, base_url=base_url
            )
        # One by one: what came before a failure stays.
        for chunk in _parsed(parser, body, limits or Limits()):
            chunks.append(chunk)  # noqa: PERF402
    except WireError as error:
        chunks.append(failed_finish(error))
    return chunks


def _parsed(parser: wire.StreamParser, body: Iterable[bytes], limits: Limits) -> Iterator[Chunk]:
    for event in read_events_at_once(body, limits):
        yield from parser.push(event.data, event.name)
        if parser.done:
            return
    parser.end()
