"""Lists of sessions: headers only, every session, whatever is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path

import compressed
import pytest
import stores
import synthetic

from dsh_protocol.findings import StorageError
from dsh_protocol.rows import decode_session, encode_session
from dsh_protocol.store import Store, StoredSession, list_sessions
from dsh_protocol.store._files import Files


def put(root: Path, session: str, content: bytes, name: str = "session.v4.jsonl") -> Path:
    path = root / "--w--" / session / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def listed(root: Path) -> dict[str | None, StoredSession]:
    return {entry.id: entry for entry in list_sessions(root).sessions}


def test_one_bad_session_is_an_entry_like_the_others(tmp_path: Path) -> None:
    zstd = "session.v4.jsonl.zstd"
    whole = synthetic.log_bytes(synthetic.events())
    frame = compressed.frames(whole)[0]
    put(tmp_path, "s-1", whole)
    put(tmp_path, "empty", b"")
    put(tmp_path, "cut", whole[:30])
    put(tmp_path, "garbage", b"garbage\n")
    put(tmp_path, "endless", b"x" * (2 << 20))
    put(tmp_path, "moved", synthetic.log_bytes([], id="elsewhere"))
    put(tmp_path, "newer", synthetic.log_bytes([], version=9), "session.v9.jsonl")
    put(tmp_path, "misnamed", synthetic.log_bytes([], version=4), "session.v3.jsonl")
    put(tmp_path, "three", synthetic.log_bytes([], version=3, id="three"), "session.v3.jsonl")
    put(tmp_path, "ancient", synthetic.log_bytes([], version=0), "session.jsonl")
    put(tmp_path, "torn-frame", frame[:-3], zstd)
    put(tmp_path, "bad-frame", frame[:-1] + bytes([frame[-1] ^ 1]), zstd)
    put(tmp_path, "one-frame", compressed.frame(whole), zstd)
    put(tmp_path, "a~002Fb", synthetic.log_bytes([], id="a/b"))
    (tmp_path / "--w--" / "nothing").mkdir()
    found = {entry.path.parent.name: entry for entry in list_sessions(tmp_path).sessions}
    assert {name: (entry.verdict, entry.code) for name, entry in found.items()} == {
        "s-1": ("current", None),
        "a~002Fb": ("current", None),
        "three": ("older", None),
        "ancient": ("older", "header/older-format"),
        "newer": ("newer", "header/newer-format"),
        "empty": ("damaged", "storage/empty-file"),
        "cut": ("damaged", "header/missing"),
        "garbage": ("damaged", "header/missing"),
        "endless": ("damaged", "storage/row-limit"),
        "moved": ("damaged", "storage/path-session"),
        "misnamed": ("damaged", "storage/name-version"),
        "torn-frame": ("damaged", "header/missing"),
        "bad-frame": ("damaged", "storage/frame-corrupt"),
        "one-frame": ("damaged", "storage/frame-header"),
    }
    assert found["a~002Fb"].id == "a/b"
    assert found["moved"].id == "elsewhere"
    assert found["garbage"].id == "garbage"
    assert all(entry.message for entry in found.values() if entry.code)


def test_what_an_entry_says(tmp_path: Path) -> None:
    path = put(tmp_path, "s-1", synthetic.log_bytes(synthetic.events(), origin="subagent"))
    os.utime(path, ns=(0, 1_700_000_000_123_456_789))
    entry = listed(tmp_path)["s-1"]
    assert (entry.path, entry.version, entry.compression) == (path, 4, "none")
    assert (entry.size, entry.modified) == (path.stat().st_size, 1_700_000_000_123)
    assert entry.header is not None
    assert entry.header.origin == "subagent"


def test_only_the_highest_generation_is_listed(tmp_path: Path) -> None:
    put(tmp_path, "s-1", synthetic.log_bytes([], version=3), "session.v3.jsonl")
    put(tmp_path, "s-1", synthetic.log_bytes([]))
    listing = list_sessions(tmp_path)
    assert [entry.version for entry in listing.sessions] == [4]
    assert [path.name for path in listing.search.superseded] == ["session.v3.jsonl"]


def test_a_log_that_nobody_may_read(tmp_path: Path) -> None:
    class Forbidden(Files):
        def open(self, path: Path, flags: int, mode: int = 0o600) -> int:
            raise PermissionError(13, "Permission denied", str(path))

    put(tmp_path, "s-1", synthetic.log_bytes([]))
    (entry,) = list_sessions(tmp_path, files=Forbidden()).sessions
    assert (entry.verdict, entry.code, entry.size) == ("damaged", "storage/unreadable", None)
    assert "Permission denied" in (entry.message or "")


def test_a_thousand_sessions_cost_their_headers(tmp_path: Path) -> None:
    class Counting(Files):
        taken = 0

        def read_at(self, fd: int, size: int, offset: int) -> bytes:
            data = super().read_at(fd, size, offset)
            self.taken += len(data)
            return data

    body = b"".join(synthetic.line(event.value) for event in stores.events(0, 200, "x" * 2000))
    for number in range(1000):
        put(tmp_path, f"s-{number}", synthetic.log_bytes([], id=f"s-{number}") + body)
    files = Counting()
    sessions = list_sessions(tmp_path, files=files).sessions
    assert len(sessions) == 1000
    assert {entry.verdict for entry in sessions} == {"current"}
    assert files.taken <= 1000 * 8192 < sum(entry.size or 0 for entry in sessions) / 40


def test_a_store_lists_its_root(tmp_path: Path) -> None:
    store = Store(tmp_path / "root", "none")
    assert store.list() == []
    for name in ("b", "a"):
        with store.create(stores.header(id=name)) as writer:
            writer.flush()
    assert [entry.id for entry in store.list()] == ["a", "b"]
    assert list_sessions(tmp_path).search.skipped


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        list_sessions(tmp_path / "nothing")
    assert caught.value.code == "storage/unreadable"


@pytest.mark.parametrize("session_id", ["s-1", "a/b..~é", ".", "..", "\U0001f600", "\ud800", "~"])
def test_ids_come_back_from_their_directories(session_id: str) -> None:
    assert decode_session(encode_session(session_id)) == session_id


@pytest.mark.parametrize("name", ["", ".", "a b", "~", "~00e9", "~0041", "~zzzz", "é"])
def test_names_that_no_id_has(name: str) -> None:
    assert decode_session(name) is None
