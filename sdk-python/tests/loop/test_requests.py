"""Requests of the loop: retries, hooks around them, frames, and that each follows from the log."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from agents import Scripted, agent, calls, ends, failed, text, tool, types

from dsh_protocol.llm import RetryPolicy
from dsh_protocol.loop import (
    Committed,
    Enter,
    PreStep,
    RequestError,
    Retries,
    StatusChanged,
    StepHook,
    StreamCall,
    StreamChunk,
    StreamEnd,
    StreamStart,
)
from dsh_protocol.requests import iter_requests
from dsh_protocol.rows import header_bytes, open_log

pytestmark = pytest.mark.anyio


def log_of(session: Any) -> Any:
    """The log as a reader gets it."""
    rows = [header_bytes(session.header.logical), *(e.row_bytes() for e in session.events)]
    return open_log(b"".join(row + b"\n" for row in rows))


def retrying(model: Scripted, slept: list[float], **more: Any) -> Any:
    """An agent that retries, and notes how long it would wait."""

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await anyio.lowlevel.checkpoint()

    made = agent(model, **more)
    made.hooks.request_error.use(Retries(made, sleep=sleep, spread=lambda: 0.5))
    return made


def retries(made: Any) -> list[dict[str, Any]]:
    """The data of the retry events."""
    return [e.data for e in made.session.events if e.type.startswith("llm/retry")]


async def test_failed_requests_are_sent_again() -> None:
    slept: list[float] = []
    model = Scripted(failed("SERVER"), failed("RATE_LIMIT", providerRetryAfterMs=1234), text("ok"))
    made = retrying(model, slept)
    async with made:
        await made.send("go")
    assert slept == [0.5, 1.234]
    first, started, second, again = retries(made)
    assert first == {
        "retryId": first["retryId"],
        "turn": 1,
        "step": 1,
        "provider": "p",
        "mode": "normal",
        "policyKey": (
            '["normal",5,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,10000,0.1]'
        ),
        "retry": 1,
        "maxRetries": 5,
        "delayMs": 500,
        "failure": {"message": "the model said SERVER", "code": "SERVER"},
    }
    assert started == {"retryId": first["retryId"], "turn": 1, "step": 1, "retry": 1}
    assert (second["retry"], second["delayMs"], second["retryId"]) == (2, 1234, first["retryId"])
    assert again["retry"] == 2
    # Users are admitted once; every attempt has its settlement.
    kinds = types(made.session)
    assert kinds.count("user/message") == 1
    assert kinds.count("assistant/attempt") == 2
    assert kinds.count("assistant/message") == 1


async def test_a_chain_of_retries_ends_and_begins_anew_with_each_step() -> None:
    slept: list[float] = []
    model = Scripted(*[failed("SERVER")] * 6, *[failed("SERVER")] * 2, text("ok"))
    made = retrying(model, slept)
    async with made:
        await made.send("go")
        await made.send("again")
    assert slept == [0.5, 1, 2, 4, 8, 0.5, 1]
    assert [reason["kind"] for reason in ends(made.session)] == ["error", "completed"]
    ids = {data["retryId"] for data in retries(made)}
    assert len(ids) == 2


async def test_codes_that_are_not_listed_and_long_waits_are_not_retried() -> None:
    slept: list[float] = []
    model = Scripted(failed("AUTH"), failed("RATE_LIMIT", providerRetryAfterMs=10_001))
    made = retrying(model, slept)
    async with made:
        await made.send("go")
        await made.send("again")
    assert slept == []
    assert retries(made) == []


async def test_a_policy_without_limit_asks_the_others_first() -> None:
    slept: list[float] = []
    model = Scripted(failed("AUTH"), failed("AUTH"), text("ok"))
    model.policy = RetryPolicy(mode="always")
    made = retrying(model, slept)
    answers: list[Any] = ["retry", None]

    async def other(_about: RequestError, _proceed: Any) -> Any:
        return answers.pop(0)

    made.hooks.request_error.use(other)
    async with made:
        await made.send("go")
    assert slept == [0.5]
    assert "maxRetries" not in retries(made)[0]


async def test_cancelling_a_wait_leaves_the_announcement_alone() -> None:
    async def forever(_seconds: float) -> None:
        await anyio.sleep_forever()

    made = agent(Scripted(failed("SERVER")))
    made.hooks.request_error.use(Retries(made, sleep=forever))
    async with made:
        made.followup("go")
        while "llm/retry" not in types(made.session):
            await anyio.lowlevel.checkpoint()
        made.cancel()
        await made.idle()
    assert types(made.session)[-3:] == ["llm/retry", "step/end", "turn/end"]
    assert ends(made.session) == [{"kind": "aborted", "reason": {"kind": "user"}}]


async def test_a_hook_changes_the_configuration() -> None:
    model = Scripted(text("a"), text("b"))
    made = agent(model)

    async def warmer(_about: StepHook, proceed: Any) -> Any:
        return {**await proceed(), "temperature": 0.5}

    undo = made.hooks.request.use(warmer)
    async with made:
        await made.send("one")
        undo()
        await made.send("two")
    assert [asked["temperature"] for asked in model.asked] == [0.5, 0.5]
    # The second request starts from the header in force.
    assert types(made.session).count("request/header") == 1


async def test_without_a_model_the_turn_fails() -> None:
    made = agent(Scripted())

    async def none(_about: StepHook, _proceed: Any) -> Any:
        return {"provider": "p", "model": ""}

    made.hooks.request.use(none)
    async with made:
        outcome = await made.send("go")
    assert outcome.reason is not None
    assert outcome.reason["error"] == {
        "message": 'agent "s-1" has no provider/model: set AgentOptions.provider and AgentOptions.model or supply both '
        "via the agent/request waterfall",
        "code": "UNKNOWN",
    }
    assert types(made.session)[3:] == ["step/start", "step/end", "turn/end"]


async def test_a_new_series_is_asked_for_by_a_hook() -> None:
    made = agent(Scripted(text("a"), text("b")))

    async def anew(about: PreStep, proceed: Any) -> Any:
        decision = await proceed()
        return Enter(decision.messages, starts_request_series=about.turn == 2)

    made.hooks.pre_step.use(anew)
    async with made:
        await made.send("one")
        await made.send("two")
    assert [e.data["reason"] for e in made.session.events if e.type == "request/header"] == [
        "initial",
        "series",
    ]


async def test_a_stream_hook_wraps_the_answer() -> None:
    made = agent(Scripted(text("a ", "b")))

    async def louder(
        _call: StreamCall, inner: Callable[[], AsyncIterator[Any]]
    ) -> AsyncIterator[Any]:
        async for chunk in inner():
            if chunk["type"] == "text-delta":
                chunk = {**chunk, "text": chunk["text"].upper()}
            if chunk["type"] == "block-end":
                chunk = {**chunk, "block": {"type": "text", "text": "A B"}}
            yield chunk

    made.hooks.stream(louder)
    async with made:
        assert (await made.send("go")).text == "A B"


async def test_a_stream_hook_that_fails_leaves_an_attempt() -> None:
    made = agent(Scripted(text("a ", "b")))

    async def broken(
        _call: StreamCall, inner: Callable[[], AsyncIterator[Any]]
    ) -> AsyncIterator[Any]:
        async for chunk in inner():
            yield chunk
            if chunk["type"] == "text-delta":
                raise ValueError("no more")

    made.hooks.stream(broken)
    async with made:
        outcome = await made.send("go")
    assert outcome.reason == {"kind": "error", "error": {"message": "no more", "code": "UNKNOWN"}}
    attempt = next(e for e in made.session.events if e.type == "assistant/attempt")
    assert [record["type"] for record in attempt.data["stream"]] == ["chunk", "text-chunks"]


async def test_the_frames_of_a_turn() -> None:
    made = agent(Scripted(text("a ", "b")))
    async with made:
        frames = [frame async for frame in made.stream("go")]
    assert [f for f in frames if isinstance(f, StatusChanged)] == [
        StatusChanged("running"),
        StatusChanged("idle"),
    ]
    events = [f.event.seq for f in frames if isinstance(f, Committed)]
    assert events == list(range(made.session.next_seq))
    start = next(f for f in frames if isinstance(f, StreamStart))
    assert start == StreamStart("s-1:1", 1, 1, 1)
    chunks = [f for f in frames if isinstance(f, StreamChunk)]
    assert [f.index for f in chunks] == list(range(5))
    assert "".join(f.text for f in chunks) == "a b"
    end = next(f for f in frames if isinstance(f, StreamEnd))
    message = next(e for e in made.session.events if e.type == "assistant/message")
    assert end == StreamEnd("s-1:1", 1, 5, "assistant/message", message.seq)


async def test_a_slow_reader_gets_larger_deltas_and_all_of_the_text() -> None:
    words = [f"{number} " for number in range(5000)]
    made = agent(Scripted(text(*words)))
    async with made:
        stream = made.stream("go")
        await made.idle()
        frames = [frame async for frame in stream]
    assert len(frames) < 1000
    assert "".join(f.text for f in frames if isinstance(f, StreamChunk)) == "".join(words)
    assert [f.event.seq for f in frames if isinstance(f, Committed)] == list(
        range(made.session.next_seq)
    )


async def test_every_request_follows_from_the_log() -> None:
    model = Scripted(calls(("c1", "t", "{}")), failed("SERVER"), text("a"), text("b"), text("c"))
    made = retrying(model, [])
    made.parts.tools.register(tool("t", lambda *_: "ok"))
    async with made:
        await made.send("one")
        undo = made.parts.prompt.section("more", order=5, text="More.")
        await made.send("two")
        undo()
        made.parts.prompt.context("where", order=1, text="Here.")
        await made.send("three")
    rebuilt = [request.options() for request in iter_requests(log_of(made.session))]
    assert rebuilt == model.asked
