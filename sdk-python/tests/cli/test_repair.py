"""`dsh-protocol repair` and `dsh-protocol fork`: what they print, write, refuse, and what they leave alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import synthetic
from sessions import begin, call_tool, new_session, one_turn, stored
from typer.testing import CliRunner, Result

from dsh_protocol.check import check_file
from dsh_protocol.cli import app
from dsh_protocol.rows import open_log

FORMATS = pytest.mark.parametrize("version", [3, 4])


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def interrupted(version: int = 4) -> bytes:
    session = new_session(version)
    begin(session)
    call_tool(session)
    return stored(session)


def write(folder: Path, content: bytes, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@FORMATS
def test_repair_prints_what_it_adds_and_writes_the_whole_log(tmp_path: Path, version: int) -> None:
    path, out = write(tmp_path, interrupted(version)), tmp_path / "out.jsonl"
    result = run("repair", path, "--out", out)
    assert result.exit_code == 0
    added = [json.loads(line)["type"] for line in result.stdout.splitlines()]
    assert added == ["tool/result", "step/end", "turn/end"]
    assert out.read_bytes() == interrupted(version) + result.stdout.encode()
    assert path.read_bytes() == interrupted(version)
    assert check_file(out).findings == ()
    assert out.stat().st_mode & 0o777 == 0o600


def test_repair_without_a_file_changes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, interrupted())
    result = run("repair", path)
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 3)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_log_that_needs_nothing_is_written_all_the_same(tmp_path: Path) -> None:
    content, out = stored(one_turn()), tmp_path / "out.jsonl"
    result = run("repair", write(tmp_path, content), "--out", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert out.read_bytes() == content


def test_repair_keeps_rows_as_they_were(tmp_path: Path) -> None:
    head, *rows = interrupted().splitlines(keepends=True)
    odd = head + b"".join(rows).replace(b'{"turn":1}', b'{"turn": 1.0, "turn": 1}')
    out = tmp_path / "out.jsonl"
    assert run("repair", write(tmp_path, odd), "--out", out).exit_code == 0
    assert out.read_bytes().startswith(odd)


def test_a_torn_end_is_cut_off_with_a_word(tmp_path: Path) -> None:
    content, out = stored(one_turn()), tmp_path / "out.jsonl"
    result = run("repair", write(tmp_path, content + b'{"type"'), "--out", out)
    assert result.exit_code == 0
    assert "storage/torn-tail" in result.stderr
    assert out.read_bytes() == content


@pytest.mark.parametrize("name", ["out.jsonl.zstd", "session.v4.jsonl.zstd"])
def test_a_name_can_ask_for_compression(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    assert run("repair", write(tmp_path, interrupted()), "--out", out).exit_code == 0
    log = open_log(out.read_bytes(), name=name)
    assert (log.findings, log.stats["frames"], len(log.events)) == ([], 2, 10)


def test_an_empty_session_is_repaired(tmp_path: Path) -> None:
    content, out = stored(new_session()), tmp_path / "out.jsonl.zstd"
    assert run("repair", write(tmp_path, content), "--out", out).exit_code == 0
    assert open_log(out).stats["frames"] == 1


def damaged() -> bytes:
    lines = stored(one_turn()).splitlines(keepends=True)
    return b"".join([*lines[:5], b"garbage\n", *lines[5:]])


def test_damage_is_not_repaired_unless_asked(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    result = run("repair", write(tmp_path, damaged()), "--out", out)
    assert result.exit_code == 1
    assert "storage/committed-history" in result.stderr
    assert "--salvage" in result.stderr
    assert not out.exists()


def test_salvage_keeps_the_valid_prefix_and_says_what_it_left_out(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    result = run("repair", write(tmp_path, damaged()), "--salvage", "--out", out)
    assert result.exit_code == 0
    assert "json/syntax line 6" in result.stderr
    assert "left out 7 rows behind line 5" in result.stderr
    assert "turn/end 1" in result.stderr
    assert [json.loads(line)["type"] for line in result.stdout.splitlines()] == [
        "step/end",
        "turn/end",
    ]
    assert (
        out.read_bytes()
        == b"".join(damaged().splitlines(keepends=True)[:5]) + result.stdout.encode()
    )
    assert check_file(out).findings == ()


def test_salvage_of_a_sound_log_leaves_nothing_out(tmp_path: Path) -> None:
    content, out = stored(one_turn()), tmp_path / "out.jsonl"
    result = run("repair", write(tmp_path, content), "--salvage", "--out", out)
    assert (result.exit_code, out.read_bytes()) == (0, content)
    assert "nothing was left out" in result.stderr


def test_a_refused_row_ends_what_can_be_salvaged(tmp_path: Path) -> None:
    rows = synthetic.events()
    rows[3]["data"]["source"] = {"kind": "plugin"}
    path, out = write(tmp_path, synthetic.log_bytes(rows)), tmp_path / "out.jsonl"
    assert run("repair", path).exit_code == 1
    result = run("repair", path, "--salvage", "--out", out)
    assert result.exit_code == 0
    assert "message/plugin-source" in result.stderr
    assert [e.type for e in open_log(out).events][3:] == ["step/end", "turn/end"]


@pytest.mark.parametrize("command", ["repair", "fork"])
def test_no_file_is_ever_overwritten(tmp_path: Path, command: str) -> None:
    path, out = write(tmp_path, interrupted()), write(tmp_path, b"mine", "out.jsonl")
    result = run(command, path, "--out", out)
    assert result.exit_code == 2
    assert "output/exists" in result.stderr
    assert out.read_bytes() == b"mine"
    assert run(command, path, "--out", path).exit_code == 2
    assert path.read_bytes() == interrupted()
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("command", ["repair", "fork"])
def test_a_file_that_cannot_be_written(tmp_path: Path, command: str) -> None:
    result = run(command, write(tmp_path, interrupted()), "--out", tmp_path / "no" / "out.jsonl")
    assert result.exit_code == 2
    assert "output/unwritable" in result.stderr


@pytest.mark.parametrize("command", ["repair", "fork"])
def test_a_file_that_is_no_log(tmp_path: Path, command: str) -> None:
    result = run(command, write(tmp_path, b"hello\n"), "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 2
    assert "header/missing" in result.stderr


def fork(path: Path, *more: object) -> tuple[Result, Any]:
    out = path.with_name("child.jsonl")
    result = run("fork", path, "--out", out, *more)
    return result, open_log(out) if result.exit_code == 0 else None


def test_fork_writes_a_child_and_prints_its_id(tmp_path: Path) -> None:
    result, child = fork(write(tmp_path, interrupted()), "--at", 5, "--id", "c-1")
    assert result.stdout == "c-1\n"
    assert (child.header.id, child.header.parent_session, child.header.cwd) == ("c-1", "s-1", "/w")
    assert child.header.is_seeded
    assert [event.type for event in child.events[6:]] == [
        "session/end-seed",
        "tool/result",
        "step/end",
        "turn/end",
    ]
    assert check_file(tmp_path / "child.jsonl").findings == ()


@FORMATS
def test_fork_of_everything(tmp_path: Path, version: int) -> None:
    result, child = fork(write(tmp_path, stored(one_turn(version))))
    assert (result.exit_code, len(child.events)) == (0, 11)
    assert result.stdout.strip() == child.header.id


def test_a_boundary_that_does_not_exist_is_a_bad_argument(tmp_path: Path) -> None:
    result, _ = fork(write(tmp_path, interrupted()), "--at", 7)
    assert result.exit_code == 2
    assert "INVALID_BOUNDARY" in result.stderr


def test_an_open_turn_of_format_3_is_refused(tmp_path: Path) -> None:
    result, _ = fork(write(tmp_path, interrupted(3)))
    assert result.exit_code == 2
    assert "OPEN_TURN" in result.stderr


# ---- Hostile input ---------------------------------------------------------------------------------


DEEP = (
    b'{"type":"acme/x","seq":8,"time":1,"ignorable":true,"data":' + b"[" * 600 + b"]" * 600 + b"}\n"
)


@pytest.mark.parametrize(
    "behind", [b"", synthetic.line(synthetic.event(9, "turn/start", {"turn": 2}))]
)
def test_a_row_that_only_others_read_is_not_lost(tmp_path: Path, behind: bytes) -> None:
    """The released reader takes it; a log written from the events that are read here would lack it."""
    path = write(tmp_path, synthetic.log_bytes(synthetic.events()) + DEEP + behind)
    assert check_file(path).verdicts["readable"]
    for command in ("repair", "fork"):
        result = run(command, path, "--out", tmp_path / "out.jsonl")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "error json/depth" in result.stderr
    assert not (tmp_path / "out.jsonl").exists()
    result = run("repair", path, "--salvage", "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 0
    assert "left out" in result.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == synthetic.log_bytes(synthetic.events())


def test_a_fork_says_what_it_does_not_inherit(tmp_path: Path) -> None:
    path = write(
        tmp_path, synthetic.log_bytes(synthetic.events()) + b'{"type":"turn/start","seq"\n'
    )
    result = run("fork", path, "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 0
    assert "error json/syntax line 10" in result.stderr
    assert "8 inherited events" in result.stderr


def test_what_a_terminal_could_act_on_is_escaped(tmp_path: Path) -> None:
    hostile = "\x1b[2J\x7f\x9b31m\u202e"
    session = new_session()
    begin(session)
    call = {"type": "tool-call", "id": hostile, "name": "shell", "arguments": "{}"}
    session.append_message(session.make.assistant_message([call], provider="p", model="m"))
    result = run("repair", write(tmp_path, stored(session)), "--out", tmp_path / "out.jsonl")
    assert result.exit_code == 0
    assert all(char.isprintable() or char == "\n" for char in result.stdout)
    message = json.loads(result.stdout.splitlines()[0])["data"]["message"]
    assert message["toolCallId"] == hostile
    assert hostile.encode()[4:] in (tmp_path / "out.jsonl").read_bytes()


@pytest.mark.parametrize("out", ["", "."])
def test_a_name_of_no_file(tmp_path: Path, out: str) -> None:
    result = run("repair", write(tmp_path, interrupted()), "--out", out)
    assert result.exit_code == 2
    assert "error output/unwritable" in result.stderr
