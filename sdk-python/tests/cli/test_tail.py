"""`dsh-protocol tail`: the last events, those that come, and a clean end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
import stores
import synthetic
from recorded import recorded
from typer.testing import CliRunner, Result

from dsh_protocol.cli import app
from dsh_protocol.store import Store, Writer

Compression = Literal["none", "zstd"]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["tail", *map(str, arguments)])


def seqs(result: Result) -> list[int]:
    assert result.exit_code == 0, result.output
    return [json.loads(line)["seq"] for line in result.stdout.splitlines()]


@pytest.fixture(params=["none", "zstd"])
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Writer]:
    compression: Compression = request.param
    with Store(tmp_path, compression).create(stores.header()) as writer:
        for seq in range(30):
            writer.append(stores.events(seq, 1))
        yield writer


@contextmanager
def following(*arguments: str | Path) -> Iterator[subprocess.Popen[str]]:
    """A real process that follows; it is ended with Ctrl-C."""
    command = [sys.executable, "-m", "dsh_protocol", "tail", *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def read_seqs(process: subprocess.Popen[str], count: int) -> list[int]:
    assert process.stdout is not None
    return [json.loads(process.stdout.readline())["seq"] for _ in range(count)]


def test_the_last_events(writer: Writer) -> None:
    options = ("--no-follow", "--format", "json")
    assert seqs(run(writer.path, *options)) == list(range(20, 30))
    assert seqs(run(writer.path, "-n", "3", *options)) == [27, 28, 29]
    assert seqs(run(writer.path, "--last", "0", *options)) == []
    assert seqs(run(writer.path, "-n", "30", *options)) == list(range(30))
    assert seqs(run(writer.path, "-n", "99", *options)) == list(range(30))
    assert seqs(run(writer.path, "--from", "25", *options)) == [25, 26, 27, 28, 29]
    assert seqs(run(writer.path, "--from", "30", *options)) == []
    # A store with one session is as good as its log.
    assert seqs(run(writer.path.parents[2], "-n", "1", *options)) == [29]


def test_an_event_as_json_is_the_logical_event(tmp_path: Path) -> None:
    row = synthetic.replacement(4, 0, 3, [0, 1, 2, 3])
    events = [stores.event(seq).value for seq in range(4)]
    path = synthetic.write_log(
        tmp_path / "a.jsonl", [*events, {**row, "sourceEventSeqs": [[0, 3]]}]
    )
    result = run(path, "--no-follow", "--format", "json")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [*events, row]


def test_an_event_as_text_is_one_line(tmp_path: Path) -> None:
    data = {"todos": [], "note": "x\x1b[2J\u2028" + "y" * 500}
    rows = [
        synthetic.event(0, "todo/write", data),
        synthetic.event(1, "turn/start", {"turn": 1}) | {"time": 9_007_199_254_740_991},
    ]
    path = synthetic.write_log(tmp_path / "a.jsonl", rows)
    result = run(path, "--no-follow")
    first, second = result.stdout.splitlines()
    assert first.startswith('0 2023-11-14T22:13:20.000Z todo/write {"todos":[],"note":"x\\u001b[2J')
    assert first.endswith("yyy...")
    assert len(first) < 260
    assert second == '1 9007199254740991 turn/start {"turn":1}'


def test_recorded_logs() -> None:
    for entry in recorded():
        rows = entry.log.read_bytes()
        result = run(entry.log, "--from", "0", "--no-follow", "--format", "json")
        found = [json.loads(line)["seq"] for line in result.stdout.splitlines()]
        if entry.log.suffix == ".jsonl":
            assert found == list(range(rows.count(b"\n") - 1))
        assert found == list(range(len(found)))


def test_what_is_not_there_yet_is_said(writer: Writer) -> None:
    whole = writer.path.read_bytes()
    writer.path.write_bytes(whole[:-5])
    result = run(writer.path, "-n", "1", "--no-follow", "--format", "json")
    assert seqs(result) == [28]
    assert "at the end are no complete row yet" in result.stderr


def test_bad_rows_are_said_and_passed_over(tmp_path: Path) -> None:
    rows = [synthetic.line(stores.event(seq).value) for seq in range(3)]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join([synthetic.log_bytes([]), rows[0], b"garbage\n", rows[1], rows[2]]))
    for options in ([], ["-n", "3"], ["--from", "0"]):
        result = run(path, *options, "--no-follow", "--format", "json")
        assert seqs(result) == [0, 1, 2]
        assert "json/syntax" in result.stderr


def test_it_follows_and_ends_with_ctrl_c(writer: Writer) -> None:
    with following(writer.path, "-n", "2", "--format", "json") as process:
        assert read_seqs(process, 2) == [28, 29]
        for seq in range(30, 36, 2):
            writer.append(stores.events(seq, 2))
            assert read_seqs(process, 2) == [seq, seq + 1]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "", "")


def test_it_follows_from_an_event_that_is_to_come(writer: Writer) -> None:
    with following(writer.path, "--from", "31", "--format", "json") as process:
        writer.append(stores.events(30, 3))
        assert read_seqs(process, 2) == [31, 32]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_nobody_reads_any_more(writer: Writer) -> None:
    with following(writer.path, "-n", "2", "--format", "json") as process:
        assert read_seqs(process, 2) == [28, 29]
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        writer.append(stores.events(30, 1))
        assert process.wait(timeout=60) == 0
        assert process.stderr.read() == ""


def test_a_log_that_is_cut_or_replaced(writer: Writer) -> None:
    with following(writer.path, "-n", "1") as process:
        assert process.stdout is not None
        process.stdout.readline()
        writer.path.write_bytes(writer.path.read_bytes()[:-30])
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.startswith("error cursor/truncated: ")


@pytest.mark.parametrize(
    ("arguments", "code", "rule"),
    [
        (("nothing",), 2, "storage/unreadable"),
        (("empty.jsonl",), 2, "storage/empty-file"),
        (("old.jsonl",), 2, "header/older-format"),
        ((".",), 2, "storage/no-logs"),
        (("x", "--from", "-1"), 2, "--from"),
        (("x", "-n", "-1"), 2, "--last"),
    ],
)
def test_unusable_input(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[Any, ...],
    code: int,
    rule: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.jsonl").write_bytes(b"")
    synthetic.write_log(tmp_path / "old.jsonl", [], version=2)
    result = run(*arguments, "--no-follow")
    assert (result.exit_code, result.stdout) == (code, "")
    assert rule in result.stderr
