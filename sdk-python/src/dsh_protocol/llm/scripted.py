"""A model that answers from a script: no network, no key.

A script is a list of replies, one for each request. A reply is a text, a list of chunks (`answer`
makes one), a failure (`refusal`), or a function from the request to one of these.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import anyio

from dsh_protocol.wire import ModelCallError

from ._model import Capabilities, Chunk, ChunkStream, PreparedCall, prepared
from .retry import RetryPolicy

Json = dict[str, Any]
Fixed: TypeAlias = str | Sequence[Chunk] | ModelCallError
Reply: TypeAlias = Fixed | Callable[[Mapping[str, Any]], Fixed]

PROVIDER = "scripted"
MODEL = "scripted"
_HELD = "This is the scripted model: nothing was sent anywhere. It was asked: "


def answer(
    text: str = "",
    *,
    reasoning: str = "",
    calls: Iterable[tuple[str, str, str]] = (),
    usage: Mapping[str, int] | None = None,
    finish: str | None = None,
    pieces: int = 0,
) -> list[Chunk]:
    """The chunks of an answer: reasoning, text, then calls, each as `(id, name, arguments)`.

    `pieces` is the length of one delta in characters (0: each block is one delta), `finish` the
    kind of the finish reason, `tool-calls` or `stop` unless it is given.
    """
    blocks: list[Json] = []
    if reasoning:
        blocks.append({"type": "reasoning", "text": reasoning})
    if text:
        blocks.append({"type": "text", "text": text})
    for call_id, name, arguments in calls:
        blocks.append({"type": "tool-call", "id": call_id, "name": name, "arguments": arguments})
    chunks = [c for i, block in enumerate(blocks) for c in _block_chunks(i, block, pieces)]
    if usage is not None:
        chunks.append({"type": "usage", "usage": dict(usage)})
    waits = any(block["type"] == "tool-call" for block in blocks)
    kind = finish or ("tool-calls" if waits else "stop")
    return [*chunks, {"type": "finish", "reason": {"kind": kind}}]


def refusal(code: str, message: str, **facts: Any) -> ModelCallError:
    """A failed call; `facts` are `status`, `provider_retry_after_ms` and `request_id`."""
    return ModelCallError(code, message, **facts)


def echo(request: Mapping[str, Any]) -> str:
    """The reply of a model that has no script: what it was asked last."""
    said = [message for message in request["messages"] if message["role"] == "user"]
    texts = (
        [block["text"] for block in said[-1]["content"] if block["type"] == "text"] if said else []
    )
    return _HELD + " ".join(texts)


class ScriptedModel:
    """Answers from a script, and repeats its last reply; without one it says what it was asked.

    `requests` is what it was asked, in order. `capabilities` is what it declares; its provider and
    model are those of each request. `pause` is the time between two chunks in seconds.
    """

    def __init__(
        self,
        replies: Iterable[Reply] = (),
        *,
        capabilities: Capabilities | None = None,
        retry_policy: RetryPolicy | None = None,
        pause: float = 0,
    ) -> None:
        self.requests: list[Mapping[str, Any]] = []
        self._replies = list(replies) or [echo]
        self._capabilities = capabilities or Capabilities(PROVIDER, MODEL, "Scripted model")
        self._retry_policy = retry_policy or RetryPolicy()
        self._pause = pause

    async def prepare(self, config: Mapping[str, Any]) -> PreparedCall:
        """See `Model.prepare`.

        Raises:
            ModelCallError: `UNSUPPORTED_REASONING_EFFORT`.
        """
        return prepared(config, self._capabilities, self._retry_policy)

    def stream(self, request: Mapping[str, Any]) -> ChunkStream:
        """See `Model.stream`."""
        return ChunkStream(self._chunks(request))

    async def _chunks(self, request: Mapping[str, Any]) -> AsyncGenerator[Chunk, None]:
        place = min(len(self.requests), len(self._replies) - 1)
        self.requests.append(request)
        reply = self._replies[place]
        if callable(reply):
            reply = reply(request)
        if isinstance(reply, ModelCallError):
            raise reply
        for chunk in answer(reply) if isinstance(reply, str) else reply:
            await anyio.sleep(self._pause)
            yield chunk


def _block_chunks(index: int, block: Json, pieces: int) -> list[Chunk]:
    kind = block["type"]
    start = {"type": "block-start", "index": index, "blockType": kind}
    end = {"type": "block-end", "index": index, "block": block}
    text = block["arguments" if kind == "tool-call" else "text"]
    size = pieces or len(text) or 1
    deltas = [text[at : at + size] for at in range(0, len(text), size)]
    if kind != "tool-call":
        made = [{"type": f"{kind}-delta", "index": index, "text": delta} for delta in deltas]
        return [start, *made, end]
    call: Json = {"type": "tool-call-delta", "index": index, "id": block["id"]}
    named = {**call, "name": block["name"], "argumentsDelta": ""}
    return [start, named, *({**call, "argumentsDelta": delta} for delta in deltas), end]
