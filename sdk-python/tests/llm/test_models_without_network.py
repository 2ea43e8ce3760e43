"""Scripted and replaying models, one-shot requests, and what every stream keeps to."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import anyio
import pytest
from recorded_responses import recorded_responses

from dsh_protocol import open_log
from dsh_protocol.llm import (
    Capabilities,
    ChunkStream,
    ModelCallError,
    ReplayModel,
    ScriptedModel,
    answer,
    ask,
    refusal,
)
from dsh_protocol.requests import iter_requests
from dsh_protocol.streams import assemble
from dsh_protocol.wire import failed_finish

pytestmark = pytest.mark.anyio
Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[3] / "conformance" / "recordings"


async def taken(stream: ChunkStream) -> list[Json]:
    return [chunk async for chunk in stream]


async def test_a_script_is_answered_in_order(request_options: Json) -> None:
    calls = [("c1", "shell", '{"command":"ls"}')]
    model = ScriptedModel(
        [
            answer(
                "Hello", reasoning="Hm", calls=calls, usage={"inputTokens": 1, "outputTokens": 2}
            ),
            "Bye",
            lambda request: request["model"],
        ]
    )
    first = assemble(await taken(model.stream(request_options)))
    assert first.content == [
        {"type": "reasoning", "text": "Hm"},
        {"type": "text", "text": "Hello"},
        {"type": "tool-call", "id": "c1", "name": "shell", "arguments": '{"command":"ls"}'},
    ]
    assert (first.finish, first.usage) == (
        {"kind": "tool-calls"},
        {"inputTokens": 1, "outputTokens": 2},
    )
    assert (await ask(model, request_options)).text == "Bye"
    assert (await ask(model, request_options)).text == "deepseek-flash"
    assert (await ask(model, request_options)).text == "deepseek-flash"
    assert model.requests == [request_options] * 4


async def test_pieces_add_up(request_options: Json) -> None:
    chunks = answer("Hello", calls=[("c", "t", '{"a":1}')], pieces=2)
    assert [c["text"] for c in chunks if c["type"] == "text-delta"] == ["He", "ll", "o"]
    assert "".join(c.get("argumentsDelta", "") for c in chunks) == '{"a":1}'
    model = ScriptedModel([chunks])
    assert await taken(model.stream(request_options)) == chunks


async def test_without_a_script_a_model_says_so(request_options: Json) -> None:
    said = await ask(ScriptedModel(), request_options)
    assert "scripted model" in said.text
    assert said.text.endswith("Hi")


async def test_a_scripted_failure_is_a_finish_and_an_error_of_ask(request_options: Json) -> None:
    reply = refusal("RATE_LIMIT", "slow down", status=429, provider_retry_after_ms=7000)
    model = ScriptedModel([reply])
    assert await taken(model.stream(request_options)) == [
        {
            "type": "finish",
            "reason": {
                "kind": "error",
                "failure": {
                    "message": "slow down",
                    "code": "RATE_LIMIT",
                    "status": 429,
                    "providerRetryAfterMs": 7000,
                },
            },
        }
    ]
    with pytest.raises(ModelCallError) as caught:
        await ask(model, request_options)
    assert (caught.value.code, caught.value.status) == ("RATE_LIMIT", 429)
    assert caught.value.provider_retry_after_ms == 7000


async def test_defaults_of_a_scripted_model() -> None:
    declared = Capabilities("p", "m", "M", default_max_tokens=9, efforts=("off", "high"))
    model = ScriptedModel(capabilities=declared)
    call = await model.prepare({"provider": "p", "model": "m"})
    assert call.config == {"provider": "p", "model": "m", "maxTokens": 9}
    assert call.adapter_defaults == {"maxTokens": True}
    with pytest.raises(ModelCallError, match="does not support reasoning effort"):
        await model.prepare({"provider": "p", "model": "m", "reasoningEffort": "low"})


@pytest.mark.parametrize("scenario", ["v4/tools", "v4/errors", "v3/plain", "v3/tools"])
async def test_a_log_answers_as_it_was_answered(request_options: Json, scenario: str) -> None:
    (path,) = (ROOT / scenario).rglob("session.v*.jsonl")
    log = open_log(path)
    model = ReplayModel(log)
    recorded = [r for r in recorded_responses() if r.name.startswith(f"{scenario}/")]
    streams = [r.chunks for r in recorded if r.chunks is not None]
    for chunks in streams:
        assert await taken(model.stream(request_options)) == chunks
    (last,) = await taken(model.stream(request_options))
    assert last["reason"]["failure"]["code"] == "REPLAY_EXHAUSTED"


async def test_a_log_declares_what_its_headers_say() -> None:
    (path,) = (ROOT / "v4/plain").rglob("session.v4.jsonl")
    log = open_log(path)
    (first, *_) = iter_requests(log)
    assert first.header is not None
    config = first.header["config"]
    defaults = first.header.get("adapterDefaults", {})
    asked = {name: value for name, value in config.items() if name not in defaults}
    call = await ReplayModel(log).prepare(asked)
    assert (call.config, call.adapter_defaults) == (config, defaults)
    assert call.capabilities.context() == first.context


async def test_an_interrupted_answer_waits_to_be_cancelled(request_options: Json) -> None:
    (path,) = (ROOT / "v4/plain").rglob("session.v4.jsonl")
    log = open_log(path)
    for event in log.events:
        if event.type == "assistant/message":
            event.data["stream"] = event.data["stream"][:2]
            break
    model = ReplayModel(log)
    chunks: list[Json] = []
    with anyio.move_on_after(1) as scope:
        async for chunk in model.stream(request_options):
            chunks.append(chunk)  # noqa: PERF401
    assert scope.cancelled_caught
    assert chunks
    assert all(chunk["type"] != "finish" for chunk in chunks)


async def _raises(error: Exception) -> AsyncGenerator[Json, None]:
    yield {"type": "block-start", "index": 0, "blockType": "text"}
    raise error


async def test_whatever_a_model_raises_ends_its_stream() -> None:
    chunks = await taken(ChunkStream(_raises(ValueError("boom"))))
    failure = {"message": "boom", "code": "UNKNOWN"}
    assert chunks[-1] == {"type": "finish", "reason": {"kind": "error", "failure": failure}}
    assert failed_finish(ValueError())["reason"]["failure"]["message"] == "ValueError"


async def _talkative() -> AsyncGenerator[Json, None]:
    yield {"type": "finish", "reason": {"kind": "stop"}}
    yield {"type": "usage", "usage": {}}


async def test_nothing_follows_a_finish() -> None:
    assert len(await taken(ChunkStream(_talkative()))) == 1


async def test_a_closed_stream_is_at_its_end() -> None:
    stream = ChunkStream(_talkative())
    await stream.aclose()
    assert await taken(stream) == []
