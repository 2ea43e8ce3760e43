"""Pieces of responses, as endpoints send them."""

from __future__ import annotations

import json
from typing import Any


def event(kind: str, **members: Any) -> bytes:
    """A server-sent event of the wire deepseek-messages."""
    data = json.dumps({"type": kind, **members}, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()


def chat(delta: dict[str, Any], finish: str | None = None, **members: Any) -> bytes:
    """A server-sent event of the wire deepseek-chat."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice], **members})}\n\n".encode()


START = event("message_start", message={"usage": {"input_tokens": 3}})
OPEN = event("content_block_start", index=0, content_block={"type": "text", "text": ""})
HI = event("content_block_delta", index=0, delta={"type": "text_delta", "text": "Hi"})
CLOSE = event("content_block_stop", index=0)
REASON = event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 5})
STOP = event("message_stop")
WHOLE = START + OPEN + HI + CLOSE + REASON + STOP
DONE = b"data: [DONE]\n\n"
CHAT_WHOLE = chat({"content": "Hi"}) + chat({}, "stop") + DONE

BEGUN = [
    {"type": "block-start", "index": 0, "blockType": "text"},
    {"type": "text-delta", "index": 0, "text": "Hi"},
]
"""The chunks of the first delta."""
CHUNKS = [
    *BEGUN,
    {"type": "block-end", "index": 0, "block": {"type": "text", "text": "Hi"}},
    {"type": "usage", "usage": {"inputTokens": 3, "outputTokens": 5, "totalTokens": 8}},
    {
        "type": "finish",
        "reason": {"kind": "stop"},
        "replayState": {
            "response": {"kind": "deepseek-messages", "version": 1, "model": "deepseek-flash"},
            "blocks": [{"type": "text"}],
        },
    },
]
"""The chunks of `WHOLE` (reference: the table of the Messages stream)."""
