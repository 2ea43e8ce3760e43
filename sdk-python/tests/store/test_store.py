"""A store from the outside: where things lie, who may write, and what is refused with which code."""

from __future__ import annotations

import ast
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import compressed
import pytest
import stores
import synthetic
from recorded import recorded

from dsh_protocol.findings import RefusedError, StorageError, UnsupportedFormatError, UsageError
from dsh_protocol.reading import accept
from dsh_protocol.rows import Event, open_log
from dsh_protocol.store import CODES, Store, StoreError
from dsh_protocol.store import __file__ as store_file
from dsh_protocol.store._files import Files

COMPRESSIONS: tuple[Literal["none", "zstd"], ...] = ("none", "zstd")


@pytest.fixture(params=COMPRESSIONS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return Store(tmp_path / "sessions", request.param)


def code_of(work: Callable[[], Any]) -> str:
    with pytest.raises(StorageError) as caught:
        work()
    return caught.value.code


# ---- Layout ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compression", "name"), [("none", "session.v4.jsonl"), ("zstd", "session.v4.jsonl.zstd")]
)
def test_where_a_session_lies(
    tmp_path: Path, compression: Literal["none", "zstd"], name: str
) -> None:
    store = Store(tmp_path / "deep" / "root", compression)
    with store.create(stores.header(id="a/b..~é", cwd="/home/u/my proj:x")) as writer:
        writer.append(stores.events(0, 2))
    # Both names are the ones that the official backend gave this id and this working directory.
    path = store.root / "--home-u-my~0020proj-x--" / "a~002Fb..~007E~00E9" / name
    assert writer.path == path
    assert sorted(p.name for p in path.parent.iterdir()) == ["session.lock", name]
    assert path.with_name("session.lock").read_bytes() == b""
    assert [stat.S_IMODE(os.stat(p).st_mode) for p in (path, path.parent, path.parents[1])] == [
        0o600,
        0o700,
        0o700,
    ]


def test_a_created_session_is_nowhere_until_it_is_written(store: Store) -> None:
    writer = store.create(stores.header())
    assert not store.root.exists()
    assert store.list() == []
    assert code_of(lambda: store.open_reader("s-1")) == "store/not-found"
    assert code_of(writer.read) == "store/not-found"
    writer.flush()
    writer.flush()
    assert (writer.count, stores.rows(writer.path)) == (0, [])
    assert store.open_reader("s-1").read().events == []
    writer.close()


def test_the_bytes_of_a_plain_log(tmp_path: Path) -> None:
    """The released form: the header, then each row, every one with its LF."""
    events = synthetic.events()
    with Store(tmp_path, "none").create(stores.header()) as writer:
        writer.append([Event.from_value(row) for row in events[:3]])
        writer.append([Event.from_value(row) for row in events[3:]])
    assert writer.path.read_bytes() == synthetic.log_bytes(events)


def test_the_frames_of_a_compressed_log(tmp_path: Path) -> None:
    """The header line is a frame, each batch is one; a checksum, no content size, as the released runtime writes."""
    with Store(tmp_path).create(stores.header()) as writer:
        writer.append(stores.events(0, 3))
        writer.append(stores.events(3, 1))
    lines = synthetic.log_bytes([e.value for e in stores.events(0, 4)]).splitlines(keepends=True)
    batches = [b"".join(part) for part in (lines[:1], lines[1:4], lines[4:])]
    assert writer.path.read_bytes() == b"".join(map(compressed.frame, batches))
    # Bits of the descriptor (RFC 8878, 3.1.1.1.1): checksum flag set, no content size, no dictionary.
    assert writer.path.read_bytes()[4] == 0b100


def test_ranges_of_citations_are_stored_as_ranges(tmp_path: Path) -> None:
    row = synthetic.replacement(4, 0, 3, [0, 1, 2, 3])
    with Store(tmp_path, "none").create(stores.header()) as writer:
        writer.append([*stores.events(0, 4), Event.from_value(row)])
    assert b'"sourceEventSeqs":[[0,3]]' in writer.path.read_bytes()


def test_recorded_rows_are_stored_as_they_were(tmp_path: Path) -> None:
    for place, entry in enumerate(recorded()):
        log = open_log(entry.log)
        # The recordings in a store of their own, each in one batch.
        store = Store(tmp_path / str(place), "none")
        with store.create(log.header) as writer:
            writer.append(log.events)
        rows = [log.header.raw, *(e.raw for e in log.events)]
        assert writer.path.read_bytes() == b"".join(row + b"\n" for row in rows)


# ---- Appending -------------------------------------------------------------------------------------


def test_append_and_read_back(store: Store) -> None:
    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 1))
        writer.append([])
        writer.append(stores.events(1, 4))
        assert writer.count == 5
        assert writer.read().state.next_seq == 5
    with store.open_writer("s-1") as writer:
        assert (writer.count, writer.id, writer.access) == (5, "s-1", "write")
        writer.append(stores.events(5, 2))
    assert stores.rows(writer.path) == stores.encoded(stores.events(0, 7))
    assert accept(open_log(writer.path)).warnings == ()


@pytest.mark.parametrize("seq", [0, 2, 4, 7])
def test_numbers_go_on_where_the_log_ends(store: Store, seq: int) -> None:
    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 3))
        with pytest.raises(StoreError) as caught:
            writer.append(stores.events(seq, 2))
        assert caught.value.code == "store/not-contiguous"
        assert caught.value.details == {"id": "s-1", "expected": 3, "found": seq}
        writer.append(stores.events(3, 1))
    assert len(stores.rows(writer.path)) == 4


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"type": "todo/wrote"}, "envelope/unknown-type"),
        ({"extra": 1}, "envelope/unknown-member"),
        ({"time": 0.5}, "envelope/time"),
        ({"surfaceOp": "append"}, "surface/op-forbidden"),
        ({"ignorable": False}, "envelope/ignorable"),
        ({"data": {"x": float("inf")}}, "json/finite"),
        ({"data": {"x": -0.0}}, "json/negative-zero"),
        ({"type": "user/message"}, "surface/op-missing"),
        ({"type": "user/message", "surfaceOp": "append", "sourceEventSeqs": [9]}, None),
    ],
)
def test_a_row_that_would_end_the_log_is_refused(
    store: Store, change: dict[str, Any], rule: str | None
) -> None:
    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 2))
        before = writer.path.read_bytes()
        bad = Event.from_value(synthetic.event(3, "todo/write", {"todos": []}) | change)
        with pytest.raises(RefusedError) as caught:
            writer.append([*stores.events(2, 1), bad])
        assert {finding.rule for finding in caught.value.findings} == {
            rule or "surface/sources-earlier"
        }
        assert writer.path.read_bytes() == before
        writer.append(stores.events(2, 1))


def test_a_row_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    from dsh_protocol.rows import ReadLimits

    store = Store(tmp_path, limits=ReadLimits(max_row_bytes=400))
    with store.create(stores.header()) as writer:
        assert code_of(lambda: writer.append([stores.event(0, "x" * 400)])) == "store/row-limit"
        writer.append(stores.events(0, 1))


def test_plugin_records_are_kept(store: Store) -> None:
    row = synthetic.event(0, "plugin:acme/note", {"x": 1}, ignorable=True)
    with store.create(stores.header()) as writer:
        writer.append([Event.from_value(row)])
    assert store.open_reader("s-1").read().events[0].value == row


def test_a_format_3_session(store: Store) -> None:
    with store.create(stores.header(3)) as writer:
        writer.append([Event.from_value(row) for row in synthetic.events(3)])
    assert writer.path.name.startswith("session.v3.jsonl")
    with store.open_writer("s-1") as writer:
        assert writer.count == 8


def test_short_writes_are_continued(tmp_path: Path) -> None:
    for most in (1, 7):
        store = Store(tmp_path / str(most), files=stores.ShortWrites(most))
        with store.create(stores.header()) as writer:
            writer.append(stores.events(0, 3))
            writer.append(stores.events(3, 3))
        assert stores.rows(writer.path) == stores.encoded(stores.events(0, 6))


# ---- Who may write ---------------------------------------------------------------------------------


def test_a_second_writer_is_refused(store: Store) -> None:
    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 1))
        assert code_of(lambda: store.open_writer("s-1")) == "store/already-owned"
        other = Store(store.root, store.compression)
        assert code_of(lambda: other.open_writer("s-1")) == "store/already-owned"
    store.open_writer("s-1").close()


def test_a_second_process_is_refused(store: Store) -> None:
    script = (
        "import sys; from dsh_protocol.store import Store, StoreError\n"
        "try: Store(sys.argv[1], sys.argv[2]).open_writer('s-1')\n"
        "except StoreError as error: print(error.code)\n"
        "else: print('opened')"
    )
    command = [sys.executable, "-c", script, str(store.root), store.compression]

    def other() -> str:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 1))
        assert other() == "store/already-owned"
    assert other() == "opened"


@pytest.mark.parametrize("kind", ["directory", "loop", "dangling"])
def test_a_lock_that_cannot_be_opened_is_no_fault_of_the_log(store: Store, kind: str) -> None:
    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 1))
    lock = writer.path.with_name("session.lock")
    lock.unlink()
    if kind == "directory":
        lock.mkdir()
    else:
        lock.symlink_to("session.lock" if kind == "loop" else "no/such/folder")
    with pytest.raises(StorageError, match=r"session\.lock: "):
        store.open_writer("s-1")


def test_a_compression_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        Store(tmp_path, "gzip")  # type: ignore[arg-type]
    assert caught.value.code == "store/compression"


def test_two_writers_of_one_new_session(store: Store) -> None:
    first, second = store.create(stores.header()), store.create(stores.header())
    first.append(stores.events(0, 1))
    assert code_of(lambda: second.append(stores.events(0, 1))) == "store/already-owned"
    first.close()
    assert code_of(lambda: second.append(stores.events(0, 1))) == "store/already-exists"
    assert len(stores.rows(first.path)) == 1


def test_a_lock_file_that_was_put_aside_is_not_the_lock(store: Store) -> None:
    """Somebody deletes the lock file of a writer: the next one locks another file, and the first keeps its own."""
    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 1))
        writer.path.with_name("session.lock").unlink()
        store.open_writer("s-1").close()
        writer.append(stores.events(1, 1))


def test_an_existing_id_is_not_created_again(store: Store) -> None:
    with store.create(stores.header(cwd="/one")) as writer:
        writer.flush()
    for cwd in ("/one", "/two"):
        header = stores.header(cwd=cwd)
        assert code_of(partial(store.create, header)) == "store/already-exists"


def test_a_log_that_someone_else_changed(store: Store) -> None:
    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 1))
        with writer.path.open("ab") as file:
            file.write(b"x")
        assert code_of(lambda: writer.append(stores.events(1, 1))) == "store/ownership-lost"


def test_a_log_that_someone_else_replaced(store: Store) -> None:
    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 1))
        copy = writer.path.with_name("copy")
        copy.write_bytes(writer.path.read_bytes())
        copy.replace(writer.path)
        assert code_of(lambda: writer.append(stores.events(1, 1))) == "store/ownership-lost"
        writer.path.unlink()
        assert code_of(lambda: writer.append(stores.events(1, 1))) == "store/ownership-lost"


def test_readers_need_no_lock_and_write_nothing(store: Store) -> None:
    with store.create(stores.header()) as writer:
        writer.append(stores.events(0, 1))
        with store.open_reader("s-1") as reader:
            assert reader.access == "read"
            assert len(reader.read().events) == 1
            writer.append(stores.events(1, 1))
            assert len(reader.read().events) == 2
            assert code_of(lambda: reader.append(stores.events(2, 1))) == "store/read-only"
            assert code_of(reader.flush) == "store/read-only"


def test_closed_handles(store: Store) -> None:
    writer = store.create(stores.header())
    writer.append(stores.events(0, 1))
    reader = store.open_reader("s-1")
    for handle in (writer, reader):
        handle.close()
        handle.close()
        for call in (handle.read, handle.reader, handle.flush, partial(handle.append, [])):
            assert code_of(call) == "store/handle-closed"


def test_a_system_without_locks(tmp_path: Path) -> None:
    files = Files()
    files.has_locks = False
    writer = Store(tmp_path, files=files).create(stores.header())
    assert code_of(lambda: writer.append(stores.events(0, 1))) == "store/unsupported-platform"
    assert not writer.path.exists()


# ---- What a root may hold --------------------------------------------------------------------------


def test_no_such_session(store: Store) -> None:
    assert code_of(lambda: store.open_reader("nothing")) == "store/not-found"
    assert code_of(lambda: store.open_writer("nothing")) == "store/not-found"
    assert code_of(lambda: store.open_writer("")) == "storage/path-session"


@pytest.mark.parametrize("wrong", COMPRESSIONS)
def test_a_root_has_one_compression(tmp_path: Path, wrong: Literal["none", "zstd"]) -> None:
    right: Literal["none", "zstd"] = "none" if wrong == "zstd" else "zstd"
    with Store(tmp_path, right).create(stores.header()) as writer:
        writer.flush()
    store = Store(tmp_path, wrong)
    other = stores.header(id="s-2")
    assert code_of(lambda: store.create(other)) == "store/encoding-mismatch"
    assert code_of(lambda: store.open_reader("s-1")) == "store/encoding-mismatch"


def test_a_log_in_a_project_directory(store: Store) -> None:
    with store.create(stores.header()) as writer:
        writer.flush()
    flat = writer.path.parents[1] / "s-9.jsonl"
    flat.write_bytes(b"")
    fresh = Store(store.root, store.compression)
    assert code_of(lambda: fresh.open_reader("s-1")) == "store/legacy-layout"
    flat.unlink()
    # An id may look like that as well.
    with fresh.create(stores.header(id="s-9.jsonl")) as writer:
        writer.flush()
    assert fresh.open_reader("s-9.jsonl").id == "s-9.jsonl"


def test_one_id_in_two_projects(store: Store) -> None:
    for place in ("a", "b"):
        folder = store.root / place / "s-1"
        folder.mkdir(parents=True)
        name = "session.v4.jsonl" + (".zstd" if store.compression == "zstd" else "")
        (folder / name).write_bytes(b"")
    assert code_of(lambda: store.open_reader("s-1")) == "store/duplicate-id"


def test_the_highest_generation_counts(tmp_path: Path) -> None:
    store = Store(tmp_path, "none")
    folder = tmp_path / "--w--" / "s-1"
    folder.mkdir(parents=True)
    synthetic.write_log(folder / "session.v3.jsonl", synthetic.events(3), version=3)
    assert store.open_reader("s-1").header.version == 3
    synthetic.write_log(folder / "session.v4.jsonl", synthetic.events()[:4])
    with store.open_writer("s-1") as writer:
        assert (writer.header.version, writer.count) == (4, 4)


def test_older_formats_are_not_written(tmp_path: Path) -> None:
    folder = tmp_path / "--w--" / "s-1"
    folder.mkdir(parents=True)
    synthetic.write_log(folder / "session.v2.jsonl", [], version=2)
    store = Store(tmp_path, "none")
    for work in (store.open_reader, store.open_writer):
        with pytest.raises(UnsupportedFormatError) as caught:
            work("s-1")
        assert (caught.value.code, caught.value.version) == ("header/older-format", 2)


def test_a_header_that_no_reader_takes(store: Store) -> None:
    header = stores.header(extra=1)
    assert code_of(lambda: store.create(header)) == "header/unknown-member"
    header = stores.header(cwd="relative")
    assert code_of(lambda: store.create(header)) == "header/member"
    header = stores.header(id="")
    assert code_of(lambda: store.create(header)) == "storage/path-session"


def test_a_log_in_the_wrong_place_is_not_written(store: Store) -> None:
    with store.create(stores.header()) as writer:
        writer.flush()
    writer.path.parent.rename(writer.path.parents[1] / "s-2")
    with pytest.raises(RefusedError) as caught:
        store.open_writer("s-2")
    assert caught.value.code == "storage/path-session"
    # The refusal let go of the lock.
    with pytest.raises(RefusedError):
        store.open_writer("s-2")


# ---- Codes -----------------------------------------------------------------------------------------


def test_every_code_is_raised_somewhere_and_every_raised_code_is_listed() -> None:
    raised: set[str] = set()
    for module in Path(store_file).parent.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "StoreError":
                raised.add(ast.literal_eval(node.args[0]))
    assert raised == set(CODES)


def test_every_code_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "store.md").read_text("utf-8")
    for code, entry in CODES.items():
        assert f"`{code}`" in page
        assert entry.official is None or f"`{entry.official}`" in page
