"""Assistant messages and tool results as the official loop mostly writes them: most of the bytes of most logs.

They are read into structs, which is several times faster than to read them into dicts and to look at those; and structs hold
nothing that the schema refuses.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Raw

from dsh_protocol.jsonvalue import MAX_SAFE_INTEGER, is_surely_lossless
from dsh_protocol.schemas import MINUS_ZERO, struct_type

from ._assembly import MAX_TOKENS
from ._shapes import RAW

_CALL = "tool-call"
_TYPES = frozenset({"blockType"})
"""The types that blocks are opened as, which are compared with those of the blocks that close them."""
Gist = dict[str, Any]


class Stored(Protocol):
    """An event, as far as it is looked at."""

    @property
    def type(self) -> str:
        """The event type."""

    @property
    def payload(self) -> Raw | None:
        """The data as it was stored, null when the event was not read from bytes."""


class _Tags(dict[type, Any]):
    """The tag of each struct class, which selects it in its union."""

    def __missing__(self, struct: type) -> Any:
        tag = self[struct] = struct.__struct_config__.tag  # type: ignore[attr-defined]
        return tag


_tag = _Tags()


class Ordinary:
    """Reads the data of such events of one format.

    A gist is what the rules between events look at: turn, step, the calls of a message and the call of a result. There is one
    only if all else is in order for sure: the data conforms to its schema, its numbers survive a round trip, and

    - the stream of a message amounts to the message. That is, every block is closed, as what it was opened, before the next
      one opens; nothing is cut off; and the message has just those blocks;
    - a result has no error, and names its call twice alike.
    """

    types = frozenset({"assistant/message", "tool/result"})

    def __init__(self, version: int) -> None:
        message = struct_type(f"session/v{version}/AssistantMessageData", unchecked=_TYPES)
        result = struct_type(f"session/v{version}/ToolResultData")
        self._readers = {
            "assistant/message": (msgspec.json.Decoder(message).decode, _gist_of_message),
            "tool/result": (msgspec.json.Decoder(result).decode, _gist_of_result),
        }

    def gist(self, event: Stored) -> Gist | None:
        """The gist of an event of one of these types, null when its data has to be looked at more closely."""
        payload = event.payload
        if payload is None or MINUS_ZERO.search(payload) is not None:
            return None
        decode, gist_of = self._readers[event.type]
        try:
            data = decode(payload)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            return None
        return gist_of(data)


def _gist_of_message(data: Any) -> Gist | None:
    if not _amounts_to_message(data):
        return None
    calls = [
        {"type": _CALL, "id": block.id, "name": block.name, "arguments": block.arguments}
        for block in data.message.content
        if _tag[type(block)] == _CALL
    ]
    return {"turn": data.turn, "step": data.step, "message": {"content": calls}}


def _gist_of_result(data: Any) -> Gist | None:
    message = data.message
    # Format 3 keeps the id and the content in a block.
    holder = message if message.role == "tool" else message.content[0]
    call = message.source.callId
    if data.error is not UNSET or holder.toolCallId != call:
        return None
    if data.meta is not UNSET and not is_surely_lossless(data.meta):
        return None
    told = {"toolCallId": call, "source": {"callId": call}}
    return {"turn": data.turn, "step": data.step, "message": told}


def _amounts_to_message(data: Any) -> bool:
    """Whether an ordinary stream has what the message beside it has. Nobody looks at an empty one, as imported logs have it."""
    message = data.message
    stored = message.source.replayState
    if stored is not UNSET and not is_surely_lossless(stored):
        return False
    if not data.stream:
        return True
    blocks: list[Any] = []
    usage: Any = UNSET
    replay: Any = UNSET
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
            if replay is not UNSET or _tag[type(chunk.reason)] == MAX_TOKENS:
                return False
            replay = chunk.replayState
        elif chunk.index != len(blocks):
            return False
        elif kind == "block-end":
            block = chunk.block
            if opened is not None and opened != _tag[type(block)]:
                return False
            blocks.append(block)
            is_open, opened = False, None
        elif kind == "block-start":
            if opened is not None:
                return False
            is_open, opened = True, chunk.blockType
        else:
            return False
    if is_open or message.content != blocks or data.usage != usage:
        return False
    return stored is replay or (replay is not UNSET and _is_replay(stored, replay, len(blocks)))


def _is_replay(stored: Any, replay: Any, blocks: int) -> bool:
    """Whether a message keeps just this replay state, which has an entry for each of its blocks or none at all."""
    entries = replay.blocks
    if stored is UNSET or not (entries is UNSET or len(entries) == blocks):
        return False
    try:
        return bool(msgspec.json.decode(stored, type=type(replay)) == replay)
    except msgspec.MsgspecError:
        return False


def _is_timed(run: Any) -> bool:
    """Whether a run has a time for each text, all of which JavaScript counts exactly."""
    gaps = run.dt
    texts = run.args if _tag[type(run)] == "tool-call-chunks" else run.texts
    return len(gaps) == len(texts) - 1 and abs(run.time0) + sum(map(abs, gaps)) <= MAX_SAFE_INTEGER
