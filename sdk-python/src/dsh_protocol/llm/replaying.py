"""A model that answers as a recorded session was answered."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import anyio

from dsh_protocol.requests import iter_requests
from dsh_protocol.rows import Log
from dsh_protocol.streams import expand
from dsh_protocol.wire import failed

from ._model import Capabilities, Chunk, ChunkStream, PreparedCall, prepared
from .retry import RetryPolicy


class ReplayModel:
    """Answers request k with the stream of the k-th settlement of a log, counted without inherited ones.

    What it declares is what the log says of its requests, unless `capabilities` is given. An answer
    that was interrupted stops where it stopped, and waits to be cancelled again; a request beyond
    the last settlement fails with `REPLAY_EXHAUSTED`. `requests` is what it was asked, in order.

    Raises:
        RefusedError: the log is malformed where its requests are read.
        StreamError: a stored stream is.
    """

    def __init__(
        self,
        log: Log,
        *,
        capabilities: Capabilities | None = None,
        retry_policy: RetryPolicy | None = None,
    ) -> None:
        self.requests: list[Mapping[str, Any]] = []
        self._answers: list[list[Chunk]] = []
        self._capabilities = capabilities
        self._retry_policy = retry_policy or RetryPolicy()
        events = {event.seq: event for event in log.events}
        for request in iter_requests(log):
            if request.index is None:
                continue
            self._capabilities = self._capabilities or _declared(request.header, request.context)
            stream = events[request.seq].data["stream"]
            self._answers.append([chunk for _, chunk in expand(stream)])

    async def prepare(self, config: Mapping[str, Any]) -> PreparedCall:
        """See `Model.prepare`.

        Raises:
            ModelCallError: `UNSUPPORTED_REASONING_EFFORT`.
        """
        declared = self._capabilities or Capabilities(config["provider"], config["model"], "")
        return prepared(config, declared, self._retry_policy)

    def stream(self, request: Mapping[str, Any]) -> ChunkStream:
        """See `Model.stream`."""
        return ChunkStream(self._chunks(request))

    async def _chunks(self, request: Mapping[str, Any]) -> AsyncGenerator[Chunk, None]:
        index = len(self.requests)
        self.requests.append(request)
        if index >= len(self._answers):
            raise failed("replay/exhausted", count=len(self._answers))
        answer = self._answers[index]
        for chunk in answer:
            await anyio.lowlevel.checkpoint()
            yield chunk
        if not answer or answer[-1]["type"] != "finish":
            await anyio.sleep_forever()


def _declared(header: Mapping[str, Any] | None, context: Mapping[str, Any] | None) -> Capabilities:
    """What a log says of the route of a request."""
    config = (header or {}).get("config", {})
    defaults = (header or {}).get("adapterDefaults", {})
    effort = config.get("reasoningEffort")
    known = context or {}
    return Capabilities(
        provider=config.get("provider", ""),
        model=config.get("model", ""),
        name=config.get("model", ""),
        context_window=known.get("contextWindow"),
        system_prompt_update=known.get("systemPromptUpdate"),
        default_max_tokens=config.get("maxTokens") if "maxTokens" in defaults else None,
        efforts=() if effort is None else (effort,),
        default_effort=effort if "reasoningEffort" in defaults else None,
    )
