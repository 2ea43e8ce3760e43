"""Responses of the wire `deepseek-messages`: their server-sent events become chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from dsh_protocol import jsonvalue
from dsh_protocol.findings import JsonError

from ._failures import ModelCallError, failed, messages_failure
from ._javascript import js_string
from ._parsing import Json

_USAGE = {
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_input_tokens": "cacheReadTokens",
    "cache_creation_input_tokens": "cacheWriteTokens",
}
_STOPS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "max-tokens",
}
_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("reasoning", "thinking"),
    "signature_delta": ("reasoning", "signature"),
    "input_json_delta": ("tool-call", "partial_json"),
}
"""What each delta adds to: the type of the block, and the member that it brings."""


@dataclass(slots=True)
class _Block:
    """One content block as far as it came; `content` is what its `block-end` says."""

    index: int
    content: Json
    replay: Json
    is_closed: bool = False
    texts: list[str] = field(default_factory=list)

    @property
    def type(self) -> str:
        kind: str = self.content["type"]
        return kind

    def close(self) -> Json:
        self.is_closed = True
        text = jsonvalue.join_surrogates("".join(self.texts))
        if self.type != "tool-call":
            self.content["text"] = text
        elif text:
            self.content["arguments"] = text
        return {"type": "block-end", "index": self.index, "block": dict(self.content)}


class MessagesParser:
    """Parses one response; `model` is the requested model, which the replay state names.

    Blocks are numbered as they appear. Usage and finish come with `message_stop` only.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._blocks: dict[int, _Block] = {}
        self._usage: Json = {"inputTokens": 0, "outputTokens": 0}
        self._started = False
        self._reason: str | None = None
        self._done = False
        self._handlers = {
            "content_block_start": self._open,
            "content_block_delta": self._delta,
            "content_block_stop": self._close,
            "message_delta": self._message_delta,
            "message_stop": self._stop,
        }

    @property
    def done(self) -> bool:
        """Whether `message_stop` was read."""
        return self._done

    def push(self, data: str, name: str | None = None) -> Iterator[Json]:
        """The chunks of one event; events of unknown types make none.

        Raises:
            ModelCallError: `MALFORMED_RESPONSE`, `UNSUPPORTED_CONTENT`, `EMPTY_RESPONSE`, or the
                failure that an `error` event tells.
        """
        event = _event(data, name)
        kind: str = event["type"]
        if kind == "message_start":
            self._start(event)
            return
        handle = self._handlers.get(kind)
        if handle is None:
            return
        if not self._started:
            raise _malformed("event precedes message_start")
        yield from handle(event)

    def end(self) -> None:
        """Say that no event follows.

        Raises:
            ModelCallError: `STREAM_CLOSED`: there was no `message_stop`.
        """
        if not self._done:
            raise failed("messages/closed")

    def _start(self, event: Json) -> None:
        if self._started:
            raise _malformed("duplicate message_start")
        self._count(_object(event.get("message")).get("usage"))
        self._started = True

    def _open(self, event: Json) -> Iterator[Json]:
        place = _index(event)
        if place in self._blocks or self._reason is not None:
            raise _malformed("block starts after settlement or repeats an index")
        block, first = _opened(_object(event.get("content_block")), len(self._blocks))
        self._blocks[place] = block
        yield {"type": "block-start", "index": block.index, "blockType": block.type}
        if first is not None:
            yield first

    def _delta(self, event: Json) -> Iterator[Json]:
        block = self._block(event)
        delta = _object(event.get("delta"))
        kind = delta.get("type")
        target, member = _DELTAS.get(kind, ("", "")) if isinstance(kind, str) else ("", "")
        if target != block.type:
            shown = js_string(kind) if "type" in delta else "undefined"
            raise _malformed(f"unsupported delta {shown} for {block.type}")
        text = _string(delta.get(member))
        if member == "signature":
            block.replay["signature"] = block.replay.get("signature", "") + text
            return
        block.texts.append(text)
        if target == "tool-call":
            call = {"id": block.content["id"], "argumentsDelta": text}
            yield {"type": "tool-call-delta", "index": block.index, **call}
        else:
            yield {"type": f"{target}-delta", "index": block.index, "text": text}

    def _close(self, event: Json) -> Iterator[Json]:
        yield self._block(event).close()

    def _block(self, event: Json) -> _Block:
        block = self._blocks.get(_index(event))
        if block is None or block.is_closed:
            raise _malformed("delta/stop without an open block")
        return block

    def _message_delta(self, event: Json) -> Iterator[Json]:
        reason = _object(event.get("delta")).get("stop_reason")
        if reason is not None:
            if not isinstance(reason, str) or reason not in _STOPS:
                raise _malformed(f"unsupported stop reason {js_string(reason)}")
            self._reason = _STOPS[reason]
        if "usage" in event:
            self._count(event["usage"])
        yield from ()

    def _stop(self, _event: Json) -> Iterator[Json]:
        blocks = self._blocks.values()
        if self._reason is None or not all(block.is_closed for block in blocks):
            raise _malformed("message_stop without settled blocks and stop reason")
        if not blocks and self._reason == "stop":
            raise failed("messages/empty")
        if self._reason != "max-tokens":
            for block in blocks:
                _check_arguments(block)
        self._done = True
        yield {"type": "usage", "usage": {**self._usage, "totalTokens": sum(self._usage.values())}}
        response = {"kind": "deepseek-messages", "version": 1, "model": self._model}
        replay = {"response": response, "blocks": [block.replay for block in blocks]}
        yield {"type": "finish", "reason": {"kind": self._reason}, "replayState": replay}

    def _count(self, raw: Any) -> None:
        fields = _object(raw)
        for name, counted in _USAGE.items():
            if name not in fields:
                continue
            if not jsonvalue.is_count(fields[name]):
                raise _malformed(f"invalid {name}")
            self._usage[counted] = fields[name]


def _event(data: str, name: str | None) -> Json:
    try:
        event = _object(jsonvalue.loads(data))
    except JsonError:
        raise failed("messages/bad-json") from None
    kind = event.get("type")
    if not isinstance(kind, str) or name not in (None, kind):
        raise failed("messages/event-mismatch")
    if kind == "error":
        raise messages_failure(event)
    return event


def _opened(native: Json, index: int) -> tuple[_Block, Json | None]:
    """The block that a `content_block_start` opens, and the chunk that its content makes."""
    kind = native.get("type")
    if kind == "tool_use":
        return _opened_call(native, index)
    if kind not in ("text", "thinking"):
        shown = js_string(kind) if "type" in native else "undefined"
        raise failed("messages/response-block", type=shown)
    text = _string(native.get(kind))
    local = "text" if kind == "text" else "reasoning"
    replay: Json = {"type": local}
    if kind == "thinking" and "signature" in native:
        replay["signature"] = _string(native["signature"])
    block = _Block(index, {"type": local, "text": ""}, replay, texts=[text])
    delta = {"type": f"{local}-delta", "index": index, "text": text}
    return block, delta if text else None


def _opened_call(native: Json, index: int) -> tuple[_Block, Json]:
    call_id, name = _string(native.get("id")), _string(native.get("name"))
    arguments = jsonvalue.dumps(_object(native.get("input")))
    if not call_id or not name:
        raise _malformed("empty tool identity")
    content = {"type": "tool-call", "id": call_id, "name": name, "arguments": arguments}
    delta = {"type": "tool-call-delta", "index": index, "id": call_id, "name": name}
    return _Block(index, content, {"type": "tool-call"}), {**delta, "argumentsDelta": ""}


def _check_arguments(block: _Block) -> None:
    if block.type != "tool-call":
        return
    try:
        arguments = jsonvalue.loads(block.content["arguments"])
    except JsonError:
        raise _malformed("tool input is invalid JSON") from None
    _object(arguments)


def _index(event: Json) -> int:
    index = event.get("index")
    if not isinstance(index, int) or not jsonvalue.is_count(index):
        raise _malformed("invalid block index")
    return index


def _object(value: Any) -> Json:
    if not isinstance(value, dict):
        raise failed("messages/not-an-object")
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise failed("messages/not-a-string")
    return value


def _malformed(detail: str) -> ModelCallError:
    return failed("messages/malformed", detail=detail)
