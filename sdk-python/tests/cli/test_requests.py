"""`dsh-protocol requests`: every recorded request, rebuilt by the command, against the bytes that were sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import synthetic
from recorded import SHARED, Recorded, recorded, session_log_text, without_extensions
from typer.testing import CliRunner, Result

from dsh_protocol.cli import app

LOGS = recorded()
IDS = [f"{entry.name}/{entry.log.parent.name}" for entry in LOGS]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["requests", *map(str, arguments)])


def rows(path: Path) -> list[dict[str, Any]]:
    result = run(path, "--format", "json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def body(entry: Recorded, index: int, *more: str) -> str:
    arguments: list[str | Path] = [
        entry.log,
        "--index",
        str(index),
        "--route",
        json.dumps(entry.route),
        *more,
    ]
    if entry.attachments.is_dir():
        arguments += ["--attachments", entry.attachments]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("\n")
    return result.stdout[:-1]


def test_where_the_recordings_come_from() -> None:
    if not SHARED.is_dir():
        pytest.skip("the recordings that may not be shipped are absent; the shipped ones are used")
    assert len(LOGS) == 21


@pytest.mark.parametrize("entry", LOGS, ids=IDS)
def test_each_own_settlement_has_its_request(entry: Recorded) -> None:
    own = [row for row in rows(entry.log) if not row["inherited"]]
    assert [row["index"] for row in own] == list(range(len(entry.bodies)))


@pytest.mark.parametrize("entry", LOGS, ids=IDS)
def test_each_body_is_the_one_that_was_sent(entry: Recorded) -> None:
    for index, sent in enumerate(entry.bodies):
        assert body(entry, index) == without_extensions(sent)


@pytest.mark.parametrize("entry", LOGS, ids=IDS)
def test_the_session_log_member_is_the_one_that_was_sent(entry: Recorded) -> None:
    for index, sent in enumerate(entry.bodies):
        member = session_log_text(sent)
        if member is not None:
            expected = f'{without_extensions(sent)[:-1]},"dsh_session_log":{member}}}'
            assert body(entry, index, "--with-session-log") == expected


def test_inherited_rows_have_no_index() -> None:
    forked = [row for entry in LOGS for row in rows(entry.log) if row["inherited"]]
    assert all(row["index"] is None for row in forked)
    if SHARED.is_dir():
        assert forked


def test_columns() -> None:
    entry = next(entry for entry in LOGS if entry.name == "v4/in-history")
    first, second, *_ = rows(entry.log)
    assert first == {
        "index": 0,
        "turn": 1,
        "step": 1,
        "kind": "message",
        "seq": 11,
        "inherited": False,
        "headerReason": "initial",
        "messages": 3,
        "changed": ["first"],
    }
    assert second["changed"] == ["prompt-appended"]


def test_a_log_of_a_directory() -> None:
    entry = next(entry for entry in LOGS if entry.name == "v4/plain")
    assert rows(entry.log.parent) == rows(entry.log)


@pytest.mark.parametrize("index", [-1, 2, 10**20])
def test_an_index_out_of_range(index: int) -> None:
    entry = next(entry for entry in LOGS if entry.name == "v4/plain")
    result = run(entry.log, "--index", str(index))
    assert result.exit_code == 2
    assert "requests/index" in result.stderr
    assert "0 to 1" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--wire", "smoke-signals", "wire/unknown"),
        ("--route", "[]", "requests/route"),
        ("--route", "{", "requests/route"),
        ("--route", '{"toolUpdate":"sometimes"}', "wire/route"),
        ("--route", '{"no-such-member":1}', "wire/route"),
    ],
)
def test_bad_arguments_have_codes(option: str, value: str, code: str) -> None:
    entry = next(entry for entry in LOGS if entry.name == "v4/plain")
    result = run(entry.log, "--index", "0", option, value)
    assert (result.exit_code, result.stdout) == (2, "")
    assert code in result.stderr


def test_a_route_member_overrides_the_declared_one() -> None:
    entry = next(entry for entry in LOGS if entry.name == "v4/tools-change-addition-only")
    plain = json.loads(body(entry, 1))
    in_history = json.loads(body(entry, 1, "--route", '{"toolUpdate":"in-history"}'))
    without = json.loads(body(entry, 1, "--route", '{"toolUpdate":null}'))
    assert [tool["name"] for tool in plain["tools"]] == ["shell", "lookup"]
    assert any("defer_loading" in tool for tool in in_history["tools"])
    assert not any("defer_loading" in tool for tool in without["tools"])


def test_both_wires_can_say_a_log_of_either_format() -> None:
    for name, wire in (("v3/plain", "deepseek-messages"), ("v4/plain", "deepseek-chat")):
        entry = next(entry for entry in LOGS if entry.name == name)
        request = json.loads(body(entry, 0, "--wire", wire))
        assert request["model"] == "deepseek-v4-flash"


def test_a_refused_log_gives_its_reasons(tmp_path: Path) -> None:
    events = synthetic.events()
    del events[3]["surfaceOp"]
    result = run(synthetic.write_log(tmp_path / "a.jsonl", events))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "surface/op-missing" in result.stderr


def test_a_dropped_tail_is_said(tmp_path: Path) -> None:
    path = synthetic.write_log(tmp_path / "a.jsonl", synthetic.events()[:6])
    path.write_bytes(path.read_bytes() + b"garbage\n")
    result = run(path, "--format", "json")
    assert result.exit_code == 0
    assert len(json.loads(result.stdout)) == 1
    assert "json/syntax" in result.stderr


def test_a_log_without_a_header_event_cannot_be_rebuilt(tmp_path: Path) -> None:
    events = [event for event in synthetic.events() if event["type"] != "request/header"]
    for seq, event in enumerate(events):
        event["seq"] = seq
    path = synthetic.write_log(tmp_path / "a.jsonl", events)
    result = run(path, "--index", "0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "requests/no-header" in result.stderr
