"""Assistant streams: how the chunks of one model answer are stored, and what message they make.

A settlement event keeps its whole stream in a compact form (`data.stream`): runs of deltas become one record each. `accumulate`
and `expand` translate between timed chunks and records without loss; `assemble` gives the blocks, usage, finish and replay
state that a stream amounts to. Rules `stream/*`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate as accumulated
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from dsh_protocol.findings import Finding, ProtocolError
from dsh_protocol.jsonvalue import (
    MAX_SAFE_INTEGER,
    check_lossless,
    equal,
    is_count,
    join_surrogates,
    pointer,
)
from dsh_protocol.rules import is_active, refuse

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Json: TypeAlias = dict[str, Any]
Chunk: TypeAlias = Json
TimedChunk: TypeAlias = tuple[int, Chunk]
"""A stream chunk (`StreamChunk` of spec/session/common) and when it arrived, in milliseconds since 1970."""

_TEXT_RUNS = {"text-delta": "text-chunks", "reasoning-delta": "reasoning-chunks"}
_DELTA_OF_RUN = {run: delta for delta, run in _TEXT_RUNS.items()}
_TOOL_DELTA = "tool-call-delta"
_TOOL_RUN = "tool-call-chunks"
_RAW = "chunk"
_SINGLE = frozenset({"block-start", "block-end", "usage", "finish"})
_PROSE = frozenset({"text", "reasoning"})
_TOOL_CALL = "tool-call"
_MAX_TOKENS = "max-tokens"
_STOP = {"kind": "stop"}
"""How a stream without a finish chunk ended."""
_RUNS = (*_TEXT_RUNS.values(), _TOOL_RUN)
_STRINGS, _INTEGERS, _OBJECTS = {str}, {int}, {dict}
SETTLEMENTS = frozenset({"assistant/message", "assistant/attempt"})
"""The types of the events that end a request and keep its stream."""
# What String.prototype.trim removes; str.strip() differs.
_WHITESPACE = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


class StreamError(ProtocolError):
    """A stream is not well-formed; `code` is a rule `stream/*`, `path` a JSON Pointer into the stream."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """What a stream amounts to. `usage` and `replay_state` are null when the stream has none that holds."""

    content: list[Any]
    usage: Any
    finish: Any
    replay_state: Any


# ---- Chunks to records and back ------------------------------------------------------------------


def accumulate(chunks: Iterable[TimedChunk]) -> list[Json]:
    """The compact records of a stream.

    Raises:
        StreamError: `stream/chunk` (a chunk is not well-formed) or `stream/times` (a time is not a safe integer).
    """
    records: list[Json] = []
    last_time = 0
    for index, (time, chunk) in enumerate(chunks):
        _check_time(time, index)
        _check_chunk(chunk, index)
        run = _run(chunk, time)
        if run is None:
            records.append({"type": _RAW, "time": time, "chunk": chunk})
        elif records and _continues(records[-1], run) and _is_safe(time - last_time):
            _extend(records[-1], run, time - last_time)
        else:
            records.append(run)
        last_time = time
    return records


def expand(records: Iterable[Any]) -> list[TimedChunk]:
    """The timed chunks that compact records stand for.

    Raises:
        StreamError: `stream/record`, `stream/run-lengths` or `stream/times`.
    """
    chunks: list[TimedChunk] = []
    for index, record in enumerate(records):
        check_record(record, index)
        chunks += _members(record)
    return chunks


def check_record(record: Any, place: int = 0) -> None:
    """Make sure that a compact record, number `place` of its stream, is well-formed.

    Raises:
        StreamError: `stream/record`, `stream/run-lengths` or `stream/times`.
    """
    kind = record.get("type") if isinstance(record, dict) else None
    if kind == _RAW:
        if not _is_plain_raw(record):
            _check_raw(record, place)
    elif isinstance(kind, str) and (kind in _DELTA_OF_RUN or kind == _TOOL_RUN):
        if not _is_plain_run(record):
            _check_run(record, place)
    else:
        _fail("stream/record", place, detail="no record has this type")


def _is_plain_raw(record: Json) -> bool:
    """A quick look that says yes to single chunks as they are written, and no if in doubt."""
    time = record.get("time")
    return (
        len(record) == 3
        and type(time) is int
        and 0 <= time <= MAX_SAFE_INTEGER
        and type(record.get("chunk")) is dict
    )


def _is_plain_run(record: Json) -> bool:
    """A quick look that says yes to runs as they are written, and no if in doubt."""
    gaps, time = record.get("dt"), record.get("time0")
    texts = record.get("texts")
    members = 5
    if texts is None:
        texts = record.get("args")
        members = 7 if "name" in record else 6
        if not record.get("id") or set(map(type, _named(record))) != _STRINGS:
            return False
    return (
        len(record) == members
        and type(texts) is list
        and type(gaps) is list
        and len(gaps) == len(texts) - 1
        and type(time) is int
        and is_count(record.get("index"))
        and set(map(type, texts)) == _STRINGS
        and set(map(type, gaps)) <= _INTEGERS
        and abs(time) + sum(map(abs, gaps)) <= MAX_SAFE_INTEGER
    )


def _named(run: Json) -> tuple[Any, Any]:
    """The id and the name of a tool run; the id again when it has no name, null when it is empty."""
    return run["id"], run.get("name", run["id"]) or None


def _run(chunk: Chunk, time: int) -> Json | None:
    """A run of this chunk alone, null when the chunk stays single."""
    kind = chunk["type"]
    if kind in _TEXT_RUNS:
        head = {"type": _TEXT_RUNS[kind], "time0": time, "index": chunk["index"], "dt": []}
        return {**head, "texts": [chunk["text"]]}
    if kind != _TOOL_DELTA or not chunk["id"] or chunk.get("name") == "":
        return None
    head = {"type": _TOOL_RUN, "time0": time, "index": chunk["index"], "dt": [], "id": chunk["id"]}
    if "name" in chunk:
        head["name"] = chunk["name"]
    return {**head, "args": [chunk["argumentsDelta"]]}


def _continues(record: Json, run: Json) -> bool:
    """Whether a run of one chunk can join the record in front of it."""
    names = ("type", "index", "id", "name")
    return all(record.get(name) == run.get(name) for name in names)


def _extend(record: Json, run: Json, gap: int) -> None:
    record["dt"].append(gap)
    name = "args" if record["type"] == _TOOL_RUN else "texts"
    record[name] += run[name]


def _members(record: Json) -> Iterator[TimedChunk]:
    if record["type"] == _RAW:
        yield record["time"], record["chunk"]
        return
    times = accumulated([record["time0"], *record["dt"]])
    texts = record["args" if record["type"] == _TOOL_RUN else "texts"]
    yield from zip(times, (_delta(record, text) for text in texts), strict=True)


def _delta(record: Json, text: str) -> Chunk:
    if record["type"] != _TOOL_RUN:
        kind = _DELTA_OF_RUN[record["type"]]
        return {"type": kind, "index": record["index"], "text": text}
    head = {"type": _TOOL_DELTA, "index": record["index"], "id": record["id"]}
    if "name" in record:
        head["name"] = record["name"]
    return {**head, "argumentsDelta": text}


# ---- What is well-formed -------------------------------------------------------------------------


def _check_time(time: Any, place: int, *more: str | int) -> None:
    if type(time) is not int or not _is_safe(time):
        _fail("stream/times", place, *more)


def _check_chunk(chunk: Any, place: int) -> None:
    """A chunk that can be stored."""
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if not isinstance(kind, str):
        _fail("stream/chunk", place, detail="it is no object with a type")
    if check_lossless(chunk):
        _fail("stream/chunk", place, detail="it has a value that JSON cannot hold")
    if kind in _SINGLE:
        return
    if kind not in _TEXT_RUNS and kind != _TOOL_DELTA:
        _fail("stream/chunk", place, detail="no chunk has this type")
    if not is_count(chunk.get("index")):
        _fail("stream/chunk", place, *_held(chunk, "index"), detail="index is no count")
    texts = ("text",) if kind in _TEXT_RUNS else ("id", "argumentsDelta")
    for name in (*texts, "name") if "name" in chunk and kind == _TOOL_DELTA else texts:
        if not isinstance(chunk.get(name), str):
            _fail("stream/chunk", place, *_held(chunk, name), detail=f"{name} is no string")


def _check_raw(record: Json, place: int) -> None:
    if record.keys() != {"type", "time", "chunk"}:
        _fail("stream/record", place, detail="it must have type, time and chunk")
    _check_time(record["time"], place, "time")
    if not isinstance(record["chunk"], dict):
        _fail("stream/record", place, "chunk", detail="chunk is no object")


def _check_run(record: Json, place: int) -> None:
    tool = record["type"] == _TOOL_RUN
    texts_name = "args" if tool else "texts"
    names = {"type", "time0", "index", "dt", texts_name, *(("id",) if tool else ())}
    if record.keys() != names and not (tool and record.keys() == names | {"name"}):
        _fail("stream/record", place, detail=f"it must have {', '.join(sorted(names))}")
    texts, gaps = record[texts_name], record["dt"]
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        _fail("stream/record", place, texts_name, detail=f"{texts_name} is no list of strings")
    if not is_count(record["index"]):
        _fail("stream/record", place, "index", detail="index is no count")
    for name in ("id", "name") if tool else ():
        if name in record and not (isinstance(record[name], str) and record[name]):
            _fail("stream/record", place, name, detail=f"{name} is no string with content")
    if not isinstance(gaps, list):
        _fail("stream/record", place, "dt", detail="dt is no list")
    if len(gaps) != len(texts) - 1:
        _fail("stream/run-lengths", place, members=len(texts), gaps=len(gaps))
    time = record["time0"]
    _check_time(time, place, "time0")
    for index, gap in enumerate(gaps):
        _check_time(gap, place, "dt", index)
        time += gap
        _check_time(time, place, "dt", index)


def _is_safe(number: int) -> bool:
    return -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER


def _held(chunk: Chunk, name: str) -> tuple[str, ...]:
    """The place of a member; nothing when the chunk lacks it."""
    return (name,) if name in chunk else ()


def _fail(rule_id: str, *place: str | int, **params: Any) -> NoReturn:
    found = refuse(rule_id, path=pointer(*place), **params)
    raise StreamError(found.rule, found.message, fix=found.fix, path=found.path)


# ---- Assembly ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Partial:
    """One block of a stream as far as it is known. The first chunk with its index decides its kind."""

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
            _fail("stream/open-block", self.place, index=index, type=self.kind)
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
            _check_chunk(chunk, self._pushed)
            text = chunk["argumentsDelta" if kind == _TOOL_DELTA else "text"]
            self._append(chunk, chunk["type"], [text])
        self._pushed += 1

    def push_record(self, record: Json) -> None:
        """Take the next compact record, which is well-formed (see `check_record`)."""
        if record["type"] == _RAW:
            self.push(record["chunk"])
            return
        tool = record["type"] == _TOOL_RUN
        kind = _TOOL_DELTA if tool else _DELTA_OF_RUN[record["type"]]
        self._append(record, kind, record["args" if tool else "texts"])
        self._pushed += 1

    def assembled(self, *, interrupted: bool = False) -> Assembled:
        """What the stream amounts to so far: all of it, or what an interruption leaves (text and reasoning that show).

        Raises:
            StreamError: `stream/open-block`: a block of another kind than text, reasoning and tool call was not closed
                (an interruption leaves it out).
        """
        cut = isinstance(self.finish, dict) and self.finish.get("kind") == _MAX_TOKENS
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
            _fail("stream/chunk", self._pushed, *_held(chunk, "index"), detail="index is no count")
        partial = self._partials.get(index)
        if partial is None:
            kind = kind if isinstance(kind, str) else None
            partial = self._partials[index] = _Partial(kind, self._pushed)
        return partial

    def _close(self, chunk: Chunk) -> None:
        block = chunk.get("block")
        if not isinstance(block, dict):
            _fail("stream/chunk", self._pushed, *_held(chunk, "block"), detail="block is no object")
        partial = self._partial(chunk, block.get("type"))
        if partial.closed is None:
            partial.closed = block

    def _append(self, chunk: Json, delta: str, texts: list[str]) -> None:
        tool = delta == _TOOL_DELTA
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
    """A replay state whose entries per block fit the blocks that are kept; null when they never fitted."""
    blocks = replay.get("blocks") if isinstance(replay, dict) else None
    if not isinstance(blocks, list):
        return replay
    if len(blocks) != len(kept):
        return None
    if all(kept):
        return replay
    left = [entry for entry, keep in zip(blocks, kept, strict=True) if keep]
    return {"response": replay.get("response"), "blocks": left}


# ---- Settlements ---------------------------------------------------------------------------------


def settlement_findings(event: Event) -> list[Finding]:
    """Where a settlement event differs from the stream it keeps (warnings: released readers do not look).

    An assistant/message is compared with its stream in content, usage and replay state, unless the stream is empty.
    """
    data = event.data
    stream = data.get("stream") if isinstance(data, dict) else None
    if event.type not in SETTLEMENTS or not isinstance(stream, list):
        return []
    if _is_ordinary(data, stream):
        return []
    try:
        broken = _differences(data, _assembler(stream))
    except StreamError as error:
        broken = []
        if is_active(error.code):
            path = f"/data/stream{_place_in_record(error)}"
            place = (event.seq, event.line, path)
            return [Finding(error.code, "warning", *place, error.message, error.fix)]
    return [
        refuse(rule_id, seq=event.seq, line=event.line, path=path)
        for rule_id, path in broken
        if is_active(rule_id)
    ]


def _place_in_record(error: StreamError) -> str:
    """The place of an error in a stream of records, whose chunks are one level deeper."""
    if error.code != "stream/chunk":
        return error.path
    _, record, *inside = error.path.split("/")
    return "/".join(["", record, "chunk", *inside])


def _is_ordinary(data: Json, stream: list[Any]) -> bool:
    """A quick look at a settlement that says yes if it and its stream are as they mostly are, and no if in doubt.

    That is: every block is closed before the next one opens, nothing is cut off or replayed, and the
    message has just those blocks.
    """
    blocks: list[Any] = []
    usage = None
    is_open = False
    for record in stream:
        if type(record) is not dict:
            return False
        chunk = record
        if record.get("type") == _RAW:
            if not _is_plain_raw(record):
                return False
            chunk = record["chunk"]
        elif record.get("type") not in _RUNS or not _is_plain_run(record):
            return False
        kind = chunk.get("type")
        if kind == "usage":
            usage = chunk.get("usage")
        elif kind == "finish":
            reason = chunk.get("reason")
            if type(reason) is not dict or reason.get("kind") == _MAX_TOKENS:
                return False
            if "replayState" in chunk:
                return False
        elif type(chunk.get("index")) is not int or chunk["index"] != len(blocks):
            return False
        elif kind == "block-end":
            blocks.append(chunk.get("block"))
            is_open = False
        elif kind == "block-start" or chunk is record:
            is_open = True
        else:
            return False
    message = data.get("message")
    if type(message) is not dict or type(message.get("source")) is not dict:
        return False
    return (
        not is_open
        and set(map(type, blocks)) <= _OBJECTS
        and "interrupted" not in data
        and "replayState" not in message["source"]
        and _is_same(message.get("content"), blocks)
        and _has(data, "usage", usage)
    )


def _assembler(stream: list[Any]) -> Assembler:
    assembler = Assembler()
    for index, record in enumerate(stream):
        check_record(record, index)
        assembler.push_record(record)
    return assembler


def _differences(data: Mapping[str, Any], assembler: Assembler) -> list[tuple[str, str]]:
    """The rules that a settlement with this stream breaks, each with its place."""
    message = data.get("message")
    if not isinstance(message, dict) or not data["stream"]:
        return []
    made = assembler.assembled()
    content = made.content
    if data.get("interrupted") is True:
        content = assembler.assembled(interrupted=True).content
    broken = []
    if not _is_same(message.get("content"), content):
        broken.append(("stream/content", "/data/message/content"))
    if not _has(data, "usage", made.usage):
        broken.append(("stream/usage", "/data/usage" if "usage" in data else "/data"))
    source = message.get("source")
    if isinstance(source, dict) and not _has(source, "replayState", made.replay_state):
        place = "/data/message/source"
        inside = f"{place}/replayState" if "replayState" in source else place
        broken.append(("stream/replay-state", inside))
    return broken


def _has(holder: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether a member has this value (null: is absent)."""
    if name not in holder:
        return value is None
    return value is not None and equal(holder[name], value)


def _is_same(stored: Any, content: list[Any]) -> bool:
    """`equal`, quicker for blocks of strings: only other values can be equal for Python alone."""
    if stored != content:
        return equal(stored, content)
    plain = all(set(map(type, block.values())) <= _STRINGS for block in content)
    return plain or equal(stored, content)
