"""Follow a growing log: each complete row once, whatever the pieces it arrives in, and a place to go on from."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import compressed
import pytest
import stores
import synthetic
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsh_protocol.findings import StorageError, UnsupportedFormatError
from dsh_protocol.rows import ReadLimits, open_log
from dsh_protocol.store import Batch, Cursor, LogReader, Store, StoreError
from dsh_protocol.store._files import Files

Compression = Literal["none", "zstd"]
NAMES = {"none": "session.v4.jsonl", "zstd": "session.v4.jsonl.zstd"}
EVENTS = stores.events(0, 12)


@pytest.fixture(params=["none", "zstd"])
def compression(request: pytest.FixtureRequest) -> Compression:
    value: Compression = request.param
    return value


def log_of(compression: str, per_batch: int = 3) -> bytes:
    log = synthetic.log_bytes([event.value for event in EVENTS])
    return b"".join(compressed.frames(log, per_batch)) if compression == "zstd" else log


def head_size(compression: str) -> int:
    log = synthetic.log_bytes([])
    return len(compressed.frame(log)) if compression == "zstd" else len(log)


def seqs(reader: LogReader) -> list[int]:
    """The numbers of the events that can be read now."""
    return [event.seq for batch in reader.read_all() for event in batch.events]


def code_of(work: Callable[[], Any]) -> str:
    with pytest.raises(StorageError) as caught:
        work()
    return caught.value.code


# ---- Growing ---------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(cuts=st.sets(st.integers(1, 2500), max_size=8), per_batch=st.integers(1, 5))
@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_rows_arrive_once_in_whatever_pieces(
    tmp_path_factory: pytest.TempPathFactory,
    compression: Compression,
    cuts: set[int],
    per_batch: int,
) -> None:
    path = tmp_path_factory.mktemp("log") / NAMES[compression]
    whole = log_of(compression, per_batch)
    start = head_size(compression)
    ends = sorted({start, len(whole), *(start + cut for cut in cuts if start + cut < len(whole))})
    path.write_bytes(whole[:start])
    same = LogReader(path)
    found, cursor = seqs(same), same.cursor
    resumed: list[int] = []
    for before, end in pairwise(ends):
        with path.open("ab") as file:
            file.write(whole[before:end])
        found += seqs(same)
        with LogReader(
            path, cursor=Cursor.from_json(json.loads(json.dumps(cursor.to_json())))
        ) as r:
            resumed += seqs(r)
            cursor = r.cursor
            assert cursor == same.cursor
        # Never ahead of what anybody who opens the file finds in complete rows and frames.
        complete = open_log(path)
        behind = (
            complete.stats["rows"]
            if complete.complete_lines is None
            else complete.complete_lines - 1
        )
        assert len(found) == behind
    same.close()
    assert found == resumed == list(range(12))


def test_what_a_batch_says(tmp_path: Path, compression: Compression) -> None:
    path = tmp_path / NAMES[compression]
    path.write_bytes(log_of(compression))
    with LogReader(path) as reader:
        assert (reader.header.id, reader.dialect.version) == ("s-1", 4)
        (batch,) = reader.read_all()
        assert [event.value for event in batch.events] == [event.value for event in EVENTS]
        assert [event.line for event in batch.events] == list(range(2, 14))
        assert (batch.findings, batch.more) == ([], False)
        assert (batch.cursor.line, batch.cursor.seq, batch.cursor.rows) == (13, 12, 0)
        assert batch.cursor.offset == path.stat().st_size
        assert reader.read() == Batch([], [], batch.cursor, False)


def test_a_bad_row_is_a_finding_and_the_next_row_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [synthetic.line(event.value) for event in EVENTS[:3]]
    path.write_bytes(b"".join([synthetic.log_bytes([]), rows[0], b"garbage\n", b"[]\n", rows[1]]))
    with LogReader(path) as reader:
        batch = reader.read()
        assert [(f.rule, f.line) for f in batch.findings] == [
            ("json/syntax", 3),
            ("envelope/object", 4),
        ]
        assert [(event.seq, event.line) for event in batch.events] == [(0, 2), (1, 5)]
        path.write_bytes(path.read_bytes() + rows[2])
        batch = reader.read()
        assert ([event.line for event in batch.events], batch.findings) == ([6], [])


def test_only_what_is_new_is_read(tmp_path: Path, compression: Compression) -> None:
    """One poll of a log of any length reads what has come since the last one, and a little in front of it."""

    class Counting(Files):
        taken = 0

        def read_at(self, fd: int, size: int, offset: int) -> bytes:
            data = super().read_at(fd, size, offset)
            self.taken += len(data)
            return data

    files = Counting()
    with Store(tmp_path, compression).create(stores.header()) as writer:
        writer.append(stores.events(0, 5000))
        with LogReader(writer.path, files=files) as reader:
            assert len(seqs(reader)) == 5000
            files.taken = 0
            for seq in range(5000, 5100):
                writer.append(stores.events(seq, 1))
                assert seqs(reader) == [seq]
            assert files.taken < 100 * 1000
            files.taken = 0
            for _ in range(100):
                assert seqs(reader) == []
            assert files.taken == 0


def test_memory_does_not_grow_with_the_log(tmp_path: Path, compression: Compression) -> None:
    with Store(tmp_path, compression).create(stores.header()) as writer:
        for start in range(0, 20_000, 1000):
            writer.append(stores.events(start, 1000, "x" * 200))
    peaks = []
    tracemalloc.start()
    with LogReader(writer.path) as reader:
        for batch in reader.read_all():
            del batch
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.reset_peak()
    tracemalloc.stop()
    assert len(peaks) > 2
    assert max(peaks) < 1.5 * peaks[0]


# ---- The last rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 5, 11, 12, 40])
@pytest.mark.parametrize("tail", [b"", b'{"type":'])
def test_the_last_rows(tmp_path: Path, compression: Compression, rows: int, tail: bytes) -> None:
    path = tmp_path / NAMES[compression]
    tail = compressed.frame(tail)[:-3] if tail and compression == "zstd" else tail
    path.write_bytes(log_of(compression, 2) + tail)
    with LogReader(path) as reader:
        reader.skip_to_last(rows)
        events = [event for batch in reader.read_all() for event in batch.events]
        assert len(events) >= min(rows, 12)
        assert [(e.seq, e.line) for e in events] == [
            (s, s + 2) for s in range(12 - len(events), 12)
        ]
        cursor = reader.cursor
        assert (cursor.line, cursor.seq) == (13, 12)
    if rows < 6:
        assert len(events) == (2 * rows if compression == "zstd" else rows)
    with LogReader(path, cursor=cursor) as reader:
        assert reader.read().events == []


def test_the_last_rows_of_a_long_log(tmp_path: Path, compression: Compression) -> None:
    """Of a plain log only the end is read; of a compressed one everything is looked at, and the end decompressed."""

    class Counting(Files):
        taken = 0

        def read_at(self, fd: int, size: int, offset: int) -> bytes:
            data = super().read_at(fd, size, offset)
            self.taken += len(data)
            return data

    with Store(tmp_path, compression).create(stores.header()) as writer:
        for start in range(0, 40_000, 50):
            writer.append(stores.events(start, 50, "x" * 60))
    files = Counting()
    with LogReader(writer.path, files=files) as reader:
        reader.skip_to_last(7)
        found = seqs(reader)
    size = 7 if compression == "none" else 7 * 50
    assert found == list(range(40_000 - size, 40_000))
    assert files.taken < (400_000 if compression == "none" else 5 << 20)


def test_the_last_rows_of_an_odd_log(tmp_path: Path) -> None:
    """When the place is not to be trusted, everything is read."""
    plain = tmp_path / "a.jsonl"
    rows = [synthetic.line(event.value) for event in EVENTS]
    plain.write_bytes(synthetic.log_bytes([]) + b"".join([*rows[:-2], b"garbage\n", *rows[-2:]]))
    with LogReader(plain) as reader:
        reader.skip_to_last(3)
        assert seqs(reader) == list(range(12))
    spanning = tmp_path / "b.zstd"
    log = synthetic.log_bytes([event.value for event in EVENTS])
    head = log.index(b"\n") + 1
    parts = [log[:head], *(log[i : i + 150] for i in range(head, len(log), 150))]
    spanning.write_bytes(b"".join(map(compressed.frame, parts)))
    with LogReader(spanning) as reader:
        reader.skip_to_last(3)
        assert seqs(reader) == list(range(12))


# ---- Torn ends -------------------------------------------------------------------------------------


def test_a_torn_end_waits_and_its_repair_is_seen(tmp_path: Path, compression: Compression) -> None:
    """A writer dies in its last batch; the next one repairs the log. A reader that watched sees each row once."""
    store = Store(tmp_path, compression)
    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 3))
        start = writer.path.stat().st_size
        writer.append(stores.events(3, 3))
    whole = writer.path.read_bytes()
    for cut in range(start, len(whole)):
        writer.path.write_bytes(whole[:cut])
        with LogReader(writer.path) as reader:
            found = seqs(reader)
            assert len(found) <= 5
            with store.open_writer("s-1") as again:
                again.append(stores.events(again.count, 6 - again.count))
                again.flush()
            found += seqs(reader)
        assert found == list(range(6))


def test_rows_that_span_frames(tmp_path: Path) -> None:
    """A frame may end inside a row as long as another one follows; the cursor stays in front of that row."""
    log = synthetic.log_bytes([event.value for event in EVENTS])
    head = log.index(b"\n") + 1
    parts = [log[:head], *(log[i : i + 150] for i in range(head, len(log), 150))]
    path = tmp_path / "a.zstd"
    path.write_bytes(compressed.frame(parts[0]))
    same = LogReader(path)
    found, resumed, cursor = seqs(same), list[int](), same.cursor
    for part in parts[1:]:
        with path.open("ab") as file:
            file.write(compressed.frame(part))
        found += seqs(same)
        with LogReader(path, cursor=cursor) as reader:
            resumed += seqs(reader)
            cursor = reader.cursor
        assert len(found) == len(resumed)
    same.close()
    assert found == resumed == list(range(12))


def test_a_row_of_more_than_a_chunk(tmp_path: Path, compression: Compression) -> None:
    """Such a row is taken as a whole once it is complete; one beyond the limit is passed over."""
    path = tmp_path / NAMES[compression]
    big = stores.events(0, 3, "x" * (3 << 20))
    log = synthetic.log_bytes([event.value for event in big])
    data = b"".join(compressed.frames(log, 1)) if compression == "zstd" else log
    path.write_bytes(data[: head_size(compression)])
    with LogReader(path) as reader:
        found, step = [], max(len(data) // 20, 100)
        for start in range(head_size(compression), len(data), step):
            with path.open("ab") as file:
                file.write(data[start : start + step])
            found += seqs(reader)
        assert found == [0, 1, 2]
    limits = ReadLimits(max_row_bytes=2 << 20)
    with LogReader(path, limits=limits) as reader:
        findings = [f for batch in reader.read_all() for f in batch.findings]
        assert [(f.rule, f.line) for f in findings] == [("storage/row-limit", n) for n in (2, 3, 4)]
        assert reader.cursor.line == 4


def test_a_damaged_frame(tmp_path: Path) -> None:
    """What stands in front of it is delivered first, and nothing of it ever."""
    frames = compressed.frames(synthetic.log_bytes([event.value for event in EVENTS]))
    frames[3] = frames[3][:-1] + bytes([frames[3][-1] ^ 1])
    path = tmp_path / "a.zstd"
    path.write_bytes(b"".join(frames))
    with LogReader(path) as reader:
        batch = reader.read()
        assert [event.seq for event in batch.events] == list(range(6))
        for _ in range(2):
            with pytest.raises(StorageError) as caught:
                reader.read()
            assert (caught.value.code, caught.value.line) == ("storage/frame-corrupt", 8)
        assert str(sum(map(len, frames[:3]))) in caught.value.message
    path.write_bytes(b"".join(frames[:3]) + b"no frame at all")
    with LogReader(path) as reader:
        assert len(reader.read().events) == 6
        assert code_of(reader.read) == "storage/frame-corrupt"


def test_a_frame_that_decompresses_without_end(tmp_path: Path) -> None:
    row = synthetic.line(synthetic.event(0, "todo/write", {"todos": []}))
    bomb = compressed.big_frame(row * 1000 for _ in range(300))
    path = tmp_path / "a.zstd"
    path.write_bytes(compressed.frame(synthetic.log_bytes([])) + bomb)
    with LogReader(path, limits=ReadLimits(max_log_bytes=10 << 20)) as reader:
        assert code_of(reader.read) == "storage/log-limit"


# ---- Logs that change under the reader -------------------------------------------------------------


@pytest.fixture
def read_log(tmp_path: Path, compression: Compression) -> Iterator[LogReader]:
    path = tmp_path / NAMES[compression]
    path.write_bytes(log_of(compression))
    with LogReader(path) as reader:
        assert len(seqs(reader)) == 12
        yield reader


def test_a_log_that_was_cut(read_log: LogReader) -> None:
    os.truncate(read_log.path, read_log.path.stat().st_size - 20)
    assert code_of(read_log.read) == "cursor/truncated"
    again = LogReader(read_log.path)
    assert len(seqs(again)) == (11 if not again.compressed else 9)
    assert code_of(lambda: LogReader(read_log.path, cursor=read_log.cursor)) == "cursor/truncated"


def test_a_log_that_was_cut_and_has_grown_again(read_log: LogReader) -> None:
    """As after a batch that was rolled back and followed by another one."""
    whole = read_log.path.read_bytes()
    os.truncate(read_log.path, len(whole) - 20)
    with read_log.path.open("ab") as file:
        file.write(b"another end of the log, longer than the one before")
    assert code_of(read_log.read) == "cursor/changed"
    assert code_of(lambda: LogReader(read_log.path, cursor=read_log.cursor)) == "cursor/changed"


def test_a_log_whose_end_was_written_anew(read_log: LogReader) -> None:
    """As long as before, with other bytes: a batch that was rolled back and followed by one of the same length."""
    whole = read_log.path.read_bytes()
    read_log.path.write_bytes(whole[:-9] + b"x" * 9)
    os.utime(read_log.path, ns=(0, 0))
    assert code_of(read_log.read) == "cursor/changed"


def test_a_log_that_was_replaced(read_log: LogReader) -> None:
    other = read_log.path.with_name("other")
    other.write_bytes(read_log.path.read_bytes())
    other.replace(read_log.path)
    assert code_of(read_log.read) == "cursor/replaced"
    # The new file has the same bytes, so the place is good in it.
    assert seqs(LogReader(read_log.path, cursor=read_log.cursor)) == []
    read_log.path.unlink()
    assert code_of(read_log.read) == "cursor/replaced"


def test_a_session_that_goes_on_in_a_newer_generation(tmp_path: Path) -> None:
    path = tmp_path / "session.v3.jsonl"
    synthetic.write_log(path, synthetic.events(3), version=3)
    waits = []

    def wait() -> None:
        waits.append(1)
        (tmp_path / "session.v4.jsonl").write_bytes(b"")

    with LogReader(path) as reader:
        batches = reader.follow(wait)
        assert len(next(batches).events) == 8
        with pytest.raises(StoreError, match=r"session\.v4\.jsonl") as caught:
            next(batches)
    assert (caught.value.code, waits) == ("cursor/superseded", [1])


@pytest.mark.parametrize(
    "change",
    [
        {"offset": 1},
        {"offset": -1},
        {"offset": True},
        {"offset": 1.5},
        {"line": 0, "rows": 3},
        {"rows": 1},
        {"anchor": 7},
        {"more": 1},
    ],
)
def test_a_cursor_that_is_none(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(log_of("none"))
    with LogReader(path) as reader:
        seqs(reader)
        value = reader.cursor.to_json() | change

    def resume() -> None:
        LogReader(path, cursor=Cursor.from_json(value)).read()

    assert code_of(resume) == "cursor/invalid"
    assert code_of(lambda: Cursor.from_json([])) == "cursor/invalid"


# ---- What is no log --------------------------------------------------------------------------------


def test_what_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert code_of(lambda: LogReader(path)) == "storage/unreadable"
    assert code_of(lambda: LogReader(tmp_path)) == "storage/unreadable"
    os.mkfifo(tmp_path / "pipe")
    assert code_of(lambda: LogReader(tmp_path / "pipe")) == "storage/unreadable"
    for content, code in (
        (b"", "storage/empty-file"),
        (b"{}", "header/missing"),
        (b"{}\n", "header/missing"),
        (b"x" * (2 << 20), "storage/row-limit"),
        (compressed.frame(b"{}"), "storage/frame-header"),
        (compressed.frame(log_of("none")), "storage/frame-header"),
        (compressed.frame(b"x" * (2 << 20)), "storage/frame-header"),
        (compressed.frame(b"{}\n")[:-1], "header/missing"),
        (log_of("zstd")[:5] + b"\xff" * 100, "storage/frame-corrupt"),
    ):
        path.write_bytes(content)
        assert code_of(lambda: LogReader(path)) == code, content[:20]
    path.write_bytes(synthetic.log_bytes([], version=5))
    with pytest.raises(UnsupportedFormatError):
        LogReader(path)
    wrong = tmp_path / "session.v3.jsonl"
    wrong.write_bytes(log_of("none"))
    assert code_of(lambda: LogReader(wrong)) == "storage/name-version"


def test_a_closed_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(log_of("none"))
    reader = LogReader(path)
    reader.close()
    reader.close()
    assert code_of(reader.read) == "store/handle-closed"
