"""Models: what answers a request, over a network or without one.

The interface that the loop relies on::

    call = await model.prepare({"provider": "deepseek-official", "model": "deepseek-flash"})
    call.config               # the settings, defaults of the route filled in: what request/header logs
    call.adapter_defaults     # which of them were filled in
    call.capabilities         # context window, update modes, modalities: what request/context logs
    call.retry_policy         # for `retry.next_retry`

    async with model.stream({**call.config, "messages": [...], "sessionId": "s-1"}) as chunks:
        async for chunk in chunks:   # StreamChunk objects; the last one is a finish
            ...

`stream` never raises for a call that fails: its last chunk is a `finish` with the reason `error`
and an `LlmFailure`. Cancelling (anyio scopes) ends the call at once, without a chunk. All of it runs
on asyncio and on trio.
"""

from __future__ import annotations

from dsh_protocol.wire import ModelCallError

from ._http import Limits
from ._model import Capabilities, Chunk, ChunkStream, Model, PreparedCall, prepared
from ._responses import parse_response
from .endpoints import Endpoint, deepseek
from .one_shot import Answer, ask
from .replaying import ReplayModel
from .retry import Retry, RetryPolicy, next_retry, retry_data, retry_started_data
from .scripted import ScriptedModel, answer, refusal

__all__ = [
    "Answer",
    "Capabilities",
    "Chunk",
    "ChunkStream",
    "Endpoint",
    "Limits",
    "Model",
    "ModelCallError",
    "PreparedCall",
    "ReplayModel",
    "Retry",
    "RetryPolicy",
    "ScriptedModel",
    "answer",
    "ask",
    "deepseek",
    "next_retry",
    "parse_response",
    "prepared",
    "refusal",
    "retry_data",
    "retry_started_data",
]
