"""`dsh-protocol run`: what it stores, whatever becomes of the turn, what it shows, and what it refuses."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from loopback import Reply, serve
from responses import CHAT_WHOLE, CLOSE, HI, OPEN, REASON, START, STOP, WHOLE, event
from run_command import (
    HOSTILE,
    KEY,
    SLOW,
    TOOLS,
    asked,
    assert_no_control,
    assert_no_key,
    call,
    ends,
    events,
    log_path,
    module,
    of,
    process,
    read,
    run,
)
from stores import FaultyFiles, full_disk, no_room

from dsh_protocol.rows import open_log
from dsh_protocol.session import Session
from dsh_protocol.store import Store


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current directory, and no endpoint."""
    monkeypatch.chdir(tmp_path)
    for name in ("DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Serves replies as the configured endpoint."""

    @contextmanager
    def served(*replies: Reply) -> Iterator[Any]:
        with serve(*replies) as server:
            monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
            monkeypatch.setenv("DEEPSEEK_BASE_URL", server.url)
            yield server

    return served


# ---- Ends ------------------------------------------------------------------------------------------


def test_an_answer_of_an_endpoint(endpoint: Callable[..., Any]) -> None:
    with endpoint(Reply([START + OPEN, HI, CLOSE + REASON + STOP])) as server:
        result = run("Hello?", "--session", "a", "--model", "deepseek-v4-pro")
    assert (result.exit_code, result.stdout) == (0, "Hi\n")
    assert "session a is stored in " in result.stderr
    assert ends() == [{"kind": "completed"}]
    assert of("session/title")[0]["title"] == "Hello?"
    assert asked(server)["model"] == "deepseek-v4-pro"
    assert asked(server)["messages"][-1]["content"][0]["text"] == "Hello?"
    assert open_log(log_path()).header.cwd == os.getcwd()


def test_a_refusal_that_repeats_the_key(endpoint: Callable[..., Any]) -> None:
    body = json.dumps({"error": {"message": f"no such key: {KEY}{HOSTILE}"}}).encode()
    with endpoint(Reply([body], status=401)):
        result = run("Hello?")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error AUTH: " in result.stderr
    assert ends()[0]["kind"] == "error"
    assert_no_key(result)
    assert_no_control(result)


def test_a_failure_that_is_tried_again(endpoint: Callable[..., Any]) -> None:
    overloaded = Reply([b"{}"], status=529, headers=[("retry-after-ms", "1")])
    with endpoint(overloaded, Reply([WHOLE])):
        result = run("Hello?")
    assert (result.exit_code, result.stdout) == (0, "Hi\n")
    assert "again in " in result.stderr
    assert len(of("llm/retry")) == len(of("llm/retry-started")) == 1
    assert ends() == [{"kind": "completed"}]


def test_an_interrupt_keeps_what_was_visible(endpoint: Callable[..., Any]) -> None:
    slow = Reply([START + OPEN + HI, 60.0])
    with endpoint(slow), process("Hello?", "--session", "a") as started:
        read(started, "Hi")
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=30)
    assert started.returncode == 1
    assert "the turn ended: aborted" in said
    assert "Traceback" not in said
    assert ends() == [{"kind": "aborted", "reason": {"kind": "user"}}]
    (answer,) = of("assistant/message")
    assert answer["interrupted"] is True
    assert answer["message"]["content"] == [{"type": "text", "text": "Hi"}]


def test_a_second_interrupt_does_not_wait_for_a_tool(endpoint: Callable[..., Any]) -> None:
    Path("run_slow.py").write_text(SLOW, encoding="utf-8")
    arguments = ("Hello?", "--session", "a", "--tools", "run_slow:sleep")
    with endpoint(Reply([call("sleep", "{}")]), Reply([WHOLE])):
        with process(*arguments) as started:
            read(started, "asleep")
            for _ in range(300):
                started.send_signal(signal.SIGINT)
                time.sleep(0.1)
                if started.poll() is not None:
                    break
        assert started.returncode == -signal.SIGINT
        assert ends() == []
        assert run("Go on.", "--session", "a").exit_code == 0
    assert ends() == [{"kind": "interrupted"}, {"kind": "completed"}]


def test_a_killed_process_leaves_a_session_that_goes_on(endpoint: Callable[..., Any]) -> None:
    with endpoint(Reply([START + OPEN + HI, 60.0]), Reply([WHOLE])) as server:
        with process("Hello?", "--session", "a") as started:
            read(started, "Hi")
            started.kill()
            started.wait(timeout=30)
        # The log is never behind what was sent.
        before = open_log(log_path()).events
        sent = ["request/header", "request/context", "session/title"]
        assert [event.type for event in before[-3:]] == sent
        result = run("Still there?", "--session", "a")
    assert (result.exit_code, result.stdout) == (0, "Hi\n")
    assert ends() == [{"kind": "interrupted"}, {"kind": "completed"}]
    types = [event.type for event in events()]
    closers = ["step/end", "turn/end", "session/end-seed"]
    assert types[len(before) : len(before) + 3] == closers
    texts = [block["text"] for message in asked(server)["messages"] for block in message["content"]]
    assert texts == ["Hello?", "Still there?"]


def test_output_that_nobody_reads(endpoint: Callable[..., Any]) -> None:
    with (
        endpoint(Reply([START + OPEN, HI * 50, 0.2, HI * 50 + CLOSE + REASON + STOP])),
        process("Hello?") as started,
    ):
        assert started.stdout is not None
        read(started, "Hi")
        started.stdout.close()
        assert started.stderr is not None
        said = started.stderr.read()
        started.wait(timeout=30)
    assert "Traceback" not in said
    assert ends()[0]["kind"] in ("aborted", "completed")


# ---- Sessions --------------------------------------------------------------------------------------


def test_a_session_goes_on_with_its_prompt_and_its_model(endpoint: Callable[..., Any]) -> None:
    Path("system.txt").write_text("Say {{what}} you {mean}.\n", encoding="utf-8")
    with endpoint(*[Reply([WHOLE])] * 3) as server:
        first = ("--session", "a", "--system", "system.txt", "--model", "deepseek-v4-pro")
        assert run("One", *first).exit_code == 0
        assert run("Two", "--session", "a").exit_code == 0
        Path("system.txt").write_text("Be brief.", encoding="utf-8")
        assert run("Three", "--session", "a", "--system", "system.txt").exit_code == 0
    assert [asked(server, index)["model"] for index in range(3)] == ["deepseek-v4-pro"] * 3
    prompts = [data["message"]["content"][0]["text"] for data in of("system/message")]
    assert prompts == ["Say {{what}} you {mean}.", "Be brief."]
    assert [data["turn"] for data in of("turn/start")] == [1, 2, 3]
    assert [data["reason"] for data in of("request/header")][:2] == ["initial", "resume"]


def test_the_other_wire_writes_the_other_format(endpoint: Callable[..., Any]) -> None:
    with endpoint(*[Reply([CHAT_WHOLE])] * 2) as server:
        assert run("One", "--session", "a", "--wire", "deepseek-chat").stdout == "Hi\n"
        assert run("Two", "--session", "a").stdout == "Hi\n"
    assert b"/chat/completions" in server.requests[1][0]
    assert open_log(log_path()).header.version == 3
    assert ends() == [{"kind": "completed"}] * 2


def test_a_session_keeps_to_its_wire() -> None:
    assert run("One", "--session", "a").exit_code == 0
    refused = run("Two", "--session", "a", "--wire", "deepseek-chat")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "error run/wire: a session of format 4 cannot go on over deepseek-chat" in refused.stderr
    assert run("Two", "--session", "a").exit_code == 0


def test_a_session_that_another_process_writes() -> None:
    assert run("One", "--session", "a").exit_code == 0
    with Store("sessions").open_writer("a"):
        refused = run("Two", "--session", "a")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "error store/already-owned: " in refused.stderr
    assert len(of("turn/start")) == 1


def test_a_log_that_no_reader_takes_is_left_alone() -> None:
    session = Session.create(id="a", cwd=os.getcwd())
    session.append("turn/start", {"turn": 1})
    with Store("sessions", "none").create(session.header) as writer:
        writer.append(session.events)
    message = {**session.make.user_message("Hi."), "id": "m-1"}
    nowhere = {"op": "replace", "startSeq": 99, "endSeq": 99}
    row = {"type": "user/message", "seq": 1, "time": 1, "data": message, "surfaceOp": nowhere}
    with log_path().open("ab") as file:
        file.write(json.dumps(row).encode() + b"\n")
    before = log_path().read_bytes()
    result = run("Go on.", "--session", "a")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "surface/" in result.stderr
    assert log_path().read_bytes() == before


def test_a_root_that_cannot_be_written(endpoint: Callable[..., Any]) -> None:
    Path("file").write_text("", encoding="utf-8")
    with endpoint(Reply([WHOLE])) as server:
        result = run("Hello?", "--root", "file/sessions")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error st")
    assert server.requests == []


@pytest.mark.parametrize("name", ["../out", "/out", "..", "a/b"])
def test_an_id_is_no_path(tmp_path: Path, name: str) -> None:
    run("Hello?", "--session", name, "--root", "deep/sessions")
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(path.is_relative_to(tmp_path / "deep" / "sessions") for path in written)
    assert not Path("/out").exists()


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_a_store_keeps_its_compression(compression: Literal["none", "zstd"]) -> None:
    session = Session.create(id="a", cwd=os.getcwd())
    session.append("turn/start", {"turn": 1})
    with Store("sessions", compression).create(session.header) as writer:
        writer.append(session.events)
    assert run("Go on.", "--session", "a").exit_code == 0
    assert run("Begin.", "--session", "b").exit_code == 0
    found = [(each.id, each.compression) for each in Store("sessions", compression).list()]
    assert found == [("a", compression), ("b", compression)]


@pytest.mark.parametrize("write", range(5))
def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, write: int) -> None:
    assert run("One", "--session", "a").exit_code == 0
    before = log_path().read_bytes()
    files = FailingWrites(write)
    with monkeypatch.context() as patched:
        patched.setattr("dsh_protocol.store.Store", partial(Store, files=files))
        result = run("Two", "--session", "a")
    if not files.hit:
        assert result.exit_code == 0
        return
    assert result.exit_code == 2
    assert "error store/write-failed: " in result.stderr
    assert "is stored" not in result.stderr
    assert log_path().read_bytes().startswith(before)
    assert ends()[0] == {"kind": "completed"}


class FailingWrites(FaultyFiles):
    """From one write on there is no room."""

    def __init__(self, at: int) -> None:
        super().__init__(None, full_disk)
        self._left = at

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if not self._left:
            self.hit = True
            no_room()
        self._left -= 1
        return super().write(fd, data)


# ---- Prompts and tools -----------------------------------------------------------------------------


def test_no_endpoint_is_said() -> None:
    result = run("Hello?")
    assert result.exit_code == 0
    assert "no endpoint is configured" in result.stderr
    assert "a scripted model answers" in result.stderr
    assert result.stdout == (
        "This is the scripted model: nothing was sent anywhere. It was asked: Hello?\n"
    )
    assert ends() == [{"kind": "completed"}]


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_system_prompt_that_cannot_be_read(content: bytes | None) -> None:
    if content is not None:
        Path("system.txt").write_bytes(content)
    result = run("Hello?", "--system", "system.txt")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error run/system: the system prompt in system.txt cannot be read" in result.stderr
    assert not Path("sessions").exists()


@pytest.mark.parametrize("name", ["look", "several"])
def test_tools_run(
    endpoint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    module(monkeypatch, "run_tools", TOOLS)
    with endpoint(Reply([call("look", '{"where": "\\u001bthe attic"}')]), Reply([WHOLE])) as server:
        result = run("Find it.", "--tools", f"run_tools:{name}")
    assert (result.exit_code, result.stdout) == (0, "Hi\n")
    assert "call look " in result.stderr
    assert_no_control(result)
    assert asked(server)["tools"][0]["name"] == "look"
    (answered,) = of("tool/result")
    assert answered["message"]["isError"] is False
    assert "seen in" in answered["message"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("run_bad:missing", "AttributeError"),
        ("run_bad:number", "no list of tools"),
        ("run_bad:nothing", "no list of tools"),
        ("run_bad", "AttributeError"),
        ("run_nowhere:look", "No module named 'run_nowhere'"),
        ("run_broken:look", "RuntimeError: broken"),
        ("run_syntax:look", "SyntaxError"),
        (":look", "ValueError"),
        (".run_bad:look", "TypeError"),
        ("", "ValueError"),
    ],
)
def test_no_tools(monkeypatch: pytest.MonkeyPatch, name: str, why: str) -> None:
    module(monkeypatch, "run_bad", TOOLS)
    module(monkeypatch, "run_broken", "raise RuntimeError('broken')")
    module(monkeypatch, "run_syntax", "this is no Python")
    result = run("Hello?", "--tools", name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"error run/tools: there are no tools at {name}: " in result.stderr
    assert why in result.stderr
    assert not Path("sessions").exists()


def test_two_tools_of_one_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module(monkeypatch, "run_twice", TOOLS)
    result = run("Hello?", "--tools", "run_twice:look", "--tools", "run_twice:several")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error tools/duplicate-name: " in result.stderr


# ---- What is shown ---------------------------------------------------------------------------------


def test_text_of_the_model_does_nothing_to_the_terminal(endpoint: Callable[..., Any]) -> None:
    texts = ["a\tb\n", HOSTILE, "\x1b", "[31mred", "\ud83d", "\x7f\x00\u2028"]
    deltas = b"".join(
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
        for text in texts
    )
    with endpoint(Reply([START + OPEN + deltas + CLOSE + REASON + STOP])):
        result = run("Hello?")
    assert result.exit_code == 0
    assert result.stdout.startswith(
        "a\tb\n\\u001b]0;owned\\u0007\\u001b[2J\\u000d\\u009b31m\\u202e"
    )
    assert "\\u001b[31mred\\ud83d\\u007f\\u0000\\u2028\n" in result.stdout
    assert_no_control(result)
    (answer,) = of("assistant/message")
    assert answer["message"]["content"][0]["text"] == "".join(texts)


def test_the_key_is_nowhere(endpoint: Callable[..., Any]) -> None:
    with endpoint(Reply([WHOLE])) as server:
        result = run("Hello?")
    assert KEY.encode() in server.requests[0][0]
    assert_no_key(result)


@pytest.mark.parametrize(
    "url", [f"http://user:{KEY}@localhost", f"http://localhost/?key={KEY}", "x"]
)
def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    monkeypatch.setenv("DEEPSEEK_BASE_URL", url)
    result = run("Hello?")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error INVALID_BASE_URL: " in result.stderr
    assert KEY not in result.output
    assert not Path("sessions").exists()
