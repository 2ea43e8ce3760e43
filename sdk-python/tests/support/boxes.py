"""Stored sessions that the official runtime goes on with, each in a folder of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from official_runtime import OfficialRuntime
from scripted_model import Asked, ScriptedModel
from written_logs import PLUGIN, Author, Shape

from dsh_protocol.check import check_file
from dsh_protocol.rebuild import request_body
from dsh_protocol.requests import ModelRequest
from dsh_protocol.rows import Log, open_log
from dsh_protocol.session import Session
from dsh_protocol.store import Store
from dsh_protocol.wire import DirectoryAttachments

NEXT = "And now?"
"""What a session is asked when it goes on."""


@dataclass
class Box:
    """A folder with the home of a runtime in it, and one session there, `s-1`.

    `stood` is the log as it was stored each time the model was asked.
    """

    folder: Path
    stood: list[Log] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def path(self) -> Path:
        (path,) = self.home.glob("sessions/*/s-1/session.v4.jsonl*")
        return path

    def store(self, shape: Shape) -> Store:
        return Store(self.home / "sessions", shape.compression)

    def write(self, shape: Shape) -> Session:
        """Write the log of a shape, in two batches."""
        author = Author(self.home, self.folder / "workspace", shape.model)
        shape.write(author)
        session = author.session
        with self.store(shape).create(session.header) as writer:
            middle = session.next_seq // 2
            writer.append(session.events[:middle])
            writer.append(session.events[middle:])
            writer.flush()
        with self.path.open("ab") as file:
            file.write(shape.tail)
        return session

    def run(self, shape: Shape) -> list[Asked]:
        """Let the official runtime go on with the log. What it asked the model."""
        with (
            ScriptedModel(shape.script, on_asked=self._note) as model,
            OfficialRuntime(
                self.folder,
                model.url,
                patches=(PLUGIN / "patch.yml", self._compression(shape)),
                variables={"DSH_SYSTEM_PROMPT": shape.prompt},
            ) as runtime,
        ):
            runtime.initialize(shape.model)
            runtime.resume("s-1")
            runtime.prompt("s-1", NEXT)
            runtime.shutdown()
        assert not model.errors
        assert len(model.asked) == len(shape.script)
        return model.asked

    def _note(self, _asked: Asked) -> None:
        self.stood.append(open_log(self.path.read_bytes()))

    def _compression(self, shape: Shape) -> Path:
        path = self.folder / "compression.yml"
        config = {"root": str(self.home / "sessions"), "compression": shape.compression}
        # A value of JSON is one of YAML, too.
        path.write_text(json.dumps([{"id": "sessions", "config": config}]))
        return path

    def body(self, log: Log, request: ModelRequest) -> str:
        """The text of a request, rebuilt."""
        attachments = self.home / "attachments"
        return request_body(
            log,
            request,
            route={"attachmentRoot": str(attachments)},
            attachments=DirectoryAttachments(attachments),
        )


def require_sound(path: Path) -> None:
    """Nobody who reads the log finds an error in it."""
    report = check_file(path)
    assert not [finding for finding in report.findings if finding.severity == "error"]
    verdicts = report.verdicts
    assert (verdicts["readable"], verdicts["valid"], verdicts["resumable"]) == (True, True, True)
