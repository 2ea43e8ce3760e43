"""A recorded scenario: what was done, the logs that came of it, and what was sent and answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from dsh_protocol.findings import UnsupportedFormatError
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.projections import CallOptions
from dsh_protocol.prompt import (
    ASSEMBLE,
    AssembleContext,
    PromptAssembly,
    PromptConfig,
    PromptService,
    context_order,
)
from dsh_protocol.rows import Event, Log, open_log
from dsh_protocol.scopes import Owner

Json: TypeAlias = dict[str, Any]

PROVIDER = "deepseek-official"
EXTENSIONS = (',"dsh_session_log":', ',"dsh_plugin_packages":')
"""Members at the end of a body that are no input of the model."""
FILES = ("section.txt", "context.txt", "variable.txt", "tools.json")
"""What steers the contributions of the recorded plugin."""
OWN_TOOL = "shell"


@dataclass
class Script:
    """What was done in a scenario, as far as it steers prompts: the start, and the files at each prompt."""

    start: Json
    files: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Script:
        """The script in a file."""
        first, *rest = json.loads(path.read_bytes())
        script, files = cls(first["start"]), dict.fromkeys(FILES, "")
        for entry in rest:
            if "set" in entry:
                files = {**files, entry["set"]: entry["text"]}
            elif "prompt" in entry:
                script.files.append(files)
        return script

    def at_turn(self, turn: int) -> dict[str, str]:
        """The files during a turn. Turns that other sessions caused come on top, but then no file ever changes."""
        return self.files[min(turn, len(self.files)) - 1]

    def plugin(self, id: str) -> Json:
        """The configuration that the start gives to a plugin."""
        entries = yaml.safe_load(self.start["patch"])
        return next((entry["config"] for entry in entries if entry.get("id") == id), {})


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request of the loop: its exact body without extension members, and what the endpoint answered with."""

    body: str
    status: int
    response: bytes

    @classmethod
    def read(cls, row: Json) -> Exchange:
        """The exchange in a row of wire.jsonl."""
        body = row["body"]
        for mark in EXTENSIONS:
            at = body.find(mark)
            if at >= 0:
                body = body[:at] + "}"
        return cls(body, row["response"]["status"], row["response"]["body"].encode())


@dataclass(frozen=True, eq=False)
class Recording:
    """One log of a scenario (such as `v4/plain`), with the requests of its loop in order."""

    scenario: str
    session: str
    script: Script
    log: Log
    exchanges: tuple[Exchange, ...]
    attachments: Path

    @property
    def name(self) -> str:
        """The scenario, and the beginning of the session's id."""
        return f"{self.scenario}/{self.session[:12]}"

    @property
    def route(self) -> Json:
        """What that run declared for its model, and no log says."""
        models = {model["id"]: model for model in self._adapter.get("models", [])}
        declared = dict(models.get(self.script.start["model"], {}))
        declared.pop("id", None)
        if "maxTokens" in self._adapter:
            declared["maxTokens"] = self._adapter["maxTokens"]
        folder = self.scenario.split("/")[1]
        return {**declared, "attachmentRoot": f"/srv/demo/{folder}/home/attachments"}

    @property
    def _adapter(self) -> Json:
        return self.script.plugin("llm-deepseek")

    @property
    def attached(self) -> list[int]:
        """Where loops began to write: at the start, and behind what a restart or a fork adds."""
        ends = [event.seq + 1 for event in self.log.events if event.type == "session/end-seed"]
        return [*([] if self.log.header.is_seeded else [0]), *ends]

    @property
    def own(self) -> Sequence[Event]:
        """The events that loops of this session wrote."""
        return self.log.events[self.attached[0] :]

    def options(self) -> CallOptions:
        """What the agent was told: children get their parent's effort with the task."""
        effort = None
        for event in self.log.events:
            if event.type == "subagent/descriptor":
                effort = event.data["agentReasoningEffort"]
        return CallOptions(
            provider=PROVIDER, model=self.script.start["model"], reasoning_effort=effort
        )


@dataclass(frozen=True, slots=True)
class Unread:
    """A recorded log that is of no use here, and why."""

    name: str
    reason: str


def recordings(folder: Path) -> Iterator[Recording | Unread]:
    """All logs of the scenarios in a folder, or of the one that it is."""
    for wire in sorted(folder.rglob("wire.jsonl")):
        rows = [json.loads(line) for line in wire.read_bytes().splitlines() if line]
        script = Script.read(wire.parent / "script.json")
        for path in sorted(wire.parent.glob("sessions/*/*/session*.jsonl*")):
            session = path.parent.name
            scenario = f"{wire.parent.parent.name}/{wire.parent.name}"
            try:
                log = open_log(path)
            except UnsupportedFormatError as error:
                yield Unread(f"{scenario}/{session[:12]}", error.message)
                continue
            own = [r for r in rows if r["session"] == session and r["purpose"] == "loop"]
            exchanges = tuple(Exchange.read(row) for row in own)
            attachments = wire.parent / "attachments"
            yield Recording(scenario, session, script, log, exchanges, attachments)


def contributed(recording: Recording, files: Mapping[str, str]) -> PromptService:
    """A prompt service with what the recorded plugins contributed; `files` is read at each assembly."""
    script, log = recording.script, recording.log
    minimal = script.start["profile"] == "sdk-minimal"
    service = PromptService(
        config=PromptConfig(
            include_harness_identity=False,
            include_runtime_context=not minimal,
            persona_prefix=script.start["env"]["DSH_SYSTEM_PROMPT"] if minimal else "",
        )
    )
    _contribute_own(service, files)
    if not minimal:
        _contribute_recorded(service, recording)
    elif log.header.version == 4:
        service.context(
            "working-directory:current",
            order=context_order("WORKING_DIRECTORY") or 0,
            text=f"Current working directory: {dumps(log.header.cwd)}.",
            interpolate=False,
            required=True,
        )
    return service


def _contribute_own(service: PromptService, files: Mapping[str, str]) -> None:
    """What the plugin of the recordings contributes, by its files."""
    service.section("probe:section", order=900, text=lambda _: files["section.txt"])
    service.context("probe:context", order=900, text=lambda _: files["context.txt"], required=True)
    service.variable("probe_variable", lambda _: files["variable.txt"])

    async def more_tools(
        _assembly: PromptAssembly, _context: AssembleContext, further: Any
    ) -> PromptAssembly:
        assembly: PromptAssembly = await further()
        assembly.tools += extra_tools(files)
        return assembly

    service.events.on(ASSEMBLE, more_tools, Owner("recorded plugin"))


def _contribute_recorded(service: PromptService, recording: Recording) -> None:
    """What plugins contributed whose texts only the log has: word for word."""
    prompts = [e.data["message"] for e in recording.log.events if e.type == "system/message"]
    sources = [e.data["source"] for e in recording.own if e.type == "user/message"]
    contexts = next(source["sections"] for source in sources if "sections" in source)
    text = prompts[0]["content"][0]["text"]
    service.section("recorded", order=0, text=text, interpolate=False)
    for place, entry in enumerate(contexts):
        service.context(entry["name"], order=place, text=entry["text"], interpolate=False)


def extra_tools(files: Mapping[str, str]) -> list[Json]:
    """The tools that a file adds by way of a listener."""
    tools: list[Json] = json.loads(files["tools.json"] or "[]")
    return tools
