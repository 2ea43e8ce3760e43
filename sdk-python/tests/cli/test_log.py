"""`dsh-protocol surface`, `messages` and `schema`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import synthetic
from recorded import recorded
from typer.testing import CliRunner, Result

from dsh_protocol.cli import app


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def ask(*arguments: str | Path) -> Any:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    events = [*synthetic.events(), synthetic.replacement(8, 3, 5, [3, 5])]
    return synthetic.write_log(tmp_path / "a.jsonl", events)


def test_the_surface(log: Path) -> None:
    assert ask("surface", log, "--format", "json") == {
        "nodes": [2, 8],
        "replaceGeneration": 1,
        "contentGeneration": 1,
        "replacements": [
            {"seq": 8, "type": "user/message", "startSeq": 3, "endSeq": 5, "shadowed": [3, 5]}
        ],
    }


def test_the_surface_before_an_event(log: Path) -> None:
    surface = ask("surface", log, "--at", "5", "--format", "json")
    assert (surface["nodes"], surface["replacements"]) == ([2, 3], [])
    assert ask("surface", log, "--at", "0", "--format", "json")["nodes"] == []
    assert ask("surface", log, "--at", "9", "--format", "json")["nodes"] == [2, 8]


def test_the_messages(log: Path) -> None:
    messages = ask("messages", log)
    assert [message["content"][0]["text"] for message in messages] == ["Be brief.", "Instead."]
    assert [message["role"] for message in ask("messages", log, "--at", "6")] == [
        "system",
        "user",
        "assistant",
    ]


@pytest.mark.parametrize("at", ["-1", "10", "100000000000000000000"])
def test_no_such_seq(log: Path, at: str) -> None:
    for command in ("surface", "messages"):
        result = run(command, log, "--at", at)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "reading/no-such-seq" in result.stderr


def test_hostile_text_reaches_no_terminal(tmp_path: Path) -> None:
    events = synthetic.events()
    events[6]["type"] = "\x1b]0;owned\x07"
    path = synthetic.write_log(tmp_path / "a.jsonl", events)
    for command in ("check", "surface", "messages", "requests"):
        result = run(command, path)
        assert result.exit_code == 1
        assert "\x1b" not in result.output
        assert "\x07" not in result.output


def test_older_formats_are_to_be_migrated() -> None:
    for entry in recorded(("v0",)):
        for command in ("check", "surface", "messages", "requests"):
            result = run(command, entry.log)
            assert result.exit_code == 2
            assert "header/older-format" in result.output
            assert "igrate" in result.output


def test_the_schemas() -> None:
    names = run("schema").stdout.split()
    assert {"session/v4/event", "session/v3/event", "session/v4/header"} <= set(names)
    assert {"wire/deepseek-messages", "wire/deepseek-chat", "wire/generate-options"} <= set(names)
    for name in names:
        assert ask("schema", name)["$schema"].endswith("2020-12/schema")


def test_an_unknown_schema() -> None:
    result = run("schema", "session/v4/evnt")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "schemas/unknown-name" in result.stderr
    assert "session/v4/event" in result.stderr
