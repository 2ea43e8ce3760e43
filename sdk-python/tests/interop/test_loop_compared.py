"""The same scripts for the official loop and for ours: the same events, and the same requests."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from boxes import require_sound
from compared_loops import PROMPT, Compared, Script
from loop_scripts import ScriptWriter
from official_runtime import OfficialRuntime, executable
from recorded import ROOT, without_extensions
from scripted_model import Asked, Reply, ScriptedModel, refusal, says

from _replay.normal import normalized
from _replay.scenario import Exchange
from dsh_protocol.conformance.adapter._loop import replay
from dsh_protocol.conformance.process import Adapter
from dsh_protocol.rows import Log, open_log

pytestmark = pytest.mark.official

PATCH = Path(__file__).parents[1] / "data" / "official" / "loop.yml"
ADAPTER = ROOT / "conformance" / "adapters" / "official-runtime" / "run"
RELEASES = {4: "0.2.1rc2", 3: "0.1.5rc1"}
SCRIPTS = {4: range(1000, 1100), 3: range(2000, 2040)}


def failing(kind: str, status: int) -> Reply:
    """An error of the endpoint that a runtime tries again."""
    error = {"type": "error", "error": {"type": kind, "message": "later"}}
    return Reply(json.dumps(error).encode(), status, "application/json")


BUSY = failing("api_error", 500)
SLOW = failing("rate_limit_error", 429)


def ended(reason: str, reply: Reply) -> Reply:
    """An answer with another stop reason."""
    body = reply.body.replace(b'"end_turn"', b'"%s"' % reason.encode())
    return Reply(body.replace(b'"tool_use", "stop_s', b'"%s", "stop_s' % reason.encode()))


ALL_TOOLS: list[tuple[str, str, dict[str, Any]]] = [
    ("c1", "echo", {"text": "x"}),
    ("c2", "fail", {}),
    ("c3", "nobody", {}),
    ("c4", "echo", {"text": 1}),
    ("c5", "look", {}),
    ("c6", "look", {}),
    ("c7", "note", {}),
    ("c8", "look", {}),
]
TALK: dict[str, Script] = {
    "tools": Script(["Go."], [says("Now.", calls=ALL_TOOLS), says("Done.")]),
    "concluded": Script(
        ["Go.", "And?"],
        [says(calls=[("c1", "conclude", {}), ("c2", "echo", {"text": "x"})]), says("Yes.")],
    ),
    "steered-in-a-tool": Script(
        ["Go."], [says(calls=[("c1", "more", {}), ("c2", "note", {})]), says("Done.")]
    ),
    "canceled-in-a-tool": Script(
        ["Go.", "And?"],
        [
            says("Now.", calls=[("c1", "stop", {}), ("c2", "echo", {"text": "x"})]),
            says("Yes."),
        ],
    ),
    "canceled-while-streaming": Script(["Go.", "And?"], [says("Well STOP"), says("Yes.")]),
    "max-tokens": Script(["Go.", "And?"], [ended("max_tokens", says("Long")), says("Yes.")]),
    "max-tokens-with-calls": Script(
        ["Go.", "And?"],
        [ended("max_tokens", says("Long", calls=ALL_TOOLS[:1])), says("Yes.")],
    ),
    "empty-answers": Script(["Go.", "And?"], [says(), says(), says("Yes."), says("Yes.")]),
    "retried": Script(["Go."], [BUSY, SLOW, says("Yes.")]),
    "retried-in-vain": Script(["Go.", "And?"], [BUSY, BUSY, BUSY, says("Yes.")]),
    "retried-in-each-step": Script(
        ["Go."], [BUSY, BUSY, says(calls=ALL_TOOLS[:1]), BUSY, BUSY, says("Done.")]
    ),
    "refused": Script(["Go.", "And?"], [refusal("no"), says("Yes.")]),
    "queued": Script(["Go."], [says("1"), says("2"), says("3")], queued=["Two.", "Three."]),
    "queued-behind-a-refusal": Script(
        ["Go.", "And?"], [refusal("no"), says("2"), says("3")], queued=["Two."]
    ),
    "queued-behind-a-retry": Script(["Go."], [BUSY, says("1"), says("2")], queued=["Two."]),
    "queued-with-tools": Script(
        ["Go."], [says(calls=ALL_TOOLS[:1]), says("1"), says("2")], queued=["Two."]
    ),
    "rejected": Script(["Please reject.", "And?"], [says("Yes.")]),
    "series": Script(["Go.", "A series.", "And?"], [says("1"), says("2"), says("3")]),
    "warm": Script(["Go.", "Be warm.", "And?"], [says("1"), says("2"), says("3")]),
    "again": Script(["Go again.", "And?"], [says("1"), says("2"), says("3")]),
    "verbose": Script(["Go.", "Be verbose.", "And?"], [says("1"), says("2"), says("3")]),
    "verbose-in-the-history": Script(
        ["Go.", "Be verbose.", "A series."],
        [says("1"), says("2"), says("3")],
        model="deepseek-flash",
    ),
}


@dataclass
class Talk:
    """What became of a script: the log, and what was asked."""

    log: Log
    asked: list[Asked]


class Gate:
    """Holds the first answer of each script back until all that is to be queued is in the inbox."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.queued = threading.Event()

    def on_asked(self, _asked: Asked) -> None:
        """Wait; a gate that is open stays so."""
        self.asked.set()
        assert self.queued.wait(60)

    def close(self) -> None:
        """Hold the next answer back."""
        self.asked.clear()
        self.queued.clear()


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Talk]:
    """All scripts, gone through by the official runtime, each in a session of its own."""
    executable()
    folder, gate = tmp_path_factory.mktemp("talks"), Gate()
    with (
        ScriptedModel(on_asked=gate.on_asked) as model,
        OfficialRuntime(
            folder, model.url, patches=(PATCH,), variables={"DSH_SYSTEM_PROMPT": PROMPT}
        ) as runtime,
    ):
        for name, script in TALK.items():
            runtime.initialize(script.model)
            model.script.extend(script.replies)
            gate.close()
            talk(runtime, name, script, gate)
            assert not model.script, f"{name}: the model was not asked for all answers"
        runtime.shutdown()
    assert not model.errors
    made = {}
    for name in TALK:
        (path,) = folder.glob(f"home/sessions/*/{name}/session.v4.jsonl*")
        require_sound(path)
        made[name] = Talk(open_log(path), [each for each in model.asked if each.session == name])
    return made


def talk(runtime: OfficialRuntime, name: str, script: Script, gate: Gate) -> None:
    """Send the prompts of a script, one after the other."""
    for prompt in script.prompts:
        send(runtime, name, prompt)
        if not gate.queued.is_set():
            assert not script.queued or gate.asked.wait(60)
            for each in script.queued:
                send(runtime, name, each)
            gate.queued.set()
        runtime.request("session/wait", {"sessionId": name})


def send(runtime: OfficialRuntime, session: str, text: str) -> None:
    blocks = [{"type": "text", "text": text}]
    runtime.request("session/prompt", {"sessionId": session, "contentBlocks": blocks})


@pytest.mark.parametrize("name", TALK)
def test_both_talk_in_the_same_way(talks: dict[str, Talk], name: str) -> None:
    script, theirs = TALK[name], talks[name]
    exchanges = [
        Exchange(without_extensions(request.body), reply.status, reply.body)
        for request, reply in zip(theirs.asked, script.replies, strict=True)
    ]
    ours = Compared(script, exchanges, theirs.log.header.cwd or "")
    anyio.run(ours.run)
    assert normalized(ours.session.events) == normalized(theirs.log.events)
    assert ours.transport.difference is None
    assert ours.transport.sent == len(exchanges)


@pytest.mark.parametrize("version", RELEASES)
def test_random_scripts_come_out_alike(version: int) -> None:
    """Acts, hooks, tools, retries and restarts in any order, in the runtime's own library."""
    executable(RELEASES[version])
    adapter = Adapter([str(ADAPTER), RELEASES[version]])
    differences = []
    try:
        adapter.ask({"cmd": "start", "protocol": 1}, limit=60)
        for seed in SCRIPTS[version]:
            given = ScriptWriter(seed).script()
            question = {"op": "loop.replay", "format": version, "input": given}
            message = {"cmd": "case", "number": seed, "id": f"loop/random/{seed}", **question}
            if adapter.ask(message, limit=60).get("ok") != replay(given, version)["ok"]:
                differences.append(seed)
    finally:
        adapter.kill()
    assert not differences
