"""Assistant messages of a pi-ai context: restored from replay state, or told anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dsh_protocol import jsonvalue
from dsh_protocol.findings import JsonError

from ._texts import failure

Json = dict[str, Any]
_FOREIGN_API = "dsh-foreign"
_STOPS = frozenset({"stop", "length", "toolUse", "error", "aborted"})
_TYPES = frozenset({"text", "reasoning", "tool-call"})
_RESPONSE = ("responseModel", "responseId", "providerThinkingLevel")
_TEXTS = {
    3: ("textSignature", "thinkingSignature", "thoughtSignature"),
    4: ("textSignature", "thinkingSignature", "thoughtSignature", "namespace"),
}
_RESTORED = {
    "text": ("textSignature",),
    "reasoning": ("thinkingSignature", "redacted"),
    "tool-call": ("thoughtSignature", "namespace"),
}
"""What replay state adds to a block of each type, in the order of a context."""


def assistant(message: Json, version: int) -> Json:
    """The message for a release that writes session format `version`.

    Replay state of another adapter, or one that does not fit the message, is left aside.

    Raises:
        WireError: `UNSUPPORTED_CONTENT`: the message has an image.
    """
    source = message.get("source", {})
    state = source.get("replayState")
    blocks = _restored(message["content"], source, state, version)
    if blocks is None:
        return _foreign(message, source)
    response = state["response"]
    head = {name: response[name] for name in ("api", "provider", "model")}
    known = {name: response[name] for name in _RESPONSE if name in response}
    return _assistant(blocks, {**head, **known}, response["stopReason"])


def _foreign(message: Json, source: Mapping[str, Any]) -> Json:
    content = [_block(block) for block in message["content"] if block["type"] in _TYPES]
    if any(block["type"] == "image" for block in message["content"]):
        raise failure("pi-ai/image-role", role="assistant")
    calls = any(block["type"] == "toolCall" for block in content)
    head = {"api": _FOREIGN_API}
    head |= {name: source[name] for name in ("provider", "model") if name in source}
    return _assistant(content, head, "toolUse" if calls else "stop")


def _assistant(content: list[Json], head: Json, stop: str) -> Json:
    counts = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    usage = {**counts, "totalTokens": 0, "cost": {**counts, "total": 0}}
    end = {"usage": usage, "stopReason": stop, "timestamp": 0}
    return {"role": "assistant", "content": content, **head, **end}


def _restored(
    content: Sequence[Json], source: Mapping[str, Any], state: Any, version: int
) -> list[Json] | None:
    """The blocks with what the replay state says of them; null when it cannot be used."""
    if not isinstance(state, dict) or not _is_own(state.get("response"), source):
        return None
    stored = state.get("blocks")
    if not isinstance(stored, list) or not all(_is_sound(entry, version) for entry in stored):
        return None
    if len(stored) != len(content):
        return None
    if any(entry["type"] != block["type"] for entry, block in zip(stored, content, strict=True)):
        return None
    known = {*_TEXTS[version], "redacted"}
    blocks = []
    for block, entry in zip(content, stored, strict=True):
        names = (name for name in _RESTORED[block["type"]] if name in known and name in entry)
        blocks.append({**_block(block), **{name: entry[name] for name in names}})
    return blocks


def _is_own(response: Any, source: Mapping[str, Any]) -> bool:
    if not isinstance(response, dict) or response.get("kind") != "pi-ai":
        return False
    if not jsonvalue.equal(response.get("version"), 2):
        return False
    names = [response.get(name) for name in ("api", "provider", "model")]
    if not all(isinstance(name, str) and name for name in names):
        return False
    if response.get("stopReason") not in _STOPS:
        return False
    if not all(isinstance(response.get(name, ""), str) for name in _RESPONSE):
        return False
    return names[1:] == [source.get("provider"), source.get("model")]


def _is_sound(entry: Any, version: int) -> bool:
    if not isinstance(entry, dict) or entry.get("type") not in _TYPES:
        return False
    if not all(isinstance(entry.get(name, ""), str) for name in _TEXTS[version]):
        return False
    return isinstance(entry.get("redacted", False), bool)


def _block(block: Json) -> Json:
    if block["type"] == "text":
        return {"type": "text", "text": block["text"]}
    if block["type"] == "reasoning":
        return {"type": "thinking", "thinking": block["text"]}
    arguments = _arguments(block["arguments"])
    return {"type": "toolCall", "id": block["id"], "name": block["name"], "arguments": arguments}


def _arguments(text: str) -> Json:
    try:
        arguments = jsonvalue.loads(text)
    except JsonError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
