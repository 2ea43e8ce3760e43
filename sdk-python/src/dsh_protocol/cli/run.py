"""`dsh-protocol run`: ask a model, let it work with tools, and store the session."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dsh_protocol.findings import ProtocolError, UsageError

from . import _output as output

if TYPE_CHECKING:
    from anyio.abc import TaskStatus

    from dsh_protocol.llm import Model
    from dsh_protocol.loop import Agent, AgentParts, Frame
    from dsh_protocol.projections import CallOptions
    from dsh_protocol.rows import Event
    from dsh_protocol.session import Session
    from dsh_protocol.store import Store, Writer
    from dsh_protocol.tools import ToolDefinition

_KEY = "DEEPSEEK_API_KEY"
_MODEL = "deepseek-v4-flash"
_SCRIPTED = "scripted"
_PROVIDER = "deepseek-official"
_SHOWN = re.compile(r"[^\n\t]+")


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
        typer.Option(
            metavar="FILE",
            help="A file with the system prompt. Without it a session keeps the one it has.",
            dir_okay=False,
        ),
    ] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE:ATTR", help="A tool, or a list of tools. May be given again."),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--root", metavar="DIR", help="Where sessions are stored.")
    ] = Path("sessions"),
) -> None:
    """Send a prompt, stream what comes of it, and store the session.

    DEEPSEEK_API_KEY is the key of the endpoint, DEEPSEEK_BASE_URL its address. Without a key a scripted model answers.
    Ctrl-C ends the turn, and keeps what there is of the answer.
    """
    import anyio

    text = _system_text(system)
    loaded = [tool for name in tools or () for tool in _tools(name)]
    opened = _opened(folder, session, wire)
    with opened.writer:
        endpoint = _model(opened.session.header.version)
        parts = _parts(opened, endpoint, text, loaded)
        call = _call(endpoint, model, opened.session)
        # Where nothing can be stored, nothing is asked.
        opened.writer.flush()
        ended = anyio.run(_converse, opened.session, parts, call, prompt)
    output.note(f"session {opened.session.header.id} is stored in {opened.writer.path}")
    if ended != "completed":
        raise typer.Exit(output.ERRORS)


# ---- What is given ---------------------------------------------------------------------------------


def _system_text(path: Path | None) -> str | None:
    if path is None:
        return None
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
    except Exception as error:
        # The module may do anything while it is loaded.
        raise _no_tools(name, f"{type(error).__name__}: {error}") from None
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
    """The session to work on, in a store of the compression that its logs have."""
    from dsh_protocol.store import Store, StoreError

    try:
        return _opened_in(Store(root), session_id, wire)
    except StoreError as error:
        if error.code != "store/encoding-mismatch":
            raise
    return _opened_in(Store(root, "none"), session_id, wire)


def _opened_in(store: Store, session_id: str | None, wire: Wire | None) -> _Opened:
    from dsh_protocol.session import Session
    from dsh_protocol.store import StoreError

    if session_id is not None:
        try:
            return _resumed(store.open_writer(session_id), wire)
        except StoreError as error:
            if error.code != "store/not-found":
                raise
    version = (wire or Wire.messages).version
    session = Session.create(version, id=session_id, cwd=os.getcwd())
    return _Opened(session, store.create(session.header))


def _resumed(writer: Writer, wire: Wire | None) -> _Opened:
    from dsh_protocol.session import Session

    try:
        session = Session.resume(writer.read())
        _require_wire(session.header.version, wire)
    except ProtocolError:
        writer.close()
        raise
    return _Opened(session, writer)


def _require_wire(version: int, wire: Wire | None) -> None:
    if wire is not None and wire.version != version:
        raise UsageError(
            "run/wire",
            f"a session of format {version} cannot go on over {wire.value}",
            fix="Leave --wire out, or begin a new session.",
        )


def _model(version: int) -> Model:
    from dsh_protocol.llm import ScriptedModel, deepseek

    if os.environ.get(_KEY):
        return deepseek(next(wire.value for wire in Wire if wire.version == version))
    output.note(f"no endpoint is configured ({_KEY} is not set): a scripted model answers")
    return ScriptedModel()


def _call(model: Model, name: str | None, session: Session) -> CallOptions:
    """What is asked for: the named model, or the one that the session had of this provider."""
    from dsh_protocol.llm import ScriptedModel
    from dsh_protocol.projections import CallOptions

    is_scripted = isinstance(model, ScriptedModel)
    provider, usual = (_SCRIPTED, _SCRIPTED) if is_scripted else (_PROVIDER, _MODEL)
    header = session.request_header
    last = header["config"] if header is not None else {}
    if last.get("provider") == provider:
        usual = last["model"]
    return CallOptions(provider=provider, model=name or usual)


def _prompt_in_force(session: Session) -> str:
    """The system prompt that a session has; empty when there is none."""
    prompts = session.surface.prompts
    speaking = prompts.speaking()
    return (prompts.text(speaking[-1]) or "") if speaking else ""


# ---- What comes of it ------------------------------------------------------------------------------


async def _converse(session: Session, parts: AgentParts, call: CallOptions, prompt: str) -> str:
    """Send the prompt, and show what comes of it; the kind of the reason for which the turn ended."""
    import anyio

    from dsh_protocol.loop import Agent, AgentOptions, FallbackTitle, Retries

    agent = Agent(session, parts, AgentOptions(call=call))
    agent.hooks.request_error.use(Retries(agent))
    agent.hooks.stream(FallbackTitle(agent))
    screen = _Screen()
    async with agent, anyio.create_task_group() as group:
        await group.start(_cancel_on_interrupt, agent)
        async for frame in agent.stream(prompt):
            screen.show(frame)
        group.cancel_scope.cancel()
    return screen.ended


async def _cancel_on_interrupt(agent: Agent, *, task_status: TaskStatus[None]) -> None:
    """Have the first Ctrl-C end the turn. A second one ends the process, should a tool not stop."""
    import anyio

    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        task_status.started()
        await anext(signals)
        agent.cancel()
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _parts(
    opened: _Opened, model: Model, system: str | None, tools: list[ToolDefinition]
) -> AgentParts:
    from dsh_protocol.loop import AgentParts, StoreJournal
    from dsh_protocol.prompt import PromptConfig, PromptService, section_order
    from dsh_protocol.tools import ToolRegistry

    prompt = PromptService(config=PromptConfig(include_harness_identity=False))
    text = _prompt_in_force(opened.session) if system is None else system
    # What looks like a variable in somebody's file is none.
    order = section_order("DEPLOYMENT_PERSONA_PREFIX")
    prompt.section("run:system", order=order, text=text, interpolate=False)
    registry = ToolRegistry(prompt.events)
    for tool in tools:
        registry.register(tool)
    prompt.tools(registry.provider)
    journal = StoreJournal(opened.session, opened.writer)
    return AgentParts(model=model, prompt=prompt, tools=registry, journal=journal)


class _Screen:
    """Shows frames: text as it comes, calls and failures a line each. `ended` is the kind of the turn's end."""

    def __init__(self) -> None:
        self.ended = "none"
        self._is_in_line = False

    def show(self, frame: Frame) -> None:
        """Show one frame."""
        from dsh_protocol.loop import Committed, StreamChunk, StreamEnd

        if isinstance(frame, StreamChunk):
            self._write(frame.text)
        elif isinstance(frame, StreamEnd) and self._is_in_line:
            self._write("\n")
        elif isinstance(frame, Committed):
            self._show_event(frame.event)

    def _show_event(self, event: Event) -> None:
        data = event.data
        if event.type == "tool/call":
            output.note(f"call {data['name']} {data['arguments']}")
        elif event.type == "llm/retry":
            failure, wait = data["failure"], round(data["delayMs"])
            output.note(f"{failure['code']}: {failure['message']}; again in {wait} ms")
        elif event.type == "turn/end":
            self.ended = str(data["reason"]["kind"])
            _show_end(data["reason"])

    def _write(self, text: str) -> None:
        """Text of the model: its lines and tabs as they are, and what else a terminal could act on escaped."""
        if text:
            sys.stdout.write(_SHOWN.sub(lambda found: output.printable(found[0]), text))
            sys.stdout.flush()
            self._is_in_line = not text.endswith("\n")


def _show_end(reason: dict[str, Any]) -> None:
    if reason["kind"] == "error":
        output.note(f"error {reason['error']['code']}: {reason['error']['message']}")
    elif reason["kind"] != "completed":
        output.note(f"the turn ended: {reason['kind']}")
