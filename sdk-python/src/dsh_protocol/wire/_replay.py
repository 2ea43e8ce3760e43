"""Replay state: what an adapter stored with a response, to send it back unchanged."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

_KIND = "deepseek-messages"
_VERSION = 1
_BLOCKS = frozenset({"text", "reasoning", "tool-call"})


def signatures(message: Json, model: str) -> list[str | None]:
    """The signature of each content block of an assistant message, for a request to `model`.

    Anything but a state of this wire that fits the message gives none: the text is sent without its
    proof, which is allowed.
    """
    content: list[Json] = message["content"]
    source = message.get("source", {})
    state = source.get("replayState")
    none: list[str | None] = [None] * len(content)
    if source.get("kind") != "model" or not isinstance(state, dict):
        return none
    response, blocks = state.get("response"), state.get("blocks")
    if not _is_own(response, source.get("model")) or not isinstance(blocks, list):
        return none
    if len(blocks) != len(content) or not all(map(_fits, content, blocks)):
        return none
    if source["model"] != model:
        return none
    return [block.get("signature") for block in blocks]


def _is_own(response: Any, model: Any) -> bool:
    return (
        isinstance(response, dict)
        and response.get("kind") == _KIND
        and type(response.get("version")) is int
        and response["version"] == _VERSION
        and isinstance(response.get("model"), str)
        and response["model"] == model
    )


def _fits(block: Json, stored: Any) -> bool:
    if not isinstance(stored, dict) or stored.get("type") != block["type"]:
        return False
    if block["type"] not in _BLOCKS:
        return False
    if "signature" not in stored:
        return True
    return block["type"] == "reasoning" and isinstance(stored["signature"], str)
