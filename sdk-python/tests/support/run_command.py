"""The command `dsh-protocol run`, in this process and as one of its own, and what it leaves in the current directory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from responses import CLOSE, START, STOP, event
from typer.testing import CliRunner, Result

from dsh_protocol.check import check_file
from dsh_protocol.cli import app
from dsh_protocol.rows import Event, open_log

KEY = "sk-secret-4711"
HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\x9b31m\u202e"
TOOLS = '''
from dsh_protocol import tool

@tool
def look(where: str) -> str:
    """Look somewhere."""
    return "seen in " + where

several = [look]
nothing = []
number = 1
'''

SLOW = '''
import sys, time
from dsh_protocol import tool

@tool
def sleep() -> str:
    """Sleep."""
    sys.stdout.write("asleep")
    sys.stdout.flush()
    time.sleep(60)
    return "awake"
'''


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["run", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command as a process, which is dead in the end."""
    command = [sys.executable, "-m", "dsh_protocol", "run", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


def read(process: subprocess.Popen[str], text: str) -> None:
    """Wait until the process has shown this."""
    assert process.stdout is not None
    assert process.stdout.read(len(text)) == text


def log_path() -> Path:
    (path,) = Path("sessions").rglob("session.v*")
    return path


def events() -> list[Event]:
    """The events of the stored session, which is sound."""
    report = check_file(log_path())
    assert not report.findings, report.findings
    assert report.verdicts["resumable"]
    return open_log(log_path()).events


def of(type: str) -> list[Any]:
    return [event.data for event in events() if event.type == type]


def ends() -> list[Any]:
    return [data["reason"] for data in of("turn/end")]


def asked(server: Any, index: int = -1) -> Any:
    return json.loads(server.requests[index][1])


def module(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    """A module in the current directory, which nobody has imported."""
    Path(f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    sys.path_importer_cache.clear()


def call(name: str, arguments: str) -> bytes:
    """An answer that calls a tool."""
    tool = {"type": "tool_use", "id": "call-1", "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": arguments}
    return b"".join(
        [
            START,
            event("content_block_start", index=0, content_block=tool),
            event("content_block_delta", index=0, delta=delta),
            CLOSE,
            event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 5}),
            STOP,
        ]
    )


def assert_no_key(result: Result) -> None:
    """Nothing that was printed or stored has the key."""
    assert KEY not in result.output
    rows = b"\n".join(event.row_bytes() for event in open_log(log_path()).events)
    assert KEY.encode() not in rows


def assert_no_control(result: Result) -> None:
    """Nothing that a terminal would act on was printed."""
    for text in (result.stdout, result.stderr):
        assert all(char in "\n\t" or char.isprintable() for char in text)
