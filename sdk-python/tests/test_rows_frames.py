"""Compressed logs: frames found by their headers, torn and damaged ones, and bombs."""

from __future__ import annotations

import compressed
import pytest
import synthetic
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_protocol.findings import StorageError
from dsh_protocol.rows import Log, ReadLimits, open_log
from dsh_protocol.rows._frames import MAGIC, scan

LOG = synthetic.log_bytes(synthetic.events())
HEADER, *ROWS = LOG.splitlines(keepends=True)
FRAMES = compressed.frames(LOG)
"""The header, rows 0 to 2, rows 3 to 5, rows 6 and 7."""
STORED = b"".join(FRAMES)
NAME = "session.v4.jsonl.zstd"


def opened(data: bytes, limits: ReadLimits | None = None) -> Log:
    return open_log(data, name=NAME, limits=limits)


def rules(log: Log) -> list[str]:
    return [finding.rule for finding in log.findings]


def refused(data: bytes, limits: ReadLimits | None = None) -> str:
    with pytest.raises(StorageError) as caught:
        opened(data, limits)
    return caught.value.code


@pytest.mark.parametrize("rows_per_frame", [1, 2, 8])
@pytest.mark.parametrize("checksum", [True, False])
def test_a_whole_log(rows_per_frame: int, checksum: bool) -> None:
    batches = [ROWS[i : i + rows_per_frame] for i in range(0, 8, rows_per_frame)]
    contents = [HEADER, *(b"".join(batch) for batch in batches)]
    data = b"".join(compressed.frame(content, checksum=checksum) for content in contents)
    log = opened(data)
    assert log.findings == []
    assert [event.raw + b"\n" for event in log.events] == ROWS
    assert log.complete_lines == 9
    assert log.stats["frames"] == len(contents)
    assert log.stats["bytes"] == len(LOG)


def test_content_decides_under_a_name_of_ones_own() -> None:
    assert open_log(STORED).stats["compression"] == "zstd"
    assert open_log(LOG).stats["compression"] == "none"
    assert open_log(LOG, name="a.jsonl.zstd").stats["compression"] == "none"
    assert refused(LOG) == "storage/frame-corrupt"
    with pytest.raises(StorageError):
        open_log(STORED, name="session.v4.jsonl")


def test_scan_finds_each_frame_by_its_header() -> None:
    # Magic bytes inside a frame begin nothing: this text is stored as it is.
    noise = bytes(range(256)) + MAGIC * 3
    parts = [*FRAMES, compressed.frame(noise, checksum=False), compressed.frame(b"")]
    layout = scan(b"".join(parts))
    assert layout.torn is None
    assert layout.damage is None
    starts = [sum(map(len, parts[:i])) for i in range(len(parts))]
    assert [(f.start, f.end - f.start) for f in layout.frames] == [
        (start, len(part)) for start, part in zip(starts, parts, strict=True)
    ]


def test_the_bound_of_a_frame_is_never_below_its_content() -> None:
    for content in (b"", b"a", bytes(range(256)) * 9000, b"\0" * 5_000_000):
        (frame,) = scan(compressed.frame(content)).frames
        assert frame.bound >= len(content)


@pytest.mark.parametrize("cut", range(1, len(FRAMES[-1])))
def test_a_last_frame_torn_anywhere(cut: int) -> None:
    log = opened(STORED[: len(STORED) - cut])
    # The frame has one block, which can be decoded once all but the checksum is there.
    recovered = 2 if cut <= 4 else 0
    assert [event.seq for event in log.events] == list(range(6 + recovered))
    (finding,) = log.findings
    assert (finding.rule, finding.severity, finding.line) == ("storage/torn-frame", "warning", 8)
    offset = len(STORED) - len(FRAMES[-1])
    assert f"byte {offset}; {recovered} complete rows" in finding.message
    assert log.complete_lines == 7
    assert log.stats["tornBytes"] == len(FRAMES[-1]) - cut


def test_complete_rows_of_a_long_torn_frame_are_kept() -> None:
    rows = [
        synthetic.line(synthetic.event(n, "todo/write", {"todos": [], "n": n * n}))
        for n in range(9000)
    ]
    body = compressed.frame(b"".join(rows))
    log = opened(compressed.frame(HEADER) + body[: len(body) // 2])
    assert rules(log) == ["storage/torn-frame"]
    assert 500 < len(log.events) < 9000
    assert [event.raw + b"\n" for event in log.events] == rows[: len(log.events)]


@pytest.mark.parametrize("length", range(len(FRAMES[0])))
def test_a_torn_header_frame_leaves_no_log(length: int) -> None:
    assert refused(STORED[:length]) == ("header/missing" if length else "storage/empty-file")


@pytest.mark.parametrize("tail", [b"\0", MAGIC[:3], b"abc", MAGIC])
def test_less_than_a_frame_header_is_a_torn_frame(tail: bytes) -> None:
    log = opened(STORED + tail)
    assert (rules(log), len(log.events)) == (["storage/torn-frame"], 8)


def flipped(data: bytes, index: int) -> bytes:
    changed = bytearray(data)
    changed[index] ^= 0xFF
    return bytes(changed)


def with_bits(data: bytes, index: int, mask: int) -> bytes:
    changed = bytearray(data)
    changed[index] |= mask
    return bytes(changed)


SKIPPABLE = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
DAMAGED = {
    "checksum": flipped(FRAMES[2], -1),
    "content": flipped(FRAMES[2], len(FRAMES[2]) // 2),
    "reserved bit": with_bits(FRAMES[2], 4, 0b1000),
    "unused bit": with_bits(FRAMES[2], 4, 0b10000),
    "block type": with_bits(FRAMES[2], 6, 0b110),
    "skippable frame": SKIPPABLE,
    "zeros": bytes(64),
}


@pytest.mark.parametrize("frame", DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_frame_ends_the_log(frame: bytes) -> None:
    good = FRAMES[0] + FRAMES[1]
    for rest in (b"", FRAMES[3]):
        log = opened(good + frame + rest)
        assert [event.seq for event in log.events] == [0, 1, 2]
        (finding,) = log.findings
        assert (finding.rule, finding.severity) == ("storage/frame-corrupt", "error")
        assert f"byte {len(good)} " in finding.message
    assert refused(frame + STORED) == "storage/frame-corrupt"


@pytest.mark.parametrize("name", ["reserved bit", "block type"])
def test_damage_is_seen_before_tearing(name: str) -> None:
    log = opened(b"".join(FRAMES[:2]) + DAMAGED[name][:12])
    assert rules(log) == ["storage/frame-corrupt"]


@pytest.mark.parametrize(
    "first",
    [
        [HEADER + ROWS[0]],
        [HEADER[:20], HEADER[20:]],
        [b"", HEADER],
        [HEADER + ROWS[0][:5], ROWS[0][5:]],
    ],
)
def test_the_first_frame_is_the_header_line(first: list[bytes]) -> None:
    log = opened(b"".join(map(compressed.frame, first)))
    assert rules(log) == ["storage/frame-header"]


def test_a_row_may_span_two_frames_but_not_the_last_one() -> None:
    row = ROWS[0]
    halves = [compressed.frame(row[:9]), compressed.frame(row[9:])]
    log = opened(b"".join([FRAMES[0], *halves]))
    assert (log.findings, len(log.events)) == ([], 1)
    offset = len(FRAMES[0])
    for rest in (b"", MAGIC, halves[1][:-4]):
        log = opened(FRAMES[0] + halves[0] + rest)
        (finding, *_) = log.findings
        assert (finding.rule, finding.line) == ("storage/frame-boundary", 2)
        assert f"byte {offset} " in finding.message


def test_a_bad_row_is_told_from_a_torn_one_by_its_line() -> None:
    log = opened(b"".join(FRAMES[:2]) + compressed.frame(b"garbage\n") + FRAMES[3][:-4])
    assert rules(log) == ["json/syntax", "storage/torn-frame"]
    assert log.findings[0].line == 5
    assert log.complete_lines == 5


SMALL = ReadLimits(max_row_bytes=1 << 20, max_log_bytes=8 << 20)


def test_a_bomb_of_one_row_is_refused() -> None:
    bomb = compressed.big_frame(b"a" * (1 << 20) for _ in range(64))
    assert len(bomb) < 10_000
    assert refused(FRAMES[0] + bomb, SMALL) == "storage/log-limit"
    assert refused(bomb, SMALL) == "storage/row-limit"


@pytest.mark.parametrize("row", [b"{}\n", b"\n", b"1\n", ROWS[0]])
def test_a_bomb_of_rows_is_refused(row: bytes) -> None:
    bomb = compressed.big_frame(row * 10_000 for _ in range(200))
    assert refused(FRAMES[0] + bomb, SMALL) == "storage/log-limit"


def test_a_compressed_file_beyond_the_limit_is_not_read() -> None:
    assert refused(STORED * 200, ReadLimits(max_log_bytes=20_000)) == "storage/log-limit"


@given(st.binary(max_size=60), st.integers(0, len(STORED)), st.integers(0, 40))
@settings(max_examples=300, deadline=None)
def test_any_change_gives_a_log_or_an_error(junk: bytes, place: int, removed: int) -> None:
    try:
        log = opened(STORED[:place] + junk + STORED[place + removed :])
    except StorageError:
        return
    for event in log.events:
        assert event.value is not None
