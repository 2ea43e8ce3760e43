"""What a model is to the loop: it prepares a call, and streams the chunks of a response."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from dsh_protocol.wire import failed, failed_finish

from .retry import RetryPolicy

Json = dict[str, Any]
Chunk = Json
"""A stream chunk (`StreamChunk` of spec/session/common/streams.json)."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a route declares about one model. Null: it does not say, or does not have it.

    `efforts` are the reasoning efforts that may be asked for, `default_effort` the one of a request
    that does not say.
    """

    provider: str
    model: str
    name: str
    context_window: int | None = None
    input_modalities: tuple[str, ...] | None = None
    system_prompt_update: Literal["in-history"] | None = None
    tool_update: Literal["in-history", "addition-only"] | None = None
    default_max_tokens: int | None = None
    efforts: tuple[str, ...] = ()
    default_effort: str | None = None

    def context(self) -> Json:
        """The data of the `request/context` event of a request to this model."""
        data: Json = {"provider": self.provider, "model": self.model}
        if self.context_window is not None:
            data["contextWindow"] = self.context_window
        if self.system_prompt_update is not None:
            data["systemPromptUpdate"] = self.system_prompt_update
        return data


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A request's settings with the defaults of its route filled in.

    `config` is what a `request/header` logs and what the request's options spread; members that a
    default filled in are named by `adapter_defaults` (`{"reasoningEffort": True, "maxTokens":
    True}`, each only where it applies).
    """

    config: Mapping[str, Any]
    adapter_defaults: Mapping[str, Literal[True]]
    capabilities: Capabilities
    retry_policy: RetryPolicy


class ChunkStream:
    """The chunks of one model call, in order; an async iterator and an async context manager.

    A call that fails ends with a chunk `finish` that says so; nothing follows a `finish`. Iterating
    raises only what cancels the task that iterates. Leaving early: `aclose`, or leave the `async
    with`, which closes the connection.
    """

    def __init__(self, chunks: AsyncGenerator[Chunk, None]) -> None:
        self._chunks = chunks
        self._is_done = False

    def __aiter__(self) -> AsyncIterator[Chunk]:
        return self

    async def __anext__(self) -> Chunk:
        if self._is_done:
            raise StopAsyncIteration
        try:
            chunk = await self._next()
        except StopAsyncIteration:
            self._is_done = True
            raise
        except Exception as error:
            # As the official runtime does: whatever an adapter throws ends the stream.
            self._is_done = True
            return failed_finish(error)
        if chunk["type"] == "finish":
            self._is_done = True
            await self._chunks.aclose()
        return chunk

    async def _next(self) -> Chunk:
        return await anext(self._chunks)

    async def aclose(self) -> None:
        """Take nothing more of this call; its connection is closed."""
        self._is_done = True
        await self._chunks.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


class Model(Protocol):
    """Something that answers model requests."""

    async def prepare(self, config: Mapping[str, Any]) -> PreparedCall:
        """Fill in what the settings of a request leave to the route.

        `config` has `provider` and `model`, and may have `reasoningEffort`, `temperature`,
        `maxTokens` and `stop`.

        Raises:
            ModelCallError: `UNSUPPORTED_REASONING_EFFORT`: the model does not have this effort;
                `NO_ADAPTER`: nothing serves the provider.
        """

    def stream(self, request: Mapping[str, Any]) -> ChunkStream:
        """Ask, and give the chunks while they come. `request` is a `GenerateOptions` object.

        Nothing is sent before the first chunk is awaited. Cancelling the scope (anyio) that awaits
        a chunk cancels the call and closes its connection.
        """


def prepared(
    config: Mapping[str, Any], capabilities: Capabilities, retry_policy: RetryPolicy
) -> PreparedCall:
    """The prepared call of a model with these capabilities.

    Raises:
        ModelCallError: `UNSUPPORTED_REASONING_EFFORT`.
    """
    filled = dict(config)
    defaults: dict[str, Literal[True]] = {}
    effort = config.get("reasoningEffort", capabilities.default_effort)
    if effort is not None and effort not in capabilities.efforts:
        raise failed(
            "prepare/effort",
            provider=capabilities.provider,
            model=capabilities.model,
            effort=effort,
        )
    if effort is not None and "reasoningEffort" not in config:
        filled["reasoningEffort"] = effort
        defaults["reasoningEffort"] = True
    if "maxTokens" not in config and capabilities.default_max_tokens is not None:
        filled["maxTokens"] = capabilities.default_max_tokens
        defaults["maxTokens"] = True
    return PreparedCall(filled, defaults, capabilities, retry_policy)
