"""The demonstration: rebuild every request of the shipped recordings from the log alone, and prove it byte for byte.

`dsh-protocol requests PATH --index K` prints the same bytes. At the end an agent writes a session of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from dsh_protocol.llm import ScriptedModel
from dsh_protocol.loop import Agent, AgentOptions, AgentParts, StoreJournal, StreamChunk
from dsh_protocol.projections import CallOptions
from dsh_protocol.prompt import PromptConfig, PromptService
from dsh_protocol.rebuild import request_body
from dsh_protocol.requests import iter_requests
from dsh_protocol.rows import open_log
from dsh_protocol.session import Session
from dsh_protocol.store import Store
from dsh_protocol.wire import DirectoryAttachments

RECORDINGS = Path("conformance/recordings")
SHOWN = RECORDINGS / "v4/in-history"
EXTENSIONS = ("dsh_session_log", "dsh_plugin_packages")


@dataclass(frozen=True)
class Scenario:
    """One recorded run: its folder, the log of its one session, the bodies that the runtime sent for it."""

    folder: Path
    log: Path
    bodies: list[str]


def main() -> int:
    """Run the demonstration; the exit code is 1 when any request differs."""
    _show("What is in a log: check it", "check", str(SHOWN))
    _show("What the model was asked, request by request", "requests", str(SHOWN))
    _title("Each request rebuilt from the log alone, compared with the bytes that were sent")
    rebuilt = equal = 0
    for scenario in _scenarios():
        bodies = _rebuilt(scenario)
        same = sum(ours == sent for ours, sent in zip(bodies, scenario.bodies, strict=True))
        rebuilt += len(bodies)
        equal += same
        print(f"  {scenario.folder!s:55} {same:3} of {len(bodies)} equal", flush=True)
    print(f"\n{rebuilt} requests rebuilt from their logs, {equal} equal byte for byte.")
    _title(
        "A session of our own: two prompts to a scripted model, and another system prompt in between"
    )
    with TemporaryDirectory() as folder:
        wrote = anyio.run(_write_session, Path(folder))
    return 0 if rebuilt and rebuilt == equal and wrote else 1


async def _write_session(root: Path) -> bool:
    """Run an agent, check the log that it stores, and rebuild what it asked; whether all of that is right."""
    session = Session.create(id="demo")
    model = ScriptedModel()
    prompt = PromptService(config=PromptConfig(include_harness_identity=False))
    undo = prompt.section("style", order=100, text="Answer in one word.")
    with Store(root, "none").create(session.header) as writer:
        parts = AgentParts(model=model, prompt=prompt, journal=StoreJournal(session, writer))
        options = AgentOptions(call=CallOptions(provider="scripted", model="scripted"))
        async with Agent(session, parts, options) as agent:
            await _say(agent, "What is a log?")
            undo()
            prompt.section("style", order=100, text="Answer at length.")
            await _say(agent, "And a surface?")
        _show("Check it", "check", str(writer.path))
        _show(
            "The surface: the system prompt was replaced where it stands",
            "surface",
            str(writer.path),
        )
        rebuilt = [request.options() for request in iter_requests(open_log(writer.path))]
    equal = sum(ours == asked for ours, asked in zip(rebuilt, model.requests, strict=True))
    print(
        f"\n{len(rebuilt)} requests rebuilt from its log, {equal} equal to what the model was asked."
    )
    return len(rebuilt) == equal == 2


async def _say(agent: Agent, text: str) -> None:
    print(f"> {text}\n  ", end="")
    async for frame in agent.stream(text):
        if isinstance(frame, StreamChunk):
            print(frame.text, end="", flush=True)
    print()


def _scenarios() -> list[Scenario]:
    """Every shipped recording with one session."""
    found = []
    for wire in sorted(RECORDINGS.glob("v*/*/wire.jsonl")):
        rows = [json.loads(line) for line in wire.read_bytes().split(b"\n") if line]
        bodies = [_without_extensions(row["body"]) for row in rows if row["purpose"] == "loop"]
        (log,) = wire.parent.glob("sessions/*/*/session*.jsonl*")
        found.append(Scenario(wire.parent, log, bodies))
    return found


def _rebuilt(scenario: Scenario) -> list[str]:
    """The bodies of all own requests of a log, from the log alone (and its attachment store)."""
    store, declared = scenario.folder / "attachments", scenario.folder / "route.json"
    attachments = DirectoryAttachments(store) if store.is_dir() else None
    route = json.loads(declared.read_bytes()) if declared.is_file() else None
    log = open_log(scenario.log)
    own = (request for request in iter_requests(log) if request.index is not None)
    return [request_body(log, request, route=route, attachments=attachments) for request in own]


def _without_extensions(body: str) -> str:
    """The recorded text without the members that are no model input, cut out of the text as it stands."""
    decoder = json.JSONDecoder()
    kept: list[str] = []
    at = 1
    while body[at] != "}":
        start = at
        key, at = decoder.raw_decode(body, at)
        _, at = decoder.raw_decode(body, at + 1)
        if key not in EXTENSIONS:
            kept.append(body[start:at])
        at += body[at] == ","
    return "{" + ",".join(kept) + "}"


def _show(title: str, *arguments: str) -> None:
    _title(title)
    print(f"$ dsh-protocol {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "dsh_protocol", *arguments], check=True)


def _title(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
