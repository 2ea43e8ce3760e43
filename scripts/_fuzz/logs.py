"""Random logs that are sound: turns of steps, each with a request and its answer, and what stands beside them."""

from __future__ import annotations

import random

from . import others
from .writer import TIME, Json, Log, Writer

_PROMPT_SOURCE: dict[int, Json] = {
    3: {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"},
    4: {"kind": "system-prompt"},
}
_TOOLS = ("shell", "read", "write")


def random_log(rng: random.Random, version: int) -> Log:
    """A sound log of up to about sixty events, the end of which may be anywhere."""
    writer = Writer(rng, version)
    turns = rng.randint(0, 3)
    # A seeded log begins with what it has inherited, up to a marker.
    inherited = rng.randint(0, turns) if writer.some(0.15) else None
    for turn in range(turns + 1):
        if turn == inherited:
            writer.add("session/end-seed", {"inherited": True})
        _between(writer)
        if turn < turns:
            _turn(writer)
    header: Json = {
        "type": "session",
        "version": version,
        "id": "s-1",
        "createdAt": TIME,
        "cwd": "/w",
        "isSeeded": inherited is not None,
        "delegationDepth": 0,
    }
    if inherited is not None:
        header["parentSession"] = "p-1"
    elif writer.some(0.3):
        del writer.events[rng.randrange(len(writer.events) + 1) :]
    return Log(header, writer.events)


def _between(w: Writer) -> None:
    if w.some(0.3):
        w.rng.choice((*others.OUTSIDE, _user))(w)


def _turn(w: Writer) -> None:
    w.turn += 1
    w.step = 0
    w.add("turn/start", {"turn": w.turn})
    for _ in range(w.rng.randint(0, 3)):
        _step(w)
    if w.some(0.25):
        others.compact(w)
    w.add("turn/end", {"turn": w.turn, "reason": {"kind": "completed"}})


def _step(w: Writer) -> None:
    w.step += 1
    place = {"turn": w.turn, "step": w.step}
    w.add("step/start", place)
    _prompt(w, place)
    if w.some(0.8):
        _user(w)
    if w.header_seq is None or w.some(0.2):
        _header(w, place)
    if w.some(0.3):
        w.add("request/context", {"provider": "p", "model": "m", "contextWindow": 1000})
    if w.some(0.4):
        w.rng.choice(others.INSIDE)(w)
    if w.some(0.15):
        others.retries(w, place)
    _answer(w, place)
    w.add("step/end", place)


def _prompt(w: Writer, place: Json) -> None:
    if w.nodes and not w.some(0.2):
        return
    content = [] if w.some(0.1) else [w.text()]
    source = _PROMPT_SOURCE[w.version]
    message = {"role": "system", "content": content, "source": source, "id": f"s-{len(w.events)}"}
    data = {**place, "message": message}
    if w.has_head and w.some():
        w.replace("system/message", data, 0, 0)
    elif w.has_head or not w.nodes:
        w.surface("system/message", data)


def _user(w: Writer) -> None:
    images = [w.image() for _ in range(w.rng.choice((0, 0, 0, 1, 2)))]
    w.surface("user/message", w.user_message([w.text(), *images]))


def _header(w: Writer, place: Json) -> None:
    names = w.rng.sample(_TOOLS, w.rng.randint(0, 3))
    w.tools = [
        {"name": name, "description": f"The {name}.", "parameters": {"type": "object"}}
        for name in names
    ]
    header: Json = {"config": {"provider": "p", "model": w.rng.choice("mn")}}
    if w.tools:
        header["tools"] = w.tools
    first = w.header_seq is None
    reason = "initial" if first else w.rng.choice(("series", "resume", "change"))
    w.header_seq = w.add("request/header", {"header": header, "reason": reason})
    if w.version >= 4 and w.tools and w.some(0.3):
        _developer(w, place)


def _developer(w: Writer, place: Json) -> None:
    if w.some(0.3):
        block = {"type": "tool-removal", "toolName": "shell"}
        named = {}
    else:
        block = {"type": "tool-addition", "toolName": w.rng.choice(w.tools)["name"]}
        named = {"headerSeq": w.header_seq}
    message = {
        "role": "developer",
        "content": [block],
        "source": {"kind": "tool-registry"},
        "id": f"d-{len(w.events)}",
    }
    w.surface("developer/message", {**place, **named, "message": message})


def _answer(w: Writer, place: Json) -> None:
    content: list[Json] = [{"type": "reasoning", "text": w.word()}] if w.some(0.3) else []
    if w.some(0.8):
        content.append(w.text())
    calls = [
        {"type": "tool-call", "id": w.id("c"), "name": "shell", "arguments": "{}"}
        for _ in range(w.rng.choice((0, 0, 1, 2)))
    ]
    source = {"kind": "model", "provider": "p", "model": "m"}
    message = {
        "role": "assistant",
        "content": [*content, *calls],
        "source": source,
        "id": f"a-{len(w.events)}",
    }
    w.surface("assistant/message", {**place, "message": message, "stream": []})
    for call in calls:
        started = {"callId": call["id"], "name": call["name"], "arguments": call["arguments"]}
        w.add("tool/call", {**place, **started})
        others.dispatches(w, call["id"])
    for call in calls:
        _result(w, place, call)
    if w.some(0.3):
        w.rng.choice(others.INSIDE)(w)


def _result(w: Writer, place: Json, call: Json) -> None:
    content = [w.text(), *([w.image()] if w.some(0.2) else [])]
    data = {**place, "message": _tool_message(w, call, content)}
    seq = w.surface("tool/result", data)
    if w.some(0.2):
        at = w.nodes.index(seq)
        w.replace("tool/result", _with_content(w, data, [w.text()]), at, at)


def _tool_message(w: Writer, call: Json, content: list[Json]) -> Json:
    source = {"kind": "tool", "callId": call["id"], "toolName": call["name"]}
    id_ = f"t-{len(w.events)}"
    if w.version >= 4:
        message = {"role": "tool", "toolCallId": call["id"], "content": content, "source": source}
        return {**message, "id": id_, "isError": w.some(0.2)}
    block = {"type": "tool-result", "toolCallId": call["id"], "content": content}
    return {"role": "user", "content": [block], "source": source, "id": id_}


def _with_content(w: Writer, data: Json, content: list[Json]) -> Json:
    message = data["message"]
    if w.version < 4:
        content = [{**message["content"][0], "content": content}]
    return {**data, "message": {**message, "content": content}}
