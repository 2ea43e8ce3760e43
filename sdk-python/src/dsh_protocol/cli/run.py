"""`dsh-protocol run`: ask a model, let it work with tools, and store the session."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dsh_protocol.findings import UsageError

from . import _output as output

if TYPE_CHECKING:
    from dsh_protocol.llm import Model
    from dsh_protocol.loop import AgentParts, Frame
    from dsh_protocol.rows import Event
    from dsh_protocol.session import Session
    from dsh_protocol.store import Writer
    from dsh_protocol.tools import ToolDefinition

_KEY = "DEEPSEEK_API_KEY"
_MODEL = "deepseek-v4-flash"
_SCRIPTED = "scripted"


class Wire(StrEnum):
    """How an endpoint is spoken to; the format of the session follows from it."""

    messages = "deepseek-messages"
    chat = "deepseek-chat"

    @property
    def version(self) -> int:
        """The session format whose messages the wire carries."""
        return 4 if self is Wire.messages else 3


def run(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What to ask.")],
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model to ask.")] = None,
    wire: Annotated[
        Wire | None,
        typer.Option(help="How to speak to the endpoint; decides the format of a new session."),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(metavar="ID", help="The session to go on with, or the id of a new one."),
    ] = None,
    system: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with the system prompt.", dir_okay=False),
    ] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE:ATTR", help="A tool, or a list of tools. May be given again."),
    ] = None,
    root: Annotated[Path, typer.Option(metavar="DIR", help="Where sessions are stored.")] = Path(
        "sessions"
    ),
) -> None:
    """Send a prompt, stream what comes of it, and store the session.

    DEEPSEEK_API_KEY is the key of the endpoint, DEEPSEEK_BASE_URL its address. Without a key a scripted model answers.
    """
    import anyio

    text = _system_text(system)
    loaded = [tool for name in tools or () for tool in _tools(name)]
    opened = _opened(root, session, wire)
    with opened.writer:
        endpoint, name = _model(opened.session.header.version, model)
        parts = _parts(opened, endpoint, text, loaded)
        ended = anyio.run(_converse, opened, parts, name, prompt)
    output.note(f"session {opened.session.header.id} is stored in {opened.writer.path}")
    if ended != "completed":
        raise typer.Exit(output.ERRORS)


# ---- What is given ---------------------------------------------------------------------------------


def _system_text(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise UsageError(
            "run/system",
            f"the system prompt in {path} cannot be read: {reason}",
            fix="Name a text file.",
        ) from None


def _tools(name: str) -> list[ToolDefinition]:
    """The tools that a name stands for; modules in the current directory are found, too."""
    from dsh_protocol.tools import ToolDefinition

    module, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise _no_tools(name, str(error)) from None
    several = list(found) if isinstance(found, (list, tuple)) else [found]
    if not several or not all(isinstance(each, ToolDefinition) for each in several):
        raise _no_tools(name, "it is no tool, and no list of tools")
    return several


def _no_tools(name: str, why: str) -> UsageError:
    return UsageError(
        "run/tools",
        f"there are no tools at {name}: {why}",
        fix="Name module:attribute, where the attribute is what dsh_protocol.tools.tool gives.",
    )


@dataclass(frozen=True)
class _Opened:
    session: Session
    writer: Writer


def _opened(root: Path, session_id: str | None, wire: Wire | None) -> _Opened:
    from dsh_protocol.session import Session
    from dsh_protocol.store import Store, StoreError

    store = Store(root)
    if session_id is not None:
        try:
            writer = store.open_writer(session_id)
        except StoreError as error:
            if error.code != "store/not-found":
                raise
        else:
            return _resumed(writer, wire)
    version = (wire or Wire.messages).version
    session = Session.create(version, id=session_id, cwd=os.getcwd())
    return _Opened(session, store.create(session.header))


def _resumed(writer: Writer, wire: Wire | None) -> _Opened:
    from dsh_protocol.session import Session

    session = Session.resume(writer.read())
    version = session.header.version
    if wire is not None and wire.version != version:
        writer.close()
        raise UsageError(
            "run/wire",
            f"a session of format {version} cannot go on over {wire.value}",
            fix="Leave --wire out, or begin a new session.",
        )
    return _Opened(session, writer)


def _model(version: int, name: str | None) -> tuple[Model, str]:
    from dsh_protocol.llm import ScriptedModel, deepseek

    if os.environ.get(_KEY):
        wire = next(wire for wire in Wire if wire.version == version)
        return deepseek(wire.value), name or _MODEL
    output.note(f"no endpoint is configured ({_KEY} is not set): a scripted model answers")
    return ScriptedModel(), name or _SCRIPTED


# ---- What comes of it ------------------------------------------------------------------------------


async def _converse(opened: _Opened, parts: AgentParts, name: str, prompt: str) -> str:
    """Send the prompt, and show what comes of it; the kind of the reason for which the turn ended."""
    from dsh_protocol.loop import Agent, AgentOptions, FallbackTitle, Retries
    from dsh_protocol.projections import CallOptions

    options = AgentOptions(call=CallOptions(provider=_provider(parts.model), model=name))
    agent = Agent(opened.session, parts, options)
    agent.hooks.request_error.use(Retries(agent))
    agent.hooks.stream(FallbackTitle(agent))
    ended = "none"
    async with agent:
        async for frame in agent.stream(prompt):
            ended = _show(frame) or ended
    return ended


def _parts(opened: _Opened, model: Model, system: str, tools: list[ToolDefinition]) -> AgentParts:
    from dsh_protocol.loop import AgentParts, StoreJournal
    from dsh_protocol.prompt import PromptConfig, PromptService
    from dsh_protocol.tools import ToolRegistry

    prompt = PromptService(
        config=PromptConfig(include_harness_identity=False, persona_prefix=system)
    )
    registry = ToolRegistry(prompt.events)
    for tool in tools:
        registry.register(tool)
    prompt.tools(registry.provider)
    journal = StoreJournal(opened.session, opened.writer)
    return AgentParts(model=model, prompt=prompt, tools=registry, journal=journal)


def _provider(model: Model) -> str:
    from dsh_protocol.llm import ScriptedModel

    return _SCRIPTED if isinstance(model, ScriptedModel) else "deepseek-official"


def _show(frame: Frame) -> str | None:
    """Show a frame: text as it comes, calls and failures a line each. Gives the kind of a turn's end."""
    from dsh_protocol.loop import Committed, StreamChunk, StreamEnd

    if isinstance(frame, StreamChunk):
        _write(frame.text)
    elif isinstance(frame, StreamEnd) and frame.event_type == "assistant/message":
        _write("\n")
    elif isinstance(frame, Committed):
        return _show_event(frame.event)
    return None


def _show_event(event: Event) -> str | None:
    data = event.data
    if event.type == "tool/call":
        output.note(f"call {data['name']} {data['arguments']}")
    elif event.type == "llm/retry":
        failure = data["failure"]
        output.note(
            f"{failure['code']}: {failure['message']}; again in {round(data['delayMs'])} ms"
        )
    elif event.type == "turn/end":
        reason = data["reason"]
        if reason["kind"] == "error":
            output.note(f"error {reason['error']['code']}: {reason['error']['message']}")
        elif reason["kind"] != "completed":
            output.note(f"the turn ended: {reason['kind']}")
        return str(reason["kind"])
    return None


def _write(text: str) -> None:
    """Text of the model, its lines as they are and the rest escaped."""
    sys.stdout.write("\n".join(output.printable(line) for line in text.split("\n")))
    sys.stdout.flush()
