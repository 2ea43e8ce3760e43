"""The blocks that a stream makes, and what else it amounts to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dsh_protocol.jsonvalue import is_count, join_surrogates

from ._shapes import DELTA_OF_RUN, RAW, TOOL_DELTA, TOOL_RUN, Chunk, Json, check_chunk, fail, held

MAX_TOKENS = "max-tokens"
"""The finish that cuts tool calls off."""
_PROSE = frozenset({"text", "reasoning"})
_TOOL_CALL = "tool-call"
_STOP = {"kind": "stop"}
"""How a stream without a finish chunk ended."""
# What String.prototype.trim removes; str.strip() differs.
_WHITESPACE = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


@dataclass(frozen=True, slots=True)
class Assembled:
    """What a stream amounts to. `usage` and `replay_state` are null when it has none that holds."""

    content: list[Any]
    usage: Any
    finish: Any
    replay_state: Any


@dataclass(slots=True)
class _Partial:
    """One block as far as it is known. The first chunk with its index decides its kind."""

    kind: Any
    place: int
    closed: Any = None
    texts: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    call_id: str | None = None
    name: str = ""

    @property
    def type(self) -> str | None:
        kind = self.kind if self.closed is None else self.closed.get("type")
        return kind if isinstance(kind, str) else None

    def block(self, index: int) -> Json:
        if self.closed is not None:
            block: Json = self.closed
            return block
        if self.kind in _PROSE:
            return {"type": self.kind, "text": join_surrogates("".join(self.texts))}
        if self.kind != _TOOL_CALL:
            fail("stream/open-block", self.place, type=self.kind)
        call_id = f"call-{index}" if self.call_id is None else self.call_id
        arguments = join_surrogates("".join(self.arguments))
        return {"type": _TOOL_CALL, "id": call_id, "name": self.name, "arguments": arguments}


class Assembler:
    """Assembles the blocks of one stream, chunk by chunk or record by record."""

    __slots__ = ("_partials", "_pushed", "_replay", "finish", "usage")

    def __init__(self) -> None:
        self._partials: dict[int, _Partial] = {}
        self._pushed = 0
        self._replay: Any = None
        self.usage: Any = None
        self.finish: Any = _STOP

    def push(self, chunk: Chunk) -> None:
        """Take the next chunk.

        Raises:
            StreamError: `stream/chunk`: no chunk looks like this.
        """
        kind = chunk.get("type")
        if kind == "usage":
            self.usage = chunk.get("usage")
        elif kind == "finish":
            self.finish = chunk.get("reason", _STOP)
            self._replay = chunk.get("replayState")
        elif kind == "block-start":
            self._partial(chunk, chunk.get("blockType"))
        elif kind == "block-end":
            self._close(chunk)
        else:
            check_chunk(chunk, self._pushed)
            text = chunk["argumentsDelta" if kind == TOOL_DELTA else "text"]
            self._append(chunk, chunk["type"], [text])
        self._pushed += 1

    def push_record(self, record: Json) -> None:
        """Take the next compact record, which is well-formed (see `check_record`)."""
        if record["type"] == RAW:
            self.push(record["chunk"])
            return
        tool = record["type"] == TOOL_RUN
        kind = TOOL_DELTA if tool else DELTA_OF_RUN[record["type"]]
        self._append(record, kind, record["args" if tool else "texts"])
        self._pushed += 1

    def assembled(self, *, interrupted: bool = False) -> Assembled:
        """What the stream amounts to so far; `interrupted`: what an interruption leaves of it.

        That is the text and the reasoning in which something shows.

        Raises:
            StreamError: `stream/open-block`: a block of another kind than text, reasoning and tool
                call was not closed (an interruption leaves it out).
        """
        cut = isinstance(self.finish, dict) and self.finish.get("kind") == MAX_TOKENS
        kept = [not (cut and partial.type == _TOOL_CALL) for partial in self._partials.values()]
        replay = _aligned(self._replay, kept)
        if interrupted:
            return Assembled(self._visible(), self.usage, self.finish, replay)
        blocks = [partial.block(index) for index, partial in self._partials.items()]
        content = [block for block, keep in zip(blocks, kept, strict=True) if keep]
        return Assembled(content, self.usage, self.finish, replay)

    def _visible(self) -> list[Any]:
        blocks = [p.block(index) for index, p in self._partials.items() if p.type in _PROSE]
        return [block for block in blocks if str(block.get("text", "")).strip(_WHITESPACE)]

    def _partial(self, chunk: Chunk, kind: Any) -> _Partial:
        index = chunk.get("index")
        if not isinstance(index, int) or not is_count(index):
            fail("stream/chunk", self._pushed, *held(chunk, "index"), detail="index is no count")
        partial = self._partials.get(index)
        if partial is None:
            kind = kind if isinstance(kind, str) else None
            partial = self._partials[index] = _Partial(kind, self._pushed)
        return partial

    def _close(self, chunk: Chunk) -> None:
        block = chunk.get("block")
        if not isinstance(block, dict):
            fail("stream/chunk", self._pushed, *held(chunk, "block"), detail="block is no object")
        partial = self._partial(chunk, block.get("type"))
        if partial.closed is None:
            partial.closed = block

    def _append(self, chunk: Json, delta: str, texts: list[str]) -> None:
        tool = delta == TOOL_DELTA
        partial = self._partial(chunk, _TOOL_CALL if tool else delta.removesuffix("-delta"))
        if partial.closed is not None:
            return
        if not tool:
            partial.texts += texts
            return
        partial.call_id = chunk["id"]
        partial.name = chunk.get("name") or partial.name
        partial.arguments += texts


def assemble(chunks: Iterable[Chunk], *, interrupted: bool = False) -> Assembled:
    """What a stream of chunks amounts to; `interrupted`: what an interruption leaves of it.

    Raises:
        StreamError: `stream/chunk` or `stream/open-block`.
    """
    assembler = Assembler()
    for chunk in chunks:
        assembler.push(chunk)
    return assembler.assembled(interrupted=interrupted)


def _aligned(replay: Any, kept: list[bool]) -> Any:
    """A replay state with the entries of the kept blocks; null when they never fitted the blocks."""
    blocks = replay.get("blocks") if isinstance(replay, dict) else None
    if not isinstance(blocks, list):
        return replay
    if len(blocks) != len(kept):
        return None
    if all(kept):
        return replay
    left = [entry for entry, keep in zip(blocks, kept, strict=True) if keep]
    return {"response": replay.get("response"), "blocks": left}
