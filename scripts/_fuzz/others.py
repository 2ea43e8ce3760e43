"""Events beside the conversation: retries, commands, compactions, titles, markers, offloaded images, foreign events."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from .writer import Json, Writer

_EXAMPLES = Path(__file__).resolve().parents[2] / "spec" / "examples" / "session"
# Types whose events stand for themselves, by the first part of their names.
_OWNERS = (
    *("approval", "sandbox", "permission", "plan", "feedback", "hook", "todo", "goal", "schedule"),
    *("tool-workflow", "team", "deliverables", "job", "model", "agent-preset", "agent", "web"),
    *("subagent", "working-directory"),
)


def foreign(w: Writer) -> None:
    """An event of a plugin, which may have any members."""
    members = {"surfaceOp": {"op": "x"}} if w.some(0.3) else {}
    w.add("plugin:acme/note", {"text": w.word()}, ignorable=True, **members)


def title(w: Writer) -> None:
    """A title, of the first user message or by hand."""
    users = [event["seq"] for event in w.events if event["type"] == "user/message"]
    source = {"kind": "fallback"} if users and w.some() else {"kind": "user"}
    cited = users[:1] if source["kind"] == "fallback" else []
    w.add("session/title", {"title": "T", "messageSeqs": cited, "source": source})


def owned(w: Writer) -> None:
    """An event that only its owner reads, as an example has it."""
    kind, data = w.rng.choice(_owned(w.version))
    w.add(kind, data)


@cache
def _owned(version: int) -> list[tuple[str, Any]]:
    found = []
    for owner in _OWNERS:
        for path in sorted(_EXAMPLES.glob(f"v{version}/{owner}.*/*.json")):
            example = json.loads(path.read_bytes())
            # A child is in the catalog once, whatever an example calls it.
            if example["valid"] and example["value"]["type"] != "subagent/catalog":
                found.append((example["value"]["type"], example["value"]["data"]))
    return found


def delivery(w: Writer) -> None:
    """The endpoint has accepted the log so far."""
    if w.events:
        through = w.rng.randrange(len(w.events))
        marker = {"sessionId": "s-1", "sessionFormatVersion": w.version, "throughSeq": through}
        w.add("session-log-deepseek/delivery-accepted", marker)


def reopened(w: Writer) -> None:
    """Another process goes on with the session."""
    w.add("session/end-seed", {})


def command(w: Writer) -> None:
    """A command, done or not."""
    id_ = w.id("cmd")
    w.add("command/run", {"commandId": id_, "name": "login", "source": {"kind": "user"}})
    if w.some(0.8):
        kind = w.rng.choice(("success", "error"))
        w.add("command/done", {"commandId": id_, "kind": kind})


def offload(w: Writer) -> None:
    """Take an image out of a message on the surface; the release that writes format 3 does not know this type."""
    for seq in w.nodes:
        event = w.events[seq]
        if w.version < 4 or event["type"] != "user/message" or seq in w.offloaded:
            continue
        images = sum(1 for block in event["data"]["content"] if block["type"] == "image")
        if images:
            w.offloaded.add(seq)
            w.add("image/offload", {"targets": [{"seq": seq, "imageIndexes": [images - 1]}]})
            return


def retries(w: Writer, place: Json) -> None:
    """A chain of attempts at a request that failed."""
    failure = {"message": "busy", "code": "RATE_LIMITED"}
    chain = {"retryId": w.id("retry"), **place}
    policy = {"provider": "p", "mode": "always", "policyKey": "rate", "delayMs": 0}
    for retry in range(1, w.rng.randint(1, 3) + 1):
        w.add("assistant/attempt", {**place, "stream": []})
        w.add("llm/retry", {**chain, **policy, "retry": retry, "failure": failure})
        if w.some(0.7):
            w.add("llm/retry-started", {**chain, "retry": retry})


def dispatches(w: Writer, call: str) -> None:
    """Calls that a call makes, one of them inside another."""
    parent = call
    for _ in range(w.rng.choice((0, 0, 0, 1, 2))):
        sub = {
            "rootCallId": call,
            "parentCallId": parent,
            "subCallId": w.id("sub"),
            "name": "lookup",
        }
        w.add("tool/ptc-dispatch-start", {**sub, "arguments": {"a": 1}})
        if w.some(0.8):
            settled = {"isError": False, "content": [w.text()]}
            w.add("tool/ptc-dispatch", {**sub, "arguments": {"a": 1}, **settled})
        parent = sub["subCallId"]


def compact(w: Writer) -> None:
    """Replace a part of the history by a summary, or give up."""
    first = 1 if w.has_head else 0
    if len(w.nodes) <= first:
        return
    owner = {"compactionId": w.id("compaction")}
    turn = {"turn": w.turn}
    w.add("compaction/start", {**owner, **turn})
    if w.some(0.2):
        failure = {"message": "busy", "code": "RATE_LIMITED"}
        w.add("compaction/end", {**owner, **turn, "error": failure})
        return
    start = w.rng.randrange(first, len(w.nodes))
    end = w.rng.randrange(start, len(w.nodes))
    gone = w.nodes[start : end + 1]
    summary = {
        "summary": [w.text()],
        "shadowedRange": {"start": gone[0], "end": gone[-1]},
        "shadowedSeqs": gone,
        "shadowedTokenCount": 1,
        "provider": "p",
        "model": "m",
    }
    w.add("compaction/summary", {**owner, **summary})
    source = {3: {"kind": "plugin", "plugin": "compact"}, 4: {"kind": "compact-checkpoint"}}[
        w.version
    ]
    w.replace("user/message", w.user_message([w.text()], {**source, **owner}), start, end)
    w.add("compaction/end", {**owner, **turn})


INSIDE: tuple[Callable[[Writer], None], ...] = (
    foreign,
    title,
    owned,
    owned,
    offload,
    delivery,
    command,
)
"""What may stand anywhere."""

OUTSIDE = (*INSIDE, reopened)
"""What may stand between turns."""
