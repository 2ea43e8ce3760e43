"""The measured pieces of work. Each runs in a fresh process and gives its CPU seconds (or a figure of another unit)."""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Case = Callable[[Path], float]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Register a piece of work under its name."""
    CASES[function.__name__] = function
    return function


def timed(work: Callable[[], Any]) -> float:
    """CPU seconds that the work takes in this process, imports excluded."""
    started = time.process_time()
    work()
    return time.process_time() - started


@case
def parse_json(log: Path) -> float:
    """The floor: read the file and parse each line with the standard library, collector paused."""
    gc.disable()

    def work() -> None:
        rows = [json.loads(line) for line in log.read_bytes().split(b"\n") if line]
        assert rows

    return timed(work)


@case
def open_all_messages(log: Path) -> float:
    """Open the log, fold it, derive every message of the last surface."""
    from dsh_protocol.reading import accept, open_session

    def work() -> None:
        state = accept(open_session(log)).state
        assert list(state.surface.messages())

    return timed(work)


@case
def open_last_request(log: Path) -> float:
    """Open the log, fold it, and derive the last hundred messages; other payloads stay undecoded."""
    from dsh_protocol.reading import accept, open_session

    def work() -> None:
        state = accept(open_session(log)).state
        nodes = list(state.surface.nodes)[-100:]
        assert [state.surface.message(seq) for seq in nodes]

    return timed(work)


@case
def full_check(log: Path) -> float:
    """Every row's schema, every rule, all findings."""
    from dsh_protocol.check import check_file

    def work() -> None:
        report = check_file(log)
        assert not report.findings, report.findings[:3]

    return timed(work)


@case
def validate_parsed(log: Path) -> float:
    """`Validator.findings` of each event, parsed before: what a schema costs beside parsing."""
    from dsh_protocol import Validator

    gc.disable()
    events = [json.loads(line) for line in _rows(log)]
    validator = Validator("session/v4/event")

    def work() -> None:
        assert not any(map(validator.findings, events))

    return timed(work)


@case
def validate_text(log: Path) -> float:
    """`Validator.findings_json` of each row: parsed as JavaScript does, its numbers and its schema looked at."""
    from dsh_protocol import Validator

    gc.disable()
    validator = Validator("session/v4/event")

    def work() -> None:
        assert not any(map(validator.findings_json, _rows(log)))

    return timed(work)


def _rows(log: Path) -> list[bytes]:
    return [line for line in log.read_bytes().split(b"\n")[1:] if line]


@case
def all_requests(log: Path) -> float:
    """Walk over all requests of the log, without writing their messages out."""
    from dsh_protocol.reading import accept, open_session
    from dsh_protocol.requests import iter_requests

    def work() -> None:
        accepted = accept(open_session(log))
        assert sum(1 for _ in iter_requests(accepted.log, events=accepted.events)) > 1

    return timed(work)


@case
def memory(log: Path) -> float:
    """Peak memory of opening and folding, over the size of the file; the interpreter and its imports taken off."""
    from dsh_protocol.reading import accept, open_session

    before = peak()
    state = accept(open_session(log)).state
    assert len(state.surface.nodes)
    return (peak() - before) / log.stat().st_size


def peak() -> int:
    """The most memory this process has had, in bytes (`getrusage` would give that of its parent before it)."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


@case
def check_process(log: Path) -> float:
    """The whole process that checks a small log."""
    command = [sys.executable, "-m", "dsh_protocol", "check", str(log), "--format", "json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
