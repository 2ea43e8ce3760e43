"""A request outside of the loop: ask once, and have the whole answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dsh_protocol.streams import Assembler
from dsh_protocol.wire import ModelCallError

from ._model import Model


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer: its blocks, how it ended, and its token counts where the model said them."""

    content: list[Any]
    finish: Mapping[str, Any]
    usage: Mapping[str, Any] | None

    @property
    def text(self) -> str:
        """The text blocks, one behind the other."""
        return "".join(block["text"] for block in self.content if block["type"] == "text")


async def ask(model: Model, request: Mapping[str, Any]) -> Answer:
    """The whole answer to a request (`GenerateOptions`); nothing is tried again.

    A caller outside of the loop gives its prompt as `system`, and tells its `purpose`.

    Raises:
        ModelCallError: the call failed; its code is that of the failure.
        StreamError: the model left a block open that has no plain content.
    """
    assembler = Assembler()
    async with model.stream(request) as chunks:
        async for chunk in chunks:
            assembler.push(chunk)
    made = assembler.assembled()
    if made.finish["kind"] in ("error", "aborted"):
        raise _error(made.finish["failure"])
    return Answer(made.content, made.finish, made.usage)


def _error(failure: Mapping[str, Any]) -> ModelCallError:
    return ModelCallError(
        failure["code"],
        failure["message"],
        status=failure.get("status"),
        provider_retry_after_ms=failure.get("providerRetryAfterMs"),
        request_id=failure.get("requestId"),
    )
