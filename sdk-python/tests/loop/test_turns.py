"""Turns and steps: which events come of what, as agent-loop sections 1, 2 and 10 of the protocol have it."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest
from agents import MAX, Scripted, agent, calls, ends, failed, text, tool, types

from dsh_protocol.findings import UsageError
from dsh_protocol.loop import Enter, Outcome, PreStep, Reject, TurnStopping
from dsh_protocol.prompt import PromptService
from dsh_protocol.session import Session

pytestmark = pytest.mark.anyio

SPLICED = "agent/inbox/spliced"
COMPLETED = {"kind": "completed"}


async def test_a_followup_to_an_idle_agent_begins_at_once() -> None:
    made = agent(Scripted(text("yo")))
    async with made:
        made.followup("hi")
        # Nothing has waited yet.
        assert types(made.session) == [SPLICED, "turn/start", SPLICED]
        await made.idle()
    assert types(made.session)[3:] == [
        "step/start",
        "system/message",
        "user/message",
        "request/header",
        "request/context",
        "assistant/message",
        "step/end",
        "turn/end",
    ]
    assert ends(made.session) == [COMPLETED]


async def test_what_becomes_of_a_message() -> None:
    made = agent(Scripted(text("one ", "two"), failed("AUTH")))
    async with made:
        assert await made.send("hi") == Outcome(1, COMPLETED, "one two")
        outcome = await made.send("and")
    failure = {"message": "the model said AUTH", "code": "AUTH"}
    assert outcome == Outcome(2, {"kind": "error", "error": failure}, "")


async def test_each_followup_has_a_turn_and_steps_join() -> None:
    made = agent(Scripted(text("a"), text("b"), text("c")))
    async with made:
        made.followup("one")
        made.followup("two")
        made.steer("joins the first")
        await made.idle()
    starts = [e.data for e in made.session.events if e.type == "step/start"]
    assert starts == [{"turn": 1, "step": 1}, {"turn": 1, "step": 2}, {"turn": 2, "step": 1}]
    users = [e.data["content"][0]["text"] for e in made.session.events if e.type == "user/message"]
    assert users == ["one", "joins the first", "two"]
    assert ends(made.session) == [COMPLETED, COMPLETED]


async def test_an_injected_message_waits_for_the_next_step() -> None:
    made = agent(Scripted(text("a")))
    async with made:
        made.inject("first")
        await anyio.lowlevel.checkpoint()
        assert made.status == "idle"
        await made.send("second")
    users = [e.data["content"][0]["text"] for e in made.session.events if e.type == "user/message"]
    assert users == ["first", "second"]


async def test_input_stays_after_a_failure_until_somebody_wakes_the_agent() -> None:
    made = agent(Scripted(failed("AUTH"), text("b"), text("c")))
    async with made:
        made.followup("one")
        made.followup("two")
        await made.idle()
        assert len(made.inbox) == 1
        made.steer("three")
        await made.idle()
    assert [reason["kind"] for reason in ends(made.session)] == ["error", "completed"]
    users = [e.data["content"][0]["text"] for e in made.session.events if e.type == "user/message"]
    assert users == ["one", "three", "two"]


async def test_an_empty_first_step_completes_without_a_request() -> None:
    made = agent(Scripted())

    async def nothing(_about: PreStep, _proceed: Any) -> Any:
        return Enter(())

    made.hooks.pre_step.use(nothing)
    async with made:
        await made.send("hi")
    assert types(made.session) == [SPLICED, "turn/start", SPLICED, "turn/end"]
    assert ends(made.session) == [COMPLETED]


async def test_a_rejected_step_blocks_the_turn_and_parks_the_rest() -> None:
    made = agent(Scripted())

    async def reject(_about: PreStep, _proceed: Any) -> Any:
        return Reject()

    made.hooks.pre_step.use(reject)
    async with made:
        made.followup("one")
        made.followup("two")
        await made.idle()
    assert ends(made.session) == [{"kind": "blocked"}]
    assert len(made.inbox) == 1


async def test_max_tokens_drops_calls_and_stays_the_reason() -> None:
    made = agent(
        Scripted(
            [*text("cut", finish=None), *calls(("c", "t", "{}"), finish=MAX)[-1:]],
            calls(("d", "t", "{}")),
        ),
        tool("t", lambda *_: "done"),
    )
    async with made:
        made.followup("go")
        made.steer("more")
        await made.idle()
    assert ends(made.session) == [{"kind": "max-tokens"}]
    # The second step ends the turn right behind its results.
    assert types(made.session)[-4:] == ["tool/call", "tool/result", "step/end", "turn/end"]


async def test_a_stopping_turn_goes_on_when_it_is_steered() -> None:
    made = agent(Scripted(text("a"), text("b")))
    seen: list[int] = []

    async def once_more(about: TurnStopping, proceed: Any) -> None:
        seen.append(about.turn)
        if len(seen) == 1:
            about.agent.steer("not yet")
        await proceed()

    made.hooks.turn_stopping.use(once_more)
    async with made:
        await made.send("go")
    assert seen == [1, 1]
    assert len(made.session.events_between(0, made.session.next_seq)) == made.session.next_seq
    assert [e.data["step"] for e in made.session.events if e.type == "step/start"] == [1, 2]


@pytest.mark.parametrize(
    ("cause", "logged"),
    [
        ({"kind": "user"}, {"kind": "user"}),
        ({"kind": "parent", "more": 1}, {"kind": "parent"}),
        ({"kind": "hook", "reason": "no"}, {"kind": "hook", "reason": "no"}),
    ],
)
async def test_causes_of_cancellation(cause: Any, logged: Any) -> None:
    made = agent(Scripted(_endless()))
    async with made:
        made.followup("go")
        await _chunks(made, 3)
        made.cancel(cause)
        made.cancel({"kind": "user"})
        await made.idle()
    assert ends(made.session) == [{"kind": "aborted", "reason": logged}]


async def test_visible_text_of_a_cancelled_answer_is_kept() -> None:
    made = agent(Scripted(_endless()))
    async with made:
        made.followup("go")
        await _chunks(made, 3)
        made.cancel()
        await made.idle()
    answer = next(e for e in made.session.events if e.type == "assistant/message")
    assert answer.data["interrupted"] is True
    content = answer.data["message"]["content"]
    assert [block["type"] for block in content] == ["text"]
    assert content[0]["text"].startswith("word ")
    assert types(made.session)[-2:] == ["step/end", "turn/end"]


async def test_an_answer_that_shows_nothing_yet_is_an_attempt() -> None:
    made = agent(Scripted(_endless(start=False)))
    async with made:
        made.followup("go")
        for _ in range(30):
            await anyio.lowlevel.checkpoint()
        made.cancel()
        await made.idle()
    attempt = next(e for e in made.session.events if e.type == "assistant/attempt")
    assert attempt.data == {"turn": 1, "step": 1, "stream": []}


async def test_cancelling_takes_pending_input_back_unless_it_is_kept() -> None:
    made = agent(Scripted(_endless(), text("a"), text("b")))
    async with made:
        made.followup("one")
        made.followup("two")
        await _chunks(made, 2)
        made.cancel(keep_inbox=True)
        # A send to a turn that is stopping is a turn of its own, and wakes the agent.
        made.steer("three")
        await made.idle()
    kinds = [reason["kind"] for reason in ends(made.session)]
    assert kinds == ["aborted", "completed", "completed"]
    splices = [e.data for e in made.session.events if e.type == SPLICED]
    assert all("outcome" not in splice for splice in splices)
    assert len(made.inbox) == 0


async def test_a_cancelled_message_is_told_to_who_waits_for_it() -> None:
    made = agent(Scripted(_endless()))
    outcomes: list[Outcome] = []

    async def send() -> None:
        outcomes.append(await made.send("two"))

    async with made, anyio.create_task_group() as group:
        made.followup("one")
        await _chunks(made, 2)
        group.start_soon(send)
        await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        made.cancel()
    assert outcomes == [Outcome()]


async def test_a_hook_that_fails_ends_the_turn_with_the_text_of_its_causes() -> None:
    made = agent(Scripted())

    async def fail(_about: PreStep, _proceed: Any) -> Any:
        raise ValueError("outer") from ExceptionGroup("several", [KeyError("a"), OSError()])

    made.hooks.pre_step.use(fail)
    async with made:
        outcome = await made.send("hi")
    message = "outer: several ['a'; OSError]"
    assert outcome.reason == {"kind": "error", "error": {"message": message, "code": "UNKNOWN"}}


async def test_a_prompt_that_cannot_be_rendered_fails_behind_the_start_of_the_step() -> None:
    prompt = PromptService()
    prompt.section("bad", order=1, text="{{nobody}}")
    made = agent(Scripted(), prompt=prompt)
    async with made:
        outcome = await made.send("hi")
    assert types(made.session)[3:] == ["step/start", "step/end", "turn/end"]
    assert outcome.reason is not None
    assert outcome.reason["error"]["code"] == "UNKNOWN"
    assert 'unknown prompt variable "{{nobody}}"' in outcome.reason["error"]["message"]


async def test_turns_go_on_from_the_log() -> None:
    session = Session.create(id="s-1")
    async with agent(Scripted(text("a")), session=session) as made:
        await made.send("one")
    async with agent(Scripted(text("b")), session=session) as made:
        assert (await made.send("two")).turn == 2
    reasons = [e.data["reason"] for e in session.events if e.type == "request/header"]
    assert reasons == ["initial", "resume"]


async def test_sending_outside_of_the_block_is_refused() -> None:
    made = agent(Scripted())
    with pytest.raises(UsageError) as caught:
        made.followup("hi")
    assert caught.value.code == "loop/not-entered"
    assert made.session.next_seq == 0


async def _endless(*, start: bool = True) -> Any:
    if start:
        yield {"type": "block-start", "index": 0, "blockType": "text"}
    while True:
        await anyio.lowlevel.checkpoint()
        if start:
            yield {"type": "text-delta", "index": 0, "text": "word "}


async def _chunks(made: Any, count: int) -> None:
    """Wait until an answer has some chunks."""
    stream = made.stream()
    async for frame in stream:
        count -= type(frame).__name__ == "StreamChunk"
        if not count:
            break
    await stream.aclose()


async def test_a_fork_of_a_session_while_its_turn_runs() -> None:
    """The child inherits the open turn, closed as forked, and goes on by itself."""
    started, go_on = anyio.Event(), anyio.Event()

    async def wait(_arguments: Any, _execution: Any) -> str:
        started.set()
        await go_on.wait()
        return "done"

    made = agent(Scripted(calls(("c1", "t", "{}")), text("all done")), tool("t", wait))
    async with made:
        made.followup("go")
        await started.wait()
        child = made.session.fork()
        go_on.set()
        await made.idle()
    assert ends(made.session) == [COMPLETED]
    assert ends(child) == [{"kind": "forked"}]
    (result,) = [e.data for e in child.events if e.type == "tool/result"]
    assert result["error"]["code"] == "TOOL_OUTCOME_UNKNOWN"
    again = agent(Scripted(text("fine")), session=child)
    async with again:
        assert (await again.send("and now?")).reason == COMPLETED
