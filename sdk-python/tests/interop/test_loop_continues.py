"""One log, continued by the official runtime and by our loop: the same requests, and the same events come of it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from boxes import NEXT, Box, require_sound
from official_runtime import PROVIDER, executable
from recorded import without_extensions
from scripted_model import says
from written_logs import ECHO, PROMPT, SHAPES, TWO, Author, Shape, plain

from _replay.drive import RecordedTransport
from _replay.normal import normalized
from _replay.scenario import Exchange
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.llm import Endpoint
from dsh_protocol.loop import Agent, AgentOptions, AgentParts, Retries, StoreJournal
from dsh_protocol.projections import CallOptions
from dsh_protocol.prompt import PromptConfig, PromptService, context_order
from dsh_protocol.rows import open_log
from dsh_protocol.session import Session
from dsh_protocol.store import Store
from dsh_protocol.tools import ToolDefinition, ToolOutput, ToolRegistry
from dsh_protocol.wire import DirectoryAttachments

pytestmark = pytest.mark.official


@pytest.fixture
def box(tmp_path: Path) -> Box:
    executable()
    return Box(tmp_path)


def contributed(shape: Shape, workspace: Path) -> tuple[PromptService, ToolRegistry]:
    """What the minimal profile of the official runtime contributes, and its plugin of ours."""
    prompt = PromptService(
        config=PromptConfig(
            include_harness_identity=False,
            include_runtime_context=False,
            persona_prefix=shape.prompt,
        )
    )
    prompt.context(
        "working-directory:current",
        order=context_order("WORKING_DIRECTORY") or 0,
        text=f"Current working directory: {dumps(str(workspace))}.",
        required=True,
        interpolate=False,
    )
    tools = ToolRegistry(prompt.events)
    tools.register(
        ToolDefinition(
            name=ECHO["name"],
            description=ECHO["description"],
            parameters=ECHO["parameters"],
            output=ToolOutput(
                {"type": "string"}, lambda _, value: [{"type": "text", "text": value}]
            ),
            execute=lambda arguments, _: str(arguments["text"]),
        )
    )
    prompt.tools(tools.provider)
    return prompt, tools


def ours(
    box: Box, shape: Shape, sessions: Path, exchanges: Sequence[Exchange]
) -> RecordedTransport:
    """Let our loop go on with a stored log, and compare what it asks with what the official runtime did."""
    transport = RecordedTransport(tuple(exchanges))

    async def go_on() -> None:
        with Store(sessions, shape.compression).open_writer("s-1") as writer:
            session = Session.resume(writer.read())
            prompt, tools = contributed(shape, box.folder / "workspace")
            attachments = box.home / "attachments"
            endpoint = Endpoint(
                api_key="unused",
                route={"attachmentRoot": str(attachments)},
                attachments=DirectoryAttachments(attachments),
                transport=transport,
            )
            journal = StoreJournal(session, writer)
            parts = AgentParts(model=endpoint, prompt=prompt, tools=tools, journal=journal)
            options = AgentOptions(call=CallOptions(provider=PROVIDER, model=shape.model))
            agent = Agent(session, parts, options)
            agent.hooks.request_error.use(Retries(agent))
            async with agent:
                agent.followup(NEXT)
                await agent.idle()

    anyio.run(go_on)
    return transport


def both(box: Box, shape: Shape, copy: Path) -> None:
    """Let both go on with the log that is stored in the box."""
    shutil.copytree(box.home / "sessions", copy)
    asked = box.run(shape)
    exchanges = [
        Exchange(without_extensions(request.body), reply.status, reply.body)
        for request, reply in zip(asked, shape.script, strict=True)
    ]
    transport = ours(box, shape, copy, exchanges)
    assert transport.difference is None
    assert transport.sent == len(exchanges)
    (path,) = copy.glob("*/s-1/session.v4.jsonl*")
    official, own = open_log(box.path), open_log(path)
    assert normalized(own.events) == normalized(official.events)
    require_sound(path)


@pytest.mark.parametrize("name", SHAPES)
def test_both_go_on_in_the_same_way(box: Box, name: str) -> None:
    shape = SHAPES[name]
    box.write(shape)
    both(box, shape, box.folder / "copy")


def test_both_go_on_with_what_the_official_runtime_has_written(box: Box) -> None:
    """A log of its own making, through several lives."""
    shape = Shape(plain, script=TWO)
    box.write(shape)
    box.run(shape)
    both(box, shape, box.folder / "copy")
    # And once more, with another prompt.
    changed = Shape(plain, prompt="A new prompt.", script=(says("Once more."),))
    both(box, changed, box.folder / "another copy")


def test_both_go_on_with_what_our_loop_has_written(box: Box) -> None:
    shape = Shape(plain, script=(says("First."),))
    author = Author(box.home, box.folder / "workspace", shape.model)
    with box.store(shape).create(author.session.header) as writer:
        writer.flush()
    exchange = Exchange("", 200, shape.script[0].body)
    transport = ours(box, shape, box.home / "sessions", [exchange])
    assert transport.sent == 1
    assert PROMPT in str(transport.difference)
    both(box, shape, box.folder / "copy")
