"""Hostile responses, served to the official runtime and to an endpoint of ours: both settle them alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from loopback import RESET, Piece, Reply, Server, serve
from official_runtime import OfficialRuntime
from responses import CHAT_WHOLE, CLOSE, DONE, HI, OPEN, REASON, START, STOP, WHOLE, chat, event

from dsh_protocol.llm import Endpoint
from dsh_protocol.streams import assemble, expand

pytestmark = pytest.mark.official
Json = dict[str, Any]
PATIENT_MS, TIRED_MS = 120_000, 4000
SETTLEMENTS = ("assistant/message", "assistant/attempt")


@dataclass(frozen=True)
class Case:
    """A response, and how long its silence is borne: only where silence is the point, not for long."""

    name: str
    reply: Reply
    idle_ms: int = PATIENT_MS


def _cases(wire: str) -> Iterator[Case]:
    whole = WHOLE if wire == "deepseek-messages" else CHAT_WHOLE
    begun = START + OPEN + HI if wire == "deepseek-messages" else chat({"content": "Hi"})
    pieces: dict[str, list[Piece]] = {
        "whole": [whole],
        "every-byte": [bytes([byte]) for byte in whole],
        "crlf-every-byte": [bytes([byte]) for byte in whole.replace(b"\n", b"\r\n")],
        "comments": [begun, 0.1, b": alive\n\n", whole.removeprefix(begun)],
        # Longer than the patience in all, far shorter each.
        "kept-alive-by-comments": [begun, *(0.5, b": alive\n\n") * 10, whole.removeprefix(begun)],
        "missing-terminator": [begun],
        "cut-inside-an-event": [whole[:-12]],
        "empty": [],
        "reset": [begun, 0.1, RESET],
        "reset-at-once": [RESET],
        "silence": [begun, 12.0],
        "no-json": [begun, b'data: {"type":\n\n'],
        "invalid-utf8": [whole.replace(b'"Hi"', b'"H\xff\xe2\x82i"')],
    }
    for name, reply in pieces.items():
        is_silent = name in ("silence", "kept-alive-by-comments")
        yield Case(name, Reply(reply), TIRED_MS if is_silent else PATIENT_MS)
    yield Case("shorter-than-announced", Reply([begun], length=100_000))
    yield Case("reset-and-shorter", Reply([begun, 0.1, RESET], length=100_000))
    for kept in (False, True):
        name = f"chunked-{'kept' if kept else 'closed'}"
        yield Case(f"{name}-whole", Reply([whole, b""], chunked=True, kept=kept))
        yield Case(f"{name}-cut", Reply([begun], chunked=True, kept=kept))
        yield Case(f"{name}-reset", Reply([begun, 0.1, RESET], chunked=True, kept=kept))
        yield Case(
            f"unframed-{'kept' if kept else 'closed'}-reset", Reply([begun, 0.1, RESET], kept=kept)
        )
    yield Case("silence-before-the-head", Reply([whole], before=12.0), TIRED_MS)
    yield Case("no-content-type", Reply([whole], headers=()))
    yield Case("status-204", Reply([], status=204, headers=()))
    for status in (400, 401, 402, 403, 404, 413, 429, 500, 503, 529):
        error = {"type": "some_error", "message": f"refused with {status}"}
        body = json.dumps({"type": "error", "error": error}).encode()
        headers = [("content-type", "application/json"), ("x-request-id", f"r-{status}")]
        yield Case(f"status-{status}", Reply([body], status, headers, len(body)))
    slow = [("retry-after", "7"), ("content-type", "text/plain")]
    yield Case("retry-after", Reply([b"slow down"], 429, slow, 9))


def _message_cases() -> Iterator[Case]:
    tool = {"type": "tool_use", "id": "t1", "name": "echo", "input": {}}
    opened = event("content_block_start", index=0, content_block=tool)
    bad = event(
        "content_block_delta", index=0, delta={"type": "input_json_delta", "partial_json": "{"}
    )
    calls = event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 5})
    without = event("message_start", message={})
    overloaded = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    yield Case("arguments-no-json", Reply([START + opened + bad + CLOSE + calls + STOP]))
    yield Case("usage-missing", Reply([without + WHOLE.removeprefix(START)]))
    yield Case(
        "usage-missing-at-the-end", Reply([WHOLE.replace(b',"usage":{"output_tokens":5}', b"")])
    )
    yield Case("error-event", Reply([START + OPEN + HI + overloaded]))
    yield Case("empty-response", Reply([START + REASON + STOP]))
    yield Case("redirect", Reply([], 307, [("location", "http://127.0.0.1:9/v1/messages")]))


def _chat_cases() -> Iterator[Case]:
    call = {"index": 0, "id": "c1", "function": {"name": "echo", "arguments": "{"}}
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 4}
    yield Case("usage", Reply([CHAT_WHOLE.replace(DONE, chat({}, usage=usage) + DONE)]))
    yield Case("cut-arguments", Reply([chat({"tool_calls": [call]}) + chat({}, "length") + DONE]))
    yield Case("filtered", Reply([chat({"content": "Hi"}) + chat({}, "content_filter") + DONE]))
    yield Case("empty-response", Reply([chat({}, "stop") + DONE]))


CASES = {
    "deepseek-messages": [*_cases("deepseek-messages"), *_message_cases()],
    "deepseek-chat": [*_cases("deepseek-chat"), *_chat_cases()],
}
RELEASES = {"deepseek-messages": "0.2.1rc2", "deepseek-chat": "0.1.5rc1"}


@contextmanager
def runtime_at(folder: Path, wire: str, url: str, idle_ms: int) -> Iterator[OfficialRuntime]:
    """The release that speaks a wire; it tries nothing again."""
    retries = {"mode": "normal", "maxRetries": 0}
    config = {"streamIdleTimeoutMs": idle_ms, "retryPolicy": retries}
    folder.mkdir()
    patch = folder / "patch.json"
    patch.write_text(json.dumps([{"id": "llm-deepseek", "config": config}]))
    with OfficialRuntime(folder, url, release=RELEASES[wire], patches=(patch,)) as runtime:
        yield runtime


def official_settlements(folder: Path, wire: str, idle_ms: int) -> Iterator[tuple[Case, Json]]:
    """What the official runtime settled for each case with this patience, and where it was asked."""
    cases = [case for case in CASES[wire] if case.idle_ms == idle_ms]
    with (
        serve(*(case.reply for case in cases)) as server,
        runtime_at(folder, wire, server.url, idle_ms) as runtime,
    ):
        runtime.initialize("deepseek-v4-pro")
        for case in cases:
            prompt = {"sessionId": case.name, "contentBlocks": [{"type": "text", "text": "Hi"}]}
            runtime.request("session/prompt", prompt)
            runtime.wait_for(case.name, "turn/end")
            (found,) = [e for e in runtime.events(case.name) if e["type"] in SETTLEMENTS]
            yield case, {**found, "url": server.url}


async def our_chunks(wire: str, case: Case) -> tuple[list[Json], Server]:
    request = {
        "provider": "deepseek-official",
        "model": "deepseek-v4-pro",
        "maxTokens": 16,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
    }
    with serve(case.reply) as server:
        model = Endpoint(wire, api_key="unused", base_url=server.url, idle_timeout_ms=case.idle_ms)
        async with model.stream(request) as chunks:
            return [chunk async for chunk in chunks], server


@pytest.mark.parametrize("idle_ms", [PATIENT_MS, TIRED_MS])
@pytest.mark.parametrize("wire", CASES)
def test_hostile_responses_settle_alike(tmp_path: Path, wire: str, idle_ms: int) -> None:
    differences = []
    for case, official in official_settlements(tmp_path / "runtime", wire, idle_ms):
        chunks, server = anyio.run(our_chunks, wire, case)
        ours = json.loads(json.dumps(chunks).replace(server.url, official["url"]))
        theirs = [chunk for _, chunk in expand(official["data"]["stream"])]
        is_attempt = assemble(ours).finish["kind"] == "error"
        kind = "assistant/attempt" if is_attempt else "assistant/message"
        if json.dumps(ours) != json.dumps(theirs) or kind != official["type"]:
            differences.append(f"{case.name}: {official['type']} {theirs[-2:]} / {ours[-2:]}")
    assert not differences, "\n".join(differences)
