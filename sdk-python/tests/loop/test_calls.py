"""Tool calls of a step: scheduling, order of results, outcomes (agent-loop section 9 of the protocol)."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest
from agents import Scripted, agent, calls, ends, text, tool, types

from dsh_protocol.tools import ToolError

pytestmark = pytest.mark.anyio


def results(made: Any) -> list[tuple[str, bool, str, Any]]:
    """Call id, whether it failed, text and error of each result, in the order of the log."""
    return [
        (
            e.data["message"]["toolCallId"],
            e.data["message"]["isError"],
            e.data["message"]["content"][0]["text"],
            e.data.get("error"),
        )
        for e in made.session.events
        if e.type == "tool/result"
    ]


def order(made: Any) -> list[str]:
    """Starts and results in the order of the log: `+id` and `-id`."""
    marks = []
    for event in made.session.events:
        if event.type == "tool/call":
            marks.append(f"+{event.data['callId']}")
        elif event.type == "tool/result":
            marks.append(f"-{event.data['message']['toolCallId']}")
    return marks


def waiting(gates: dict[str, anyio.Event]) -> Any:
    """A body that waits for the gate that its arguments name."""

    async def execute(arguments: Any, _execution: Any) -> str:
        await gates[arguments["gate"]].wait()
        return str(arguments["gate"])

    return execute


async def test_parallel_calls_overlap_and_their_results_come_in_the_order_of_the_model() -> None:
    gates = {name: anyio.Event() for name in "abc"}
    made = agent(
        Scripted(calls(*((n, "p", f'{{"gate":"{n}"}}') for n in "abc")), text("done")),
        tool("p", waiting(gates), parallel=True),
    )
    async with made:
        made.followup("go")
        with anyio.fail_after(60):
            while order(made) != ["+a", "+b", "+c"]:
                await anyio.sleep(0)
            for name in "cba":
                gates[name].set()
                await anyio.lowlevel.checkpoint()
            await made.idle()
    assert order(made) == ["+a", "+b", "+c", "-a", "-b", "-c"]


async def test_an_exclusive_call_waits_for_the_pool_and_runs_alone() -> None:
    running: set[str] = set()
    together: list[frozenset[str]] = []

    async def execute(arguments: Any, _execution: Any) -> str:
        running.add(arguments["n"])
        together.append(frozenset(running))
        for _ in range(4):
            await anyio.lowlevel.checkpoint()
        running.remove(arguments["n"])
        return "ok"

    named = [(n, "p" if n in "abe" else "x", f'{{"n":"{n}"}}') for n in "abcde"]
    made = agent(
        Scripted(calls(*named), text("done")),
        tool("p", execute, parallel=True),
        tool("x", execute),
    )
    async with made:
        await made.send("go")
    assert order(made) == ["+a", "+b", "-a", "-b", "+c", "-c", "+d", "-d", "+e", "-e"]
    assert max(map(len, together)) == 2
    assert {frozenset("c"), frozenset("d"), frozenset("e")} <= set(together)


async def test_no_more_parallel_calls_run_than_allowed() -> None:
    running = 0
    most = 0

    async def execute(_arguments: Any, _execution: Any) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(30):
            await anyio.lowlevel.checkpoint()
        running -= 1
        return "ok"

    named = [(f"c{n}", "p", "{}") for n in range(25)]
    made = agent(Scripted(calls(*named), text("done")), tool("p", execute, parallel=True))
    async with made:
        await made.send("go")
    assert most == 10
    assert [id_ for id_, *_ in results(made)] == [f"c{n}" for n in range(25)]


async def test_outcomes() -> None:
    def plain(*_: Any) -> Any:
        raise ValueError("no luck")

    def coded(*_: Any) -> Any:
        raise ToolError("E_CODE", "told", name="MyError")

    named = [
        ("c1", "fine", ""),
        ("c2", "unknown", "{}"),
        ("c3", "plain", "{}"),
        ("c4", "coded", "{}"),
        ("c5", "fine", '{"n":1e999}'),
        ("c6", "echo", "{broken"),
    ]
    made = agent(
        Scripted(calls(*named), text("done")),
        tool("fine", lambda arguments, _: arguments),
        tool("plain", plain),
        tool("coded", coded),
        tool("echo", lambda arguments, _: f"got {arguments}"),
    )
    async with made:
        await made.send("go")
    lossless = "Error: tool execution arguments must be losslessly JSON-serializable"
    assert results(made) == [
        ("c1", False, "{}", None),
        (
            "c2",
            True,
            'Error: unknown tool "unknown"',
            {"name": "ToolNotFoundError", "code": "UNKNOWN_TOOL"},
        ),
        ("c3", True, "Error: no luck", None),
        ("c4", True, "Error: told", {"name": "MyError", "code": "E_CODE"}),
        ("c5", True, lossless, None),
        ("c6", False, "got {broken", None),
    ]
    texts = [e.data["arguments"] for e in made.session.events if e.type == "tool/call"]
    assert texts == [arguments for _, _, arguments in named]
    cited = [e.source_event_seqs for e in made.session.events if e.type == "tool/result"]
    starts = [[e.seq] for e in made.session.events if e.type == "tool/call"]
    assert cited == starts


async def test_a_cancelled_step_awaits_what_runs_and_answers_the_rest() -> None:
    started = anyio.Event()

    async def stubborn(_arguments: Any, execution: Any) -> str:
        started.set()
        with anyio.CancelScope(shield=True):
            await execution.signal.wait()
            await anyio.lowlevel.checkpoint()
        return "finished all the same"

    made = agent(
        Scripted(calls(("c1", "x", "{}"), ("c2", "x", "{}"), ("c3", "x", "{}"))),
        tool("x", stubborn),
    )
    async with made:
        made.followup("go")
        await started.wait()
        made.cancel()
        await made.idle()
    aborted = {"name": "AbortError", "code": "ABORTED"}
    not_begun = {"name": "AbortError", "code": "ABORTED_BEFORE_DISPATCH"}
    before = "Error: tool call aborted before dispatch"
    assert results(made) == [
        ("c1", True, "Error: tool call aborted", aborted),
        ("c2", True, before, not_begun),
        ("c3", True, before, not_begun),
    ]
    assert order(made) == ["+c1", "-c1", "+c2", "-c2", "+c3", "-c3"]
    assert types(made.session)[-2:] == ["step/end", "turn/end"]
    assert ends(made.session) == [{"kind": "aborted", "reason": {"kind": "user"}}]


async def test_a_result_may_conclude_the_turn_and_add_context() -> None:
    def conclude(_arguments: Any, execution: Any) -> str:
        execution.defer_context(made.session.make.user_message("by the way"))
        execution.conclude_turn()
        return "enough"

    ran: list[str] = []
    made = agent(
        Scripted(calls(("c1", "end", "{}"), ("c2", "more", "{}")), text("last")),
        tool("end", conclude),
        tool("more", lambda *_: ran.extend(["more"])),
    )
    async with made:
        await made.send("go")
    # The other calls of the step still run, and what was added has a step of its own.
    assert ran == ["more"]
    assert [e.data["step"] for e in made.session.events if e.type == "step/start"] == [1, 2]
    kinds = types(made.session)
    first = kinds.index("tool/result")
    assert kinds[first + 1] == "agent/inbox/spliced"
    assert ends(made.session) == [{"kind": "completed"}]


async def test_a_concluding_result_alone_ends_the_turn() -> None:
    def conclude(_arguments: Any, execution: Any) -> str:
        execution.conclude_turn()
        return "enough"

    made = agent(Scripted(calls(("c1", "end", "{}"))), tool("end", conclude))
    async with made:
        await made.send("go")
    assert types(made.session)[-3:] == ["tool/result", "step/end", "turn/end"]


async def test_what_a_hook_of_the_tools_sees_and_changes() -> None:
    made = agent(Scripted(calls(("c1", "t", "{}")), text("done")), tool("t", lambda *_: "ran"))

    async def deny(_execution: Any, _further: Any) -> Any:
        return {"kind": "deny", "reason": "not today"}

    made.parts.tools.on("tools/pre-execute", deny)
    async with made:
        await made.send("go")
    assert results(made) == [("c1", True, "Error: not today", None)]


async def test_a_store_that_fails_keeps_the_tool_from_running() -> None:
    """A failure that is none of the tool's: the step answers the call as a repair would."""
    ran: list[str] = []

    class Failing:
        armed = False

        async def flush(self) -> None:
            if self.armed and made.session.pending_calls:
                raise OSError("disk full")

    journal = Failing()
    made = agent(
        Scripted(calls(("c1", "t", "{}"))), tool("t", lambda *_: ran.extend("t")), journal=journal
    )
    journal.armed = True
    async with made:
        outcome = await made.send("go")
    assert ran == []
    assert outcome.reason is not None
    assert outcome.reason["error"]["message"] == "disk full"
    ((call, is_error, shown, error),) = results(made)
    assert (call, is_error) == ("c1", True)
    assert shown.startswith("The tool call was interrupted after it was recorded")
    assert error == {"name": "ToolOutcomeUnknownError", "code": "TOOL_OUTCOME_UNKNOWN"}
