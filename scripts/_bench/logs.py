"""Logs to measure with: long sessions in format 4, the same bytes on every run."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TURNS = 4000
"""Turns of the long log: about 72,000 events and 29 MB, 12,000 requests."""
STEPS = 3
PROMPT_EVERY = 20
COMPACT_EVERY = 50

_TIME = 1_700_000_000_000
_TOOL = {
    "name": "shell",
    "description": "Run one command.",
    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
}
_CONFIG = {"provider": "bench", "model": "bench-1", "maxTokens": 4096}
_ANSWER = "The build is green; next the changelog gets its entry. " * 4
_OUTPUT = "src/main.py:10: a line of output that a tool might print\n" * 5

Event = dict[str, Any]


def write(path: Path, *, turns: int = TURNS, compactions: bool = False) -> None:
    """Write a log of `turns` turns; with `compactions` the history is summarised every 50 turns."""
    header = {
        "type": "session",
        "version": 4,
        "id": "bench",
        "createdAt": _TIME,
        "cwd": "/bench",
        "isSeeded": False,
        "delegationDepth": 0,
    }
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in (header, *_Session(compactions=compactions).events(turns)):
            file.write(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n")


class _Session:
    """Writes events in the order of the released loop and remembers the surface."""

    def __init__(self, *, compactions: bool) -> None:
        self._compactions = compactions
        self._seq = 0
        self._head: int | None = None
        self._history: list[int] = []

    def events(self, turns: int) -> Iterator[Event]:
        for turn in range(1, turns + 1):
            yield from self._turn(turn)
            if self._compactions and turn % COMPACT_EVERY == 0:
                yield from self._compaction(turn)

    def _event(self, type_: str, data: Any, **more: Any) -> Event:
        event = {"type": type_, "seq": self._seq, "time": _TIME + self._seq, "data": data, **more}
        self._seq += 1
        return event

    def _surface(self, type_: str, data: Any, **more: Any) -> Event:
        event = self._event(type_, data, **{"surfaceOp": "append", **more})
        if more.get("surfaceOp", "append") == "append" and type_ != "system/message":
            self._history.append(event["seq"])
        return event

    def _turn(self, turn: int) -> Iterator[Event]:
        message = _message("user", f"Do part {turn} of the work.", {"kind": "user"}, f"u{turn}")
        splice = {"target": "next-turn", "start": 0}
        yield self._event("agent/inbox/spliced", {**splice, "inserted": [message]})
        yield self._event("turn/start", {"turn": turn})
        claim = {**splice, "removedCount": 1, "inserted": []}
        yield self._event("agent/inbox/spliced", claim)
        for step in range(1, STEPS + 1):
            yield from self._step(turn, step, message)
        yield self._event("turn/end", {"turn": turn, "reason": {"kind": "completed"}})

    def _step(self, turn: int, step: int, message: Event) -> Iterator[Event]:
        at = {"turn": turn, "step": step}
        yield self._event("step/start", at)
        if step == 1:
            yield from self._prompt(turn, at)
            yield self._surface("user/message", message)
            yield from self._header(turn)
        call = f"c{turn}-{step}" if step < STEPS else None
        yield self._surface("assistant/message", {**at, **_answer(turn, step, call)})
        if call is not None:
            yield from self._tool(at, call)
        yield self._event("step/end", at)

    def _prompt(self, turn: int, at: Event) -> Iterator[Event]:
        if (turn - 1) % PROMPT_EVERY:
            return
        text = f"You are a careful engineer. Revision {turn}."
        message = _message("system", text, {"kind": "system-prompt"}, f"s{turn}")
        data = {**at, "message": message}
        if self._head is None:
            event = self._surface("system/message", data)
        else:
            operation = {"op": "replace", "startSeq": self._head, "endSeq": self._head}
            sources = [self._head]
            event = self._surface(
                "system/message", data, sourceEventSeqs=sources, surfaceOp=operation
            )
        self._head = event["seq"]
        yield event

    def _header(self, turn: int) -> Iterator[Event]:
        if (turn - 1) % PROMPT_EVERY:
            return
        header = {"config": _CONFIG, "tools": [_TOOL]}
        reason = "initial" if turn == 1 else "series"
        yield self._event("request/header", {"header": header, "reason": reason})

    def _tool(self, at: Event, call: str) -> Iterator[Event]:
        arguments = json.dumps({"command": f"grep -n work {call}.py"})
        started = self._event(
            "tool/call", {**at, "callId": call, "name": "shell", "arguments": arguments}
        )
        yield started
        message = {
            "role": "tool",
            "source": {"kind": "tool", "callId": call},
            "toolCallId": call,
            "content": [{"type": "text", "text": _OUTPUT}],
            "isError": False,
            "id": f"t-{call}",
        }
        sources = [started["seq"]]
        yield self._surface("tool/result", {**at, "message": message}, sourceEventSeqs=sources)

    def _compaction(self, turn: int) -> Iterator[Event]:
        """A closed bracket between two turns: start, summary, checkpoint, end."""
        owner = {"compactionId": f"k{turn}"}
        nodes = self._history
        start = self._event("compaction/start", {**owner, "turn": None})
        yield start
        summary = {
            **owner,
            "summary": [{"type": "text", "text": f"Parts up to {turn} are done."}],
            "shadowedRange": {"start": nodes[0], "end": nodes[-1]},
            "shadowedSeqs": list(nodes),
            "shadowedTokenCount": 90 * len(nodes),
            "provider": "bench",
            "model": "bench-1",
        }
        priced = self._event("compaction/summary", summary)
        yield priced
        source = {"kind": "compact-checkpoint", **owner}
        message = _message("user", f"Parts up to {turn} are done.", source, f"k{turn}")
        operation = {"op": "replace", "startSeq": nodes[0], "endSeq": nodes[-1]}
        cited = _ranges([start["seq"], priced["seq"], *nodes])
        checkpoint = self._surface(
            "user/message", message, sourceEventSeqs=cited, surfaceOp=operation
        )
        self._history = [checkpoint["seq"]]
        yield checkpoint
        yield self._event("compaction/end", {**owner, "turn": None})


def _message(role: str, text: str, source: Event, id_: str) -> Event:
    return {"content": [{"type": "text", "text": text}], "source": source, "role": role, "id": id_}


def _answer(turn: int, step: int, call: str | None) -> Event:
    content: list[Event] = [{"type": "text", "text": _ANSWER}]
    if call is not None:
        arguments = json.dumps({"command": f"grep -n work {call}.py"})
        content.append({"type": "tool-call", "id": call, "name": "shell", "arguments": arguments})
    source = {"kind": "model", "provider": "bench", "model": "bench-1"}
    message = {"role": "assistant", "content": content, "source": source, "id": f"a{turn}-{step}"}
    usage = {"inputTokens": 1000 + turn, "outputTokens": 90, "totalTokens": 1090 + turn}
    return {"message": message, "usage": usage, "stream": _stream(content, usage)}


def _stream(content: list[Event], usage: Event) -> list[Event]:
    records: list[Event] = []
    for index, block in enumerate(content):
        opened = {"type": "block-start", "index": index, "blockType": block["type"]}
        records.append({"type": "chunk", "time": _TIME, "chunk": opened})
        records.append(_run(index, block))
        closed = {"type": "block-end", "index": index, "block": block}
        records.append({"type": "chunk", "time": _TIME, "chunk": closed})
    kind = "tool-calls" if len(content) > 1 else "stop"
    ends = ({"type": "usage", "usage": usage}, {"type": "finish", "reason": {"kind": kind}})
    return [*records, *({"type": "chunk", "time": _TIME, "chunk": chunk} for chunk in ends)]


def _run(index: int, block: Event) -> Event:
    if block["type"] == "text":
        text = block["text"]
        parts = [text[at : at + 40] for at in range(0, len(text), 40)]
        gaps = [1] * (len(parts) - 1)
        return {
            "type": "text-chunks",
            "time0": _TIME,
            "index": index,
            "dt": gaps,
            "texts": parts,
        }
    return {
        "type": "tool-call-chunks",
        "time0": _TIME,
        "index": index,
        "dt": [],
        "id": block["id"],
        "name": block["name"],
        "args": [block["arguments"]],
    }


def _ranges(seqs: list[int]) -> list[Any]:
    """Range encoding of a list that need not be increasing (then it stays as it is)."""
    if any(b <= a for a, b in itertools.pairwise(seqs)):
        return list(seqs)
    raise AssertionError("a checkpoint cites its bracket before the older nodes")
