"""The op about the response of an endpoint."""

from __future__ import annotations

import base64
import time
from typing import Any

from dsh_protocol import jsonvalue, streams
from dsh_protocol.llm import parse_response

from ._answers import Json

_ENDPOINT = "http://endpoint.test"
"""The base URL that failures name."""


def wire_parse(given: Json, _version: int) -> Json:
    """The chunks that a response makes, and the event that settles it."""
    response, model = _asked(given)
    body = _body(response)
    size = response.get("pieces") or len(body) or 1
    chunks = parse_response(
        given["wire"],
        [body[at : at + size] for at in range(0, len(body), size)],
        model=model,
        status=response["status"],
        headers=response.get("headers", {}),
        base_url=_ENDPOINT,
        now_ms=time.time_ns() // 1_000_000,
    )
    return {"ok": {"chunks": chunks, **_settlement(chunks)}}


def _asked(given: Json) -> tuple[Json, str]:
    """The response, and the model that was asked: as the case says, or of a recorded exchange."""
    if "exchange" not in given:
        return given["response"], given["model"]
    request: Any = jsonvalue.loads(given["exchange"]["body"])
    return given["exchange"]["response"], request["model"]


def _body(response: Json) -> bytes:
    if "base64" in response:
        return base64.b64decode(response["base64"])
    text: str = response["body"]
    return text.encode("utf-8")


def _settlement(chunks: list[Json]) -> Json:
    made = streams.assemble(chunks)
    if made.finish["kind"] in ("error", "aborted"):
        return {"settles": "assistant/attempt"}
    return {"settles": "assistant/message", "content": made.content}
