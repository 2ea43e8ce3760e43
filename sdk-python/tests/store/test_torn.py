"""A log cut at every byte of its last batch: what the next writer takes, and what it leaves on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import compressed
import pytest
import stores
import synthetic

from dsh_protocol.check import check_file
from dsh_protocol.findings import RefusedError
from dsh_protocol.reading import accept
from dsh_protocol.rows import open_log
from dsh_protocol.store import Store

Compression = Literal["none", "zstd"]


def stored_session(
    folder: Path, compression: Compression, last: int, text: str
) -> tuple[Path, int]:
    """A session of three events and a last batch; its path, and where the last batch begins."""
    with Store(folder, compression).create(stores.header()) as writer:
        writer.append(stores.events(0, 3))
        start = writer.path.stat().st_size
        writer.append(stores.events(3, last, text))
    return writer.path, start


def reopen(path: Path, compression: Compression) -> int:
    """Open the log, append an event, and give the number of events that were there before."""
    with Store(path.parents[2], compression).open_writer("s-1") as writer:
        count = writer.count
        # What the released reader would take is what the writer goes on behind.
        assert count == len(accept(open_log(path)).events)
        assert path.stat().st_size == writer.position.size  # type: ignore[union-attr]
        writer.append([stores.event(count, "after")])
    return count


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_every_byte_of_the_last_batch(tmp_path: Path, compression: Compression) -> None:
    path, start = stored_session(tmp_path, compression, 3, "Hi.")
    whole = path.read_bytes()
    full = stores.encoded(stores.events(0, 6))
    counts = set()
    for cut in range(start, len(whole) + 1):
        path.write_bytes(whole[:cut])
        count = reopen(path, compression)
        counts.add(count)
        assert 3 <= count <= 6
        assert stores.rows(path) == [*full[:count], stores.event(count, "after").row_bytes()]
        assert open_log(path).findings == []
        assert check_file(path).verdicts["readable"] is True
    assert {3, 6} <= counts


def test_a_large_torn_frame(tmp_path: Path) -> None:
    """Of a frame of several blocks, rows are recovered before it is complete; they become a frame of their own."""
    path, start = stored_session(tmp_path, "zstd", 600, "".join(map(chr, range(0x4E00, 0x5200))))
    whole = path.read_bytes()
    full = [row[:80] for row in stores.rows(path)]
    counts = []
    for cut in (*range(start + 7, len(whole), 4093), len(whole) - 1):
        path.write_bytes(whole[:cut])
        counts.append(reopen(path, "zstd"))
        rows = [row[:80] for row in stores.rows(path)]
        assert rows[:-1] == full[: counts[-1]]
        stats = open_log(path).stats
        assert stats["frames"] == (3 if counts[-1] == 3 else 4)
    assert counts == sorted(counts)
    assert len(set(counts)) > 2


def test_the_first_batch_has_no_torn_state(tmp_path: Path) -> None:
    """The first batch appears with its header or not at all, so a cut header is no session."""
    path, _ = stored_session(tmp_path, "none", 1, "Hi.")
    path.write_bytes(path.read_bytes()[:40])
    assert [entry.code for entry in Store(tmp_path, "none").list()] == ["header/missing"]


@pytest.mark.parametrize(
    ("tail", "count"),
    [
        (b'{"type":"todo/write","seq":8,"time":1,"da', 8),
        (b"garbage\n", 8),
        (b"garbage\n" + synthetic.line(synthetic.event(8, "todo/write", {"todos": []})), 8),
        (b"\n", 8),
        (synthetic.line(synthetic.event(9, "todo/write", {"todos": []})), 8),
        (
            synthetic.line(synthetic.event(8, "todo/write", {"todos": []}))
            + synthetic.line(synthetic.event(8, "todo/write", {"todos": []})),
            9,
        ),
        (synthetic.line(synthetic.event(8, "todo/write", {"todos": []}) | {"extra": 1}), 8),
        (synthetic.line(synthetic.event(8, "todo/write", {"todos": []})) + b'{"a":1', 9),
    ],
)
def test_rows_that_the_reader_drops_are_cut_off(tmp_path: Path, tail: bytes, count: int) -> None:
    path = tmp_path / "--w--" / "s-1" / "session.v4.jsonl"
    path.parent.mkdir(parents=True)
    synthetic.write_log(path, synthetic.events())
    path.write_bytes(path.read_bytes() + tail)
    assert reopen(path, "none") == count
    assert len(stores.rows(path)) == count + 1


def test_rows_far_behind_are_cut_at_their_byte(tmp_path: Path) -> None:
    """The bad row stands chunks behind the beginning, in the middle of one."""
    path = tmp_path / "--w--" / "s-1" / "session.v4.jsonl"
    path.parent.mkdir(parents=True)
    rows = [stores.event(seq, "x" * 1000).value for seq in range(4000)]
    synthetic.write_log(path, rows)
    lines = path.read_bytes().splitlines(keepends=True)
    bad = synthetic.line({**rows[3500], "seq": 3499})
    path.write_bytes(b"".join([*lines[:3501], bad, *lines[3502:]]))
    assert reopen(path, "none") == 3500
    assert path.read_bytes().startswith(b"".join(lines[:3501]))


@pytest.mark.parametrize(
    ("rows", "compression", "rule"),
    [
        (["garbage", synthetic.event(9, "turn/end", {})], "none", "storage/committed-history"),
        (["garbage"], "zstd", "storage/committed-frame"),
        ([synthetic.event(8, "no/such", {})], "none", "envelope/unknown-type"),
        ([synthetic.event(8, "tool/code-dispatch", {})], "none", "envelope/retired-type"),
        (
            [synthetic.event(8, "session/end-seed", {"inherited": True})],
            "none",
            "seed/marker-unseeded",
        ),
    ],
)
def test_a_refused_log_is_not_written(
    tmp_path: Path, rows: list[Any], compression: Compression, rule: str
) -> None:
    name = "session.v4.jsonl" + (".zstd" if compression == "zstd" else "")
    path = tmp_path / "--w--" / "s-1" / name
    path.parent.mkdir(parents=True)
    log = synthetic.log_bytes(synthetic.events())
    tail = b"".join(
        synthetic.line(row) if isinstance(row, dict) else row.encode() + b"\n" for row in rows
    )
    if compression == "zstd":
        path.write_bytes(b"".join([*compressed.frames(log), compressed.frame(tail)]))
    else:
        path.write_bytes(log + tail)
    before = path.read_bytes()
    with pytest.raises(RefusedError) as caught:
        Store(tmp_path, compression).open_writer("s-1")
    assert caught.value.code == rule
    with pytest.raises(RefusedError):
        accept(open_log(path))
    assert path.read_bytes() == before


def test_the_marker_of_a_seeded_log_behind_the_cut(tmp_path: Path) -> None:
    path = tmp_path / "--w--" / "s-1" / "session.v4.jsonl"
    path.parent.mkdir(parents=True)
    marker = synthetic.event(8, "session/end-seed", {"inherited": True})
    synthetic.write_log(path, [*synthetic.events(), marker], isSeeded=True, parentSession="p")
    assert reopen(path, "none") == 9
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:9], b"garbage\n", *lines[9:]]))
    with pytest.raises(RefusedError) as caught:
        Store(tmp_path, "none").open_writer("s-1")
    assert caught.value.code == "seed/marker-missing"


def test_a_frame_that_ends_inside_a_row(tmp_path: Path) -> None:
    path = tmp_path / "--w--" / "s-1" / "session.v4.jsonl.zstd"
    path.parent.mkdir(parents=True)
    log = synthetic.log_bytes(synthetic.events())
    head, rest = log[: log.index(b"\n") + 1], log[log.index(b"\n") + 1 :]
    path.write_bytes(b"".join(map(compressed.frame, (head, rest[:100], rest[100:]))))
    assert reopen(path, "zstd") == 8
    path.write_bytes(b"".join(map(compressed.frame, (head, rest[:-100]))))
    with pytest.raises(RefusedError) as caught:
        Store(tmp_path, "zstd").open_writer("s-1")
    assert caught.value.code == "storage/frame-boundary"


def test_the_recovered_rows_are_those_in_front_of_a_bad_one(tmp_path: Path) -> None:
    path = tmp_path / "--w--" / "s-1" / "session.v4.jsonl.zstd"
    path.parent.mkdir(parents=True)
    good = [json.dumps(stores.event(seq).value).encode() + b"\n" for seq in range(3)]
    batch = compressed.frame(b"".join([good[1], b"garbage\n", good[2]]))
    frames = [compressed.frame(synthetic.line(synthetic.header())), compressed.frame(good[0])]
    path.write_bytes(b"".join(frames) + batch[:-1])
    assert reopen(path, "zstd") == 2
    assert stores.rows(path)[:2] == [row[:-1] for row in good[:2]]
