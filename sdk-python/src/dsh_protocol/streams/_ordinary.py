"""Assistant messages as the official loop mostly writes them: most of the bytes of most logs.

Such a message is read into structs, which is several times faster than to read it into dicts and to look at those; and
structs hold nothing that the schema refuses.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET

from dsh_protocol.jsonvalue import MAX_SAFE_INTEGER
from dsh_protocol.schemas import struct_type

from ._assembly import MAX_TOKENS
from ._shapes import RAW

_MINUS_ZERO = re.compile(rb"-0(?=[\s,\]}]|\Z)")
"""What structs do not see. It may stand in a string, too."""
_CALL = "tool-call"


class _Tags(dict[type, Any]):
    """The tag of each struct class, which selects it in its union."""

    def __missing__(self, struct: type) -> Any:
        tag = self[struct] = struct.__struct_config__.tag  # type: ignore[attr-defined]
        return tag


_tag = _Tags()


class OrdinaryMessages:
    """Reads payloads of assistant/message events of one format."""

    def __init__(self, version: int) -> None:
        payload = struct_type(f"session/v{version}/AssistantMessageData")
        self._decode = msgspec.json.Decoder(payload).decode

    def read(self, payload: bytes | msgspec.Raw) -> dict[str, Any] | None:
        """The payload reduced to what the rules between events look at: its turn, its step and the calls in its message.

        Null unless all else is in order for sure: it conforms to its schema, its numbers survive a round trip, and its stream
        amounts to its message. That is, every block is closed, as what it was opened, before the next one opens; nothing
        is cut off or replayed; and the message has just those blocks.
        """
        try:
            data = self._decode(payload)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return None
        if _MINUS_ZERO.search(payload) is not None or not _amounts_to_message(data):
            return None
        calls = [
            {"type": _CALL, "id": block.id, "name": block.name, "arguments": block.arguments}
            for block in data.message.content
            if _tag[type(block)] == _CALL
        ]
        return {"turn": data.turn, "step": data.step, "message": {"content": calls}}


def _amounts_to_message(data: Any) -> bool:
    """Whether an ordinary stream has the usage and the blocks of the message beside it."""
    blocks: list[Any] = []
    usage: Any = UNSET
    opened = None
    is_open = False
    for record in data.stream:
        if _tag[type(record)] != RAW:
            if record.index != len(blocks) or not _is_timed(record):
                return False
            is_open = True
            continue
        chunk = record.chunk
        kind = _tag[type(chunk)]
        if kind == "usage":
            usage = chunk.usage
        elif kind == "finish":
            if _tag[type(chunk.reason)] == MAX_TOKENS:
                return False
        elif chunk.index != len(blocks):
            return False
        elif kind == "block-end":
            block = chunk.block
            if opened is not None and opened != _tag[type(block)]:
                return False
            blocks.append(block)
            is_open, opened = False, None
        elif kind == "block-start":
            is_open, opened = True, chunk.blockType
        else:
            return False
    return not is_open and data.message.content == blocks and bool(data.usage == usage)


def _is_timed(run: Any) -> bool:
    """Whether a run has a time for each text, all of which JavaScript counts exactly."""
    gaps = run.dt
    texts = run.args if _tag[type(run)] == "tool-call-chunks" else run.texts
    return (
        len(gaps) == len(texts) - 1 and abs(run.time0) + sum(map(abs, gaps)) <= MAX_SAFE_INTEGER
    )
