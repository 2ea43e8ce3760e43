"""`dsh-protocol surface`, `messages` and `schema`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import synthetic
from recorded import ROOT, recorded
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


BROKEN: list[tuple[str, int, Any]] = [
    ("data", 3, "x"),
    ("data", 5, {"turn": 1, "step": 1}),
    ("data", 2, {"turn": 1, "step": 1, "message": []}),
    ("data", 4, {"header": 1, "reason": "initial"}),
    ("data", 4, {"header": {"config": {"provider": "p"}}, "reason": "initial"}),
    ("data", 5, None),
]


@pytest.mark.parametrize(("member", "seq", "value"), BROKEN)
def test_malformed_data_is_refused_in_words(
    tmp_path: Path, member: str, seq: int, value: Any
) -> None:
    events = synthetic.events()
    events[seq][member] = value
    path = synthetic.write_log(tmp_path / "a.jsonl", events)
    for command in (
        ["messages"],
        ["requests"],
        ["surface"],
        ["requests", "--index", "0"],
        ["requests", "--format", "json"],
    ):
        result = run(command[0], path, *command[1:])
        assert result.exit_code in {0, 1, 2}
        assert result.exception is None or isinstance(result.exception, SystemExit)


def test_every_refusing_case_ends_without_a_traceback(tmp_path: Path) -> None:
    """Each log of the conformance suites through each command that reads one."""
    suites = sorted((ROOT / "conformance" / "suites").glob("*.json"))
    inputs = [
        case["input"]
        for suite in suites
        for case in json.loads(suite.read_bytes()).get("cases", [])
        if case["op"] == "check" and "events" in case["input"] and "refused" in case["expect"]
    ]
    assert len(inputs) > 500
    path = tmp_path / "a.jsonl"
    # Every twelfth: a command takes milliseconds, and there are thousands.
    for given in inputs[::12]:
        rows = [given["header"], *given["events"]]
        path.write_bytes(b"".join(map(synthetic.line, rows)))
        for command in (["messages"], ["requests"], ["requests", "--index", "0"], ["surface"]):
            result = run(command[0], path, *command[1:])
            assert result.exit_code in {0, 1, 2}
            assert result.exception is None or isinstance(result.exception, SystemExit)


def test_a_copied_log_is_read_wherever_it_lies(tmp_path: Path) -> None:
    path = synthetic.write_log(tmp_path / "session.v4.jsonl", synthetic.events())
    result = run("messages", path)
    assert result.exit_code == 0
    assert "storage/path-session" in result.stderr


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "dsh_protocol", *arguments]
    return subprocess.run(command, check=False, stderr=subprocess.PIPE, **options)


def test_streams_that_take_no_unicode_are_closed_or_full(tmp_path: Path) -> None:
    folder = tmp_path / "\u03a9"
    folder.mkdir()
    path = synthetic.write_log(folder / "a.jsonl", synthetic.events())
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = process("check", str(path), env=environment, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    assert b"\\u03a9" in done.stdout
    with open("/dev/full", "wb") as full:
        done = process("schema", stdout=full)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"output/failed" in done.stderr
    shell = f"{sys.executable} -m dsh_protocol schema >&-"
    closed = subprocess.run(shell, shell=True, check=False, stderr=subprocess.PIPE)
    assert b"Traceback" not in closed.stderr


def test_options_about_one_request_need_an_index(tmp_path: Path) -> None:
    path = synthetic.write_log(tmp_path / "a.jsonl", synthetic.events())
    for options in (["--wire", "deepseek-chat"], ["--route", "{}"], ["--with-session-log"]):
        result = run("requests", path, *options)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "requests/needs-index" in result.stderr


def test_the_version() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("dsh-protocol ")


def test_a_long_surface_is_lines(tmp_path: Path) -> None:
    first = synthetic.events()[3]
    rows = [{**first, "seq": seq} for seq in range(2000)]
    result = run("surface", synthetic.write_log(tmp_path / "a.jsonl", rows))
    assert result.exit_code == 0
    assert "1999\t1999\tuser/message" in result.stdout
