"""Opening logs: recordings, limits, defects of rows and headers."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import compressed
import pytest
import synthetic

from dsh_protocol.findings import StorageError, UnsupportedFormatError
from dsh_protocol.rows import Log, ReadLimits, header_bytes, open_log, paused_gc
from dsh_protocol.rules import rules_off

RECORDINGS = Path(__file__).parents[2] / "conformance" / "recordings"
STORED = sorted(RECORDINGS.glob("v[34]/*/sessions/*/*/session.v*.jsonl"))
LOG = synthetic.log_bytes(synthetic.events())
HEADER, *ROWS = LOG.splitlines(keepends=True)


def test_there_are_recordings() -> None:
    assert len(STORED) >= 15


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.relative_to(RECORDINGS).parts[:2])
@pytest.mark.parametrize("zstd", [False, True], ids=["plain", "zstd"])
def test_a_recording_opens_and_gives_its_bytes_back(path: Path, zstd: bool) -> None:
    data = path.read_bytes()
    log = open_log(b"".join(compressed.frames(data))) if zstd else open_log(path)
    assert log.findings == []
    assert log.lossless_findings() == []
    assert log.stats["bytes"] == len(data)
    rows = [log.header.raw, *(event.row_bytes() for event in log.events)]
    assert b"\n".join(rows) + b"\n" == data
    assert header_bytes(log.header.logical) == log.header.raw
    assert [event.line for event in log.events] == list(range(2, len(rows) + 1))
    assert all(event.well_formed for event in log.events)


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.relative_to(RECORDINGS).parts[:2])
def test_the_last_rows_torn_at_every_byte(path: Path) -> None:
    data = path.read_bytes()
    lines = data.split(b"\n")[:-1]
    start = len(data) - len(lines[-1]) - len(lines[-2]) - 2
    for end in range(start, len(data)):
        log = open_log(data[:end])
        complete = data[:end].rfind(b"\n") + 1
        assert len(log.events) == data[:complete].count(b"\n") - 1
        torn = [(f.rule, f.severity, f.line) for f in log.findings]
        expected = [("storage/torn-tail", "warning", len(log.events) + 2)]
        assert torn == (expected if complete < end else [])
        assert log.stats["tornBytes"] == end - complete


def rows_of(log: Log) -> list[tuple[str, int | None, int | None, str]]:
    return [(f.rule, f.seq, f.line, f.path) for f in log.findings]


BAD_ROWS: dict[str, tuple[str, int | None, bytes]] = {
    "not JSON": ("json/syntax", None, b"garbage"),
    "two values": ("json/syntax", None, ROWS[3][:-1] * 2),
    "half a row": ("json/syntax", None, ROWS[3][:30]),
    "form feed": ("json/syntax", None, b"\x0c" + ROWS[3][:-1]),
    "zeros": ("json/syntax", None, bytes(100)),
    "NaN": ("json/syntax", None, ROWS[3].replace(b'"seq":3', b'"seq":NaN')[:-1]),
    "not UTF-8, outside a string": ("json/syntax", None, b"\xff" + ROWS[3][:-1]),
    "blank": ("storage/blank-row", None, b""),
    "white space": ("storage/blank-row", None, b" \t\r"),
    "array": ("envelope/object", None, b"[1]"),
    "null": ("envelope/object", None, b"null"),
    "number": ("envelope/object", None, b"7"),
    "deep": ("json/depth", None, b'{"data":' + b"[" * 512 + b"]" * 512 + b"}"),
    "very deep": ("json/depth", None, b"[" * 100_000 + b"]" * 100_000),
}


@pytest.mark.parametrize(("rule", "seq", "row"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_a_bad_row_is_left_out_and_the_others_go_on(rule: str, seq: int | None, row: bytes) -> None:
    log = open_log(HEADER + b"".join(ROWS[:3]) + row + b"\n" + b"".join(ROWS[4:]))
    assert rows_of(log) == [(rule, seq, 5, "")]
    assert [event.seq for event in log.events] == [0, 1, 2, 4, 5, 6, 7]
    assert [event.line for event in log.events] == [2, 3, 4, 6, 7, 8, 9]


def test_every_bad_row_is_reported() -> None:
    rows = [
        row
        for pair in zip(ROWS, BAD_ROWS.values(), strict=False)
        for row in (pair[0], pair[1][2] + b"\n")
    ]
    log = open_log(HEADER + b"".join(rows))
    assert [f.rule for f in log.findings] == [bad[0] for bad in BAD_ROWS.values()][:8]
    assert len(log.events) == 8


def test_bytes_that_are_not_utf8_are_replaced_and_reported() -> None:
    data = LOG.replace(b"Hi.", b"H\xffi\xe2\x80.")
    log = open_log(data)
    assert rows_of(log) == [("json/encoding", 3, 5, "")]
    event = log.events[3]
    assert f"byte {event.raw.index(255)}" in log.findings[0].message
    # As the released reader decodes them: one replacement for each part that begins no character.
    assert event.data["content"][0]["text"] == "H\ufffdi\ufffd."
    assert event.row_bytes() + b"\n" == ROWS[3].replace(b"Hi.", b"H\xffi\xe2\x80.")
    assert event.well_formed
    assert open_log(data.replace(b"s-1", b"s\xff")).header.id == "s\ufffd"


@pytest.mark.parametrize("text", ["\u2028", "\u0085", "\\ud83d", "😀", "\\u0000", "\x7f"])
def test_odd_characters_survive(text: str) -> None:
    log = open_log(LOG.replace(b"Hi.", text.encode()))
    assert log.findings == []
    assert log.events[3].data["content"][0]["text"] == json.loads(f'"{text}"')
    assert log.events[3].well_formed


def test_carriage_returns_are_white_space() -> None:
    log = open_log(LOG.replace(b"\n", b"\r\n"))
    assert log.findings == []
    assert [event.row_bytes() for event in log.events] == [row[:-1] + b"\r" for row in ROWS]


def test_a_row_at_the_depth_limit() -> None:
    row = b'{"type":"turn/start","seq":0,"time":1,"data":' + b"[" * 511 + b"]" * 511 + b"}\n"
    log = open_log(HEADER + row)
    assert log.findings == []
    value: Any = log.events[0].data
    for _ in range(510):
        (value,) = value
    assert value == []
    deeper = row.replace(b"[" * 511, b"[" * 800).replace(b"]" * 511, b"]" * 800)
    log = open_log(HEADER + deeper, limits=ReadLimits(max_depth=900))
    assert log.findings == []
    assert log.events[0].data is not None
    log = open_log(HEADER + deeper, limits=ReadLimits(max_depth=900))
    log.decode_payloads()
    assert rows_of(open_log(HEADER + row, limits=ReadLimits(max_depth=511))) == [
        ("json/depth", None, 2, "")
    ]


def test_numbers_that_do_not_survive_are_named() -> None:
    data = LOG.replace(b'"turn":1}', b'"turn":1,"x":[-0,1e999,{"a/b":-0.0}]}', 1)
    log = open_log(data)
    assert log.findings == []
    expected = [
        ("json/negative-zero", 0, 2, "/data/x/0"),
        ("json/finite", 0, 2, "/data/x/1"),
        ("json/negative-zero", 0, 2, "/data/x/2/a~1b"),
    ]
    for _ in range(2):  # When nothing is decoded yet, and when all is.
        found = log.lossless_findings()
        assert [(f.rule, f.seq, f.line, f.path) for f in found] == expected
    with rules_off("json/finite"):
        assert len(log.lossless_findings()) == 2


# ---- Limits ----------------------------------------------------------------------------------------


def test_a_long_row_is_passed_over() -> None:
    long = ROWS[3].replace(b"Hi.", b"x" * 2000)
    log = open_log(
        HEADER + b"".join(ROWS[:3]) + long + b"".join(ROWS[4:]),
        limits=ReadLimits(max_row_bytes=len(long) - 2),
    )
    assert rows_of(log) == [("storage/row-limit", None, 5, "")]
    assert [event.seq for event in log.events] == [0, 1, 2, 4, 5, 6, 7]
    assert open_log(HEADER + long, limits=ReadLimits(max_row_bytes=len(long) - 1)).findings == []


def test_a_long_torn_row_is_a_long_row() -> None:
    log = open_log(LOG + b"x" * 500, limits=ReadLimits(max_row_bytes=400))
    assert rows_of(log) == [("storage/row-limit", None, 10, "")]


def test_a_row_of_200_mb_is_never_held(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(LOG + b'{"x":"')
        file.seek(200 * 1024 * 1024, os.SEEK_CUR)
        file.write(b'"}\n' + ROWS[0])
    log = open_log(path)
    assert rows_of(log) == [("storage/row-limit", None, 10, "")]
    assert len(log.events) == 9


@pytest.mark.parametrize("data", [b"x" * 5000, b"x" * 5000 + b"\n" + LOG])
def test_a_long_header_line_is_no_log(data: bytes) -> None:
    with pytest.raises(StorageError) as caught:
        open_log(data, limits=ReadLimits(max_row_bytes=1000))
    assert caught.value.code == "storage/row-limit"


def test_a_log_beyond_the_limit_is_refused() -> None:
    cost = len(LOG) + 256 * 9
    assert open_log(LOG, limits=ReadLimits(max_log_bytes=cost)).findings == []
    with pytest.raises(StorageError) as caught:
        open_log(LOG, limits=ReadLimits(max_log_bytes=cost - 1))
    assert caught.value.code == "storage/log-limit"


def test_findings_beyond_the_limit_are_counted() -> None:
    log = open_log(LOG + b"\n" * 50, limits=ReadLimits(max_findings=20))
    assert len(log.findings) == 20
    assert log.stats["omittedFindings"] == 30


@pytest.mark.parametrize(
    "pairs", [b"[[0,9007199254740990]]", b"[[0,1],[2,9007199254740990]]", b"[[0,9007199254740991]]"]
)
def test_a_pair_may_not_name_more_events_than_there_are(pairs: bytes) -> None:
    row = b'{"type":"tool/result","seq":9007199254740991,"time":1,"data":{},"sourceEventSeqs":%s,"surfaceOp":"append"}\n'
    log = open_log(HEADER + row % pairs)
    assert [f.rule for f in log.findings] == ["envelope/source-seqs-encoding"]
    assert len(log.events[0].value.get("sourceEventSeqs", [])) <= 2  # type: ignore[arg-type]


# ---- Headers ---------------------------------------------------------------------------------------


def header(**changes: Any) -> bytes:
    return synthetic.line(synthetic.header(**changes))


def edited(old: bytes, new: bytes) -> bytes:
    assert old in HEADER
    return HEADER.replace(old, new)


UNUSABLE: dict[str, tuple[bytes, str, str]] = {
    "nothing": (b"", "storage/empty-file", ""),
    "no line feed": (HEADER[:-1], "header/missing", ""),
    "blank line first": (b"\n" + LOG, "header/missing", ""),
    "byte order mark": (b"\xef\xbb\xbf" + LOG, "storage/byte-order-mark", ""),
    "UTF-16": (LOG.decode().encode("utf-16-le"), "header/missing", ""),
    "not JSON": (b"hello\n", "header/missing", ""),
    "array": (b"[]\n", "header/missing", ""),
    "deep": (b"[" * 1000 + b"]" * 1000 + b"\n", "header/missing", ""),
    "event": (ROWS[0], "header/missing", ""),
    "no type": (edited(b'"type":"session",', b""), "header/missing", ""),
    "no version": (edited(b'"version":4,', b""), "header/version", ""),
    "version text": (header(version="4"), "header/version", "/version"),
    "version null": (header(version=None), "header/version", "/version"),
    "version true": (header(version=True), "header/version", "/version"),
    "version negative": (header(version=-1), "header/version", "/version"),
    "version minus zero": (edited(b'n":4', b'n":-0'), "header/version", "/version"),
    "version fractional": (header(version=4.5), "header/version", "/version"),
    "version infinite": (edited(b'n":4', b'n":1e400'), "header/version", "/version"),
    "retired member": (header(sandboxMode="x", y=1), "header/retired-member", "/sandboxMode"),
    "other retired member": (header(approvalPolicy=1), "header/retired-member", "/approvalPolicy"),
    "unknown member": (header(**{"a/b": 1}), "header/unknown-member", "/a~1b"),
    "seedLength": (header(seedLength=0), "header/unknown-member", "/seedLength"),
    "no id": (edited(b'"id":"s-1",', b""), "header/member", ""),
    "id number": (header(id=1), "header/member", "/id"),
    "createdAt negative": (header(createdAt=-1), "header/member", "/createdAt"),
    "createdAt fractional": (header(createdAt=1.5), "header/member", "/createdAt"),
    "cwd relative": (header(cwd="w"), "header/member", "/cwd"),
    "cwd empty": (header(cwd=""), "header/member", "/cwd"),
    "cwd null": (header(cwd=None), "header/member", "/cwd"),
    "parent null": (header(parentSession=None), "header/member", "/parentSession"),
    "isSeeded number": (header(isSeeded=0), "header/member", "/isSeeded"),
    "origin user": (header(origin="user"), "header/member", "/origin"),
    "no depth": (edited(b',"delegationDepth":0', b""), "header/member", ""),
    "depth minus zero": (edited(b'h":0', b'h":-0'), "header/member", "/delegationDepth"),
    "preset number": (header(agentPreset=1), "header/member", "/agentPreset"),
}


@pytest.mark.parametrize(("data", "code", "path"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_what_is_no_log_has_a_code(data: bytes, code: str, path: str) -> None:
    with pytest.raises(StorageError) as caught:
        open_log(data)
    assert (caught.value.code, caught.value.path) == (code, path)
    assert caught.value.fix
    with rules_off(code):
        try:
            open_log(data)
        except StorageError as error:
            other = error.code
            assert other != code


@pytest.mark.parametrize(
    ("version", "code"),
    [(0, "older"), (1, "older"), (2, "older"), (5, "newer"), (99, "newer"), (2**53, "newer")],
)
def test_other_generations_are_told_before_anything_else(version: int, code: str) -> None:
    with pytest.raises(UnsupportedFormatError) as caught:
        open_log(synthetic.line({"type": "session", "version": version, "other": 1}))
    assert caught.value.code == f"header/{code}-format"
    assert caught.value.version == version


def test_what_a_header_says() -> None:
    line = (
        b'{"agentPreset":"","version":3.0,"type":"session","id":"a","createdAt":0,"cwd":"C:\\\\w",'
        b'"parentSession":"p","isSeeded":true,"origin":"subagent","delegationDepth":2}'
    )
    log = open_log(line + b"\n")
    found = log.header
    assert (found.version, found.id, found.created_at, found.cwd) == (3, "a", 0, "C:\\w")
    assert (found.parent_session, found.is_seeded, found.origin) == ("p", True, "subagent")
    assert (found.delegation_depth, found.agent_preset) == (2, "")
    assert found.raw == line
    assert log.dialect.version == 3
    assert log.stats["events"] == 0
    assert header_bytes(found.logical) == (
        b'{"type":"session","version":3,"id":"a","createdAt":0,"cwd":"C:\\\\w","parentSession":"p",'
        b'"isSeeded":true,"origin":"subagent","delegationDepth":2,"agentPreset":""}'
    )
    with pytest.raises(StorageError) as caught:
        header_bytes(found.logical | {"origin": "user"})
    assert caught.value.code == "header/member"


# ---- Files -----------------------------------------------------------------------------------------


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_broken_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def make_loop(path: Path) -> None:
    path.symlink_to(path)


def make_nothing(path: Path) -> None:
    del path


@pytest.mark.parametrize(
    "make", [make_pipe, make_folder, make_broken_link, make_loop, make_nothing]
)
def test_what_is_no_regular_file_is_unreadable(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "a.jsonl"
    make(path)
    with pytest.raises(StorageError) as caught:
        open_log(path)
    assert caught.value.code == "storage/unreadable"


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "a\0b", "a/" * 3000])
def test_other_paths_are_unreadable(path: str) -> None:
    with pytest.raises(StorageError) as caught:
        open_log(path)
    assert caught.value.code == "storage/unreadable"


def test_a_linked_file_is_read(tmp_path: Path) -> None:
    synthetic.write_log(tmp_path / "a.jsonl", synthetic.events())
    (tmp_path / "b.jsonl").symlink_to("a.jsonl")
    assert len(open_log(str(tmp_path / "b.jsonl")).events) == 8


# ---- Garbage collection ----------------------------------------------------------------------------


@pytest.fixture
def collecting() -> Iterator[None]:
    was_enabled = gc.isenabled()
    yield
    assert gc.isenabled() == was_enabled
    gc.enable()


@pytest.mark.usefixtures("collecting")
def test_the_collector_is_left_as_it_was() -> None:
    with paused_gc():
        assert not gc.isenabled()
        open_log(LOG)
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(StorageError):
        open_log(b"x\n")
    assert gc.isenabled()
