"""Logs on disk: what one more event costs in a short log and in one of 1,000,000 events, and what a list reads."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from dsh_protocol.rows import Event, compress_frame, make_event
from dsh_protocol.store import LogReader, Store, list_sessions
from dsh_protocol.store._files import Files

from .cases import peak

Case = Callable[[Path], float]

_TIME = 1_700_000_000_000
_REPEATS = 300
_BATCH = 100
_HEADER = {"version": 4, "id": "bench", "createdAt": _TIME, "isSeeded": False, "delegationDepth": 0}
_NAMES = {"none": "session.v4.jsonl", "zstd": "session.v4.jsonl.zstd"}


def write_store(root: Path, events: int, *, compression: str) -> Path:
    """A store with one session of so many events of about 270 bytes, 100 to a batch; its log."""
    path = root / "_no-cwd" / "bench" / _NAMES[compression]
    path.parent.mkdir(parents=True)
    packed = compress_frame if compression == "zstd" else bytes
    header = json.dumps({"type": "session", **_HEADER}, separators=(",", ":"))
    rows = map(_row, range(events))
    with path.open("wb") as file:
        file.write(packed(f"{header}\n".encode()))
        while batch := b"".join(islice(rows, _BATCH)):
            file.write(packed(batch))
    return path


def _row(seq: int) -> bytes:
    return _event(seq).row_bytes() + b"\n"


def _event(seq: int) -> Event:
    note = f"{seq} " + "what is still to do " * 9
    return make_event("todo/write", seq, _TIME + seq, {"todos": [], "note": note})


class NoSync(Files):
    """Waiting for the disk takes as long as the disk takes, in a log of any length."""

    def sync(self, _fd: int) -> None:
        """Wait for nothing."""


def _store(log: Path) -> Store:
    compression = "zstd" if log.suffix == ".zstd" else "none"
    return Store(log.parents[2], compression, files=NoSync())  # type: ignore[arg-type]


def open_writer(log: Path) -> float:
    """CPU seconds of opening the log for writing: it is read to its end."""
    started = time.process_time()
    with _store(log).open_writer("bench") as writer:
        assert writer.count
    return time.process_time() - started


def append(log: Path) -> float:
    """CPU seconds of appending one event, without the wait for the disk."""
    return sum(seconds for seconds, _ in _steps(log)) / _REPEATS


def follow(log: Path) -> float:
    """CPU seconds of reading one event that was appended."""
    return sum(seconds for _, seconds in _steps(log)) / _REPEATS


def _steps(log: Path) -> Iterator[tuple[float, float]]:
    """Appends and reads events in turn; how long each of both took. The log is as before in the end."""
    size = log.stat().st_size
    with _store(log).open_writer("bench") as writer, LogReader(log) as reader:
        reader.skip_to_last(1)
        for _ in reader.read_all():
            pass
        for seq in range(writer.count, writer.count + _REPEATS):
            event = _event(seq)
            started = time.process_time()
            writer.append([event])
            appended = time.process_time()
            assert len(reader.read().events) == 1
            yield appended - started, time.process_time() - appended
    with log.open("rb+") as file:
        file.truncate(size)


def last_ten(log: Path) -> float:
    """CPU seconds of finding and reading the last ten events."""
    started = time.process_time()
    with LogReader(log) as reader:
        reader.skip_to_last(10)
        assert sum(len(batch.events) for batch in reader.read_all()) >= 10
    return time.process_time() - started


def store_memory(log: Path) -> float:
    """Bytes that opening for writing, appending and following add to the process at most."""
    before = peak()
    for _ in _steps(log):
        pass
    with LogReader(log) as reader:
        assert sum(len(batch.events) for batch in reader.read_all())
    return peak() - before


STORAGE: dict[str, Case] = {
    case.__name__: case for case in (open_writer, append, follow, last_ten, store_memory)
}


class _Counting(Files):
    taken = 0

    def read_at(self, fd: int, size: int, offset: int) -> bytes:
        data = super().read_at(fd, size, offset)
        self.taken += len(data)
        return data


def list_many(root: Path, log: Path, sessions: int) -> str:
    """List so many sessions, copies of one log, and say what that took."""
    body = log.read_bytes().split(b"\n", 1)[1]
    for number in range(sessions):
        session = f"s-{number}"
        header = json.dumps({"type": "session", **_HEADER, "id": session}, separators=(",", ":"))
        path = root / "_no-cwd" / session / log.name
        path.parent.mkdir(parents=True)
        path.write_bytes(header.encode() + b"\n" + body)
    files = _Counting()
    started = time.process_time()
    found = list_sessions(root, files=files).sessions
    seconds = time.process_time() - started
    assert [entry.verdict for entry in found] == ["current"] * sessions
    size = sum(entry.size or 0 for entry in found)
    shutil.rmtree(root)
    return f"{seconds * 1000:.0f} ms; {files.taken / 1e6:.1f} MB of {size / 1e6:.0f} MB were read"
