"""`dsh-protocol ls`: every session below a directory, by header, and with --details by its log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import compressed
import pytest
import stores
import synthetic
from typer.testing import CliRunner, Result

from dsh_protocol.cli import app
from dsh_protocol.rows import Event
from dsh_protocol.store import Store


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["ls", *map(str, arguments)])


def ask(*arguments: str | Path) -> list[dict[str, Any]]:
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    value: list[dict[str, Any]] = json.loads(result.stdout)
    return value


def put(root: Path, session: str, content: bytes, name: str = "session.v4.jsonl") -> Path:
    path = root / "--w--" / session / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    title = {"title": "A greeting\x1b[2J", "messageSeqs": [3], "source": {"kind": "fallback"}}
    events = [*synthetic.events(), synthetic.event(8, "session/title", title)]
    with Store(tmp_path, "none").create(stores.header(id="good")) as writer:
        writer.append([Event.from_value(row) for row in events])
    gap = synthetic.log_bytes([*events[:3], *events[4:]], id="gap")
    put(tmp_path, "gap", gap)
    put(tmp_path, "old", synthetic.log_bytes([], version=0, id="old"), "session.jsonl")
    put(tmp_path, "new", synthetic.log_bytes([], version=7, id="new"), "session.v7.jsonl")
    put(tmp_path, "cut", b"{")
    return tmp_path


def test_headers(root: Path) -> None:
    sessions = {entry["id"]: entry for entry in ask(root)}
    assert {name: (s["verdict"], s["code"]) for name, s in sessions.items()} == {
        "good": ("current", None),
        "gap": ("current", None),
        "old": ("older", "header/older-format"),
        "new": ("newer", "header/newer-format"),
        "cut": ("damaged", "header/missing"),
    }
    path = root / "--w--" / "good" / "session.v4.jsonl"
    assert sessions["good"] == {
        "id": "good",
        "path": str(path),
        "formatVersion": 4,
        "compression": "none",
        "bytes": path.stat().st_size,
        "modified": path.stat().st_mtime_ns // 1_000_000,
        "verdict": "current",
        "header": stores.header(id="good"),
        "code": None,
        "message": None,
    }


def test_details(root: Path) -> None:
    members = ("events", "lastActivity", "title", "readable", "unreadableBecause")
    found = {entry["id"]: tuple(entry[m] for m in members) for entry in ask(root, "--details")}
    title, last = "A greeting\x1b[2J", stores.TIME + 8
    assert found == {
        "good": (9, last, title, True, None),
        "gap": (8, last, title, False, "storage/committed-history"),
        "old": (None, None, None, None, None),
        "new": (None, None, None, None, None),
        "cut": (None, None, None, False, "header/missing"),
    }


def test_text(root: Path) -> None:
    result = run(root)
    assert result.exit_code == 0
    assert "5 sessions: 2 current, 1 damaged, 1 newer, 1 older" in result.stdout
    assert "skipped: 1 lock file" in result.stdout
    assert "damaged: header/missing" in result.stdout
    detailed = run(root, "--details")
    assert detailed.exit_code == 0
    assert "2023-11-14 22:13:20Z" in detailed.stdout
    assert "storage/committed-hi" in detailed.stdout
    assert "\x1b" not in detailed.stdout


def test_a_compressed_store(tmp_path: Path) -> None:
    log = synthetic.log_bytes(synthetic.events())
    put(tmp_path, "s-1", b"".join(compressed.frames(log)), "session.v4.jsonl.zstd")
    (entry,) = ask(tmp_path, "--details")
    assert (entry["compression"], entry["events"], entry["readable"]) == ("zstd", 8, True)


def test_an_empty_directory(tmp_path: Path) -> None:
    assert ask(tmp_path) == []
    assert "0 sessions" in run(tmp_path).stdout


def test_no_directory(tmp_path: Path) -> None:
    result = run(tmp_path / "nothing")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "storage/unreadable" in result.stderr
    assert "nothing" in result.stderr
