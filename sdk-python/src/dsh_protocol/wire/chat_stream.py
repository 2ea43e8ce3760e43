"""Responses of the wire `deepseek-chat`: their server-sent events become chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dsh_protocol import jsonvalue
from dsh_protocol.findings import JsonError

from ._failures import failed, failure_of
from ._javascript import clipped, is_truthy
from ._parsing import Json, kept

_DONE = "[DONE]"
_SHOWN = 120
"""How much of a malformed payload a failure shows, in UTF-16 units."""
_FINISHES = {"stop": "stop", "tool_calls": "tool-calls", "length": "max-tokens"}


class _Unreadable(Exception):
    """A value has not the shape that this wire gives it."""


@dataclass(slots=True)
class _Block:
    index: int
    type: str
    texts: list[str] = field(default_factory=list)
    call_id: str | None = None
    name: str | None = None

    def close(self) -> Json:
        text = jsonvalue.join_surrogates("".join(self.texts))
        if self.type != "tool-call":
            return {"type": self.type, "text": text}
        identity = {"id": self.call_id or "", "name": self.name or ""}
        return {"type": self.type, **identity, "arguments": text}


class ChatParser:
    """Parses one response; `base_url` is the endpoint, which failures name.

    There is one block of text and one of reasoning; each tool call of the wire has its own. They
    end, with the last usage and finish reason, at `[DONE]`.
    """

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._blocks: list[_Block] = []
        self._prose: dict[str, _Block] = {}
        self._calls: dict[Any, _Block] = {}
        self._usage: Any = None
        self._reason: Json = {"kind": "stop"}
        self._done = False

    @property
    def done(self) -> bool:
        """Whether `[DONE]` was read."""
        return self._done

    def push(self, data: str, name: str | None = None) -> Iterator[Json]:  # noqa: ARG002
        """The chunks of one event. Its `event` field is not looked at.

        Raises:
            ModelCallError: `MALFORMED_RESPONSE`, or `TRANSPORT` for JSON of another shape, as the
                official adapter says it.
        """
        if data == _DONE:
            yield from self._finish()
            return
        try:
            payload = jsonvalue.loads(data)
        except JsonError:
            raise failed("chat/payload", payload=clipped(data, _SHOWN)) from None
        try:
            for choice in _list(payload, "choices"):
                yield from self._choice(choice)
            usage = _member(payload, "usage")
            if is_truthy(usage):
                self._usage = usage
        except _Unreadable:
            raise failed("chat/transport", base=self._base_url) from None

    def end(self) -> None:
        """Say that no event follows.

        Raises:
            ModelCallError: `STREAM_CLOSED`: there was no `[DONE]`.
        """
        if not self._done:
            raise failed("chat/closed")

    def _choice(self, choice: Any) -> Iterator[Json]:
        delta = _member(choice, "delta")
        if delta is not None:
            yield from self._text("reasoning", _member(delta, "reasoning_content"))
            yield from self._text("text", _member(delta, "content"))
            for call in _list(delta, "tool_calls"):
                yield from self._call(call)
        reason = _member(choice, "finish_reason")
        if isinstance(reason, str):
            self._reason = _finish(reason)

    def _text(self, kind: str, text: Any) -> Iterator[Json]:
        if not isinstance(text, str) or not text:
            return
        if kind not in self._prose:
            self._prose[kind] = self._open(kind)
            yield _started(self._prose[kind])
        block = self._prose[kind]
        block.texts.append(text)
        yield {"type": f"{kind}-delta", "index": block.index, "text": text}

    def _call(self, call: Any) -> Iterator[Json]:
        function = _member(call, "function")
        key = _key(call)
        block = self._calls.get(key)
        if block is None:
            block = self._calls[key] = self._open("tool-call")
            yield _started(block)
        block.call_id = _identity(block.call_id, _member(call, "id"))
        named = None if function is None else _member(function, "name")
        block.name = _identity(block.name, named)
        arguments = None if function is None else _member(function, "arguments")
        if not isinstance(arguments, str | None):
            # The official adapter passes it on, and its session then cannot be written.
            raise failed("response/values", what="tool arguments that are no text")
        block.texts.append(arguments or "")
        head: Json = {"type": "tool-call-delta", "index": block.index, "id": block.call_id or ""}
        if block.name is not None:
            head["name"] = block.name
        yield {**head, "argumentsDelta": arguments or ""}

    def _open(self, kind: str) -> _Block:
        block = _Block(len(self._blocks), kind)
        self._blocks.append(block)
        return block

    def _finish(self) -> Iterator[Json]:
        self._done = True
        for block in self._blocks:
            yield {"type": "block-end", "index": block.index, "block": block.close()}
        if self._usage is not None:
            yield kept({"type": "usage", "usage": _usage(self._usage)})
        reason = self._reason
        if reason["kind"] == "stop" and not self._blocks:
            reason = {"kind": "error", "failure": failure_of(failed("chat/empty"))}
        yield {"type": "finish", "reason": reason}


def _started(block: _Block) -> Json:
    return {"type": "block-start", "index": block.index, "blockType": block.type}


def _finish(reason: str) -> Json:
    if reason in _FINISHES:
        return {"kind": _FINISHES[reason]}
    message = failed("chat/stopped", reason=reason).message
    return {"kind": "error", "failure": {"message": message, "code": reason.upper()}}


def _usage(wire: Any) -> Json:
    """The counts of the wire without overlap: what came from the cache is no input."""
    if not isinstance(wire, dict):
        wire = {}
    details, written = wire.get("prompt_tokens_details"), wire.get("completion_tokens")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    given = cached is not None
    if not given:
        cached, given = wire.get("prompt_cache_hit_tokens"), "prompt_cache_hit_tokens" in wire
    read = wire.get("prompt_tokens")
    if not all(_is_number(count) for count in (read, written, cached or 0)):
        raise failed("response/values", what="a usage without counts")
    usage: Json = {"inputTokens": read - (cached or 0), "outputTokens": written}
    total = read + written
    if all(jsonvalue.is_count(count) for count in (read, written, total)) and (
        "total_tokens" not in wire or jsonvalue.equal(wire["total_tokens"], total)
    ):
        usage["totalTokens"] = total
    if given:
        usage["cacheReadTokens"] = cached
    reasoning = wire.get("completion_tokens_details")
    if isinstance(reasoning, dict) and "reasoning_tokens" in reasoning:
        usage["reasoningTokens"] = reasoning["reasoning_tokens"]
    return usage


def _key(call: Any) -> Any:
    """What tells the calls of a response apart: their index, or whatever stands in its place."""
    if not isinstance(call, dict) or "index" not in call:
        return None
    index = call["index"]
    # No two objects are the same to JavaScript.
    return object() if isinstance(index, dict | list) else (type(index) is bool, index)


def _identity(known: str | None, given: Any) -> str | None:
    return given if isinstance(given, str) and given else known


def _list(holder: Any, name: str) -> list[Any]:
    members = _member(holder, name)
    if members is None:
        return []
    if isinstance(members, str):
        # JavaScript takes a text for a list of characters.
        return list(members)
    if not isinstance(members, list):
        raise _Unreadable
    return members


def _member(holder: Any, name: str) -> Any:
    """A member as JavaScript reads it: null for one that is missing, refused for null."""
    if holder is None:
        raise _Unreadable
    return holder.get(name) if isinstance(holder, dict) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
