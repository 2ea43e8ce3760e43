"""Names and places of logs, and the search for them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import synthetic

from dsh_protocol.findings import StorageError
from dsh_protocol.rows import (
    LogName,
    encode_project,
    encode_session,
    find_logs,
    log_path,
    open_log,
    parse_log_name,
)

RELEASED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "released_names_and_ranges.json").read_text("ascii")
)


@pytest.mark.parametrize(("cwd", "name"), RELEASED["projects"], ids=ascii)
def test_project_directories_as_released(cwd: str | None, name: str | None) -> None:
    if name is None:
        with pytest.raises(StorageError):
            encode_project(cwd)
    else:
        assert encode_project(cwd) == name


@pytest.mark.parametrize(("session_id", "name"), RELEASED["sessions"], ids=ascii)
def test_session_directories_as_released(session_id: str, name: str | None) -> None:
    if name is None:
        with pytest.raises(StorageError):
            encode_session(session_id)
    else:
        assert encode_session(session_id) == name


@pytest.mark.parametrize(
    ("name", "version", "compressed"),
    [
        ("session.jsonl", 0, False),
        ("session.jsonl.zstd", 0, True),
        ("session.v1.jsonl", 1, False),
        ("session.v4.jsonl.zstd", 4, True),
        ("session.v10.jsonl", 10, False),
    ],
)
def test_canonical_names(name: str, version: int, compressed: bool) -> None:
    assert parse_log_name(name) == LogName(version, compressed)
    assert str(LogName(version, compressed)) == name


@pytest.mark.parametrize(
    "name",
    [
        "session.v0.jsonl",
        "session.v03.jsonl",
        "session.v4.jsonl.zst",
        "session.v4.jsonl.gz",
        "session.v4.jsonl ",
        "session.v4.jsonl\n",
        "Session.v4.jsonl",
        "session.v-1.jsonl",
        "session.v٣.jsonl",
        "xsession.v4.jsonl",
        "session.migration.0123456789abcdef.jsonl",
        "session.v" + "9" * 5000 + ".jsonl",
    ],
)
def test_other_names_say_nothing(name: str) -> None:
    assert parse_log_name(name) is None


def session(
    root: Path, name: str = "session.v4.jsonl", *, id: str = "s-1", cwd: str = "/w"
) -> Path:
    folder = root / "--w--" / id
    folder.mkdir(parents=True, exist_ok=True)
    version = parse_log_name(name)
    rows = synthetic.events()
    return synthetic.write_log(
        folder / name, rows, version=version.version if version else 4, id=id, cwd=cwd
    )


def place_rules(path: Path) -> list[str]:
    return [finding.rule for finding in open_log(path).findings]


def test_a_log_at_its_place_has_no_finding(tmp_path: Path) -> None:
    path = session(tmp_path)
    log = open_log(path)
    assert log.findings == []
    assert log_path(tmp_path, log.header, compressed=False) == path


def test_wrong_directories_are_findings(tmp_path: Path) -> None:
    log = session(tmp_path)
    log.parent.rename(tmp_path / "--w--" / "other")
    assert place_rules(tmp_path / "--w--" / "other" / log.name) == ["storage/path-session"]
    (tmp_path / "--w--").rename(tmp_path / "--x--")
    assert place_rules(tmp_path / "--x--" / "other" / log.name) == [
        "storage/path-session",
        "storage/path-project",
    ]


def test_names_of_one_own_choice_have_no_place(tmp_path: Path) -> None:
    path = synthetic.write_log(tmp_path / "session.v03.jsonl", synthetic.events())
    assert place_rules(path) == []


def test_a_linked_project_is_the_same_place(tmp_path: Path) -> None:
    log = session(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "--w--", target_is_directory=True)
    assert place_rules(tmp_path / "link" / "s-1" / log.name) == []
    (tmp_path / "--w--").rename(tmp_path / "real")
    assert place_rules(tmp_path / "real" / "s-1" / log.name) == ["storage/path-project"]


def test_a_relative_path_is_looked_at_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = session(tmp_path)
    monkeypatch.chdir(log.parent)
    assert place_rules(Path(log.name)) == []


def test_version_of_name_and_header_must_agree(tmp_path: Path) -> None:
    path = session(tmp_path)
    renamed = path.rename(path.with_name("session.v3.jsonl"))
    with pytest.raises(StorageError) as caught:
        open_log(renamed)
    assert caught.value.code == "storage/name-version"
    data = renamed.read_bytes()
    with pytest.raises(StorageError):
        open_log(data, name="session.v3.jsonl")
    assert open_log(data, name="copy.v3.jsonl").findings == []


def test_two_compressions_in_one_directory_are_a_finding(tmp_path: Path) -> None:
    path = session(tmp_path)
    (path.parent / "session.v3.jsonl.zstd").write_bytes(b"")
    assert place_rules(path) == ["storage/mixed-compression"]


def test_search_takes_the_highest_generation_and_accounts_for_the_rest(tmp_path: Path) -> None:
    new = session(tmp_path, "session.v10.jsonl")
    old = [session(tmp_path, name) for name in ("session.jsonl", "session.v3.jsonl")]
    other = session(tmp_path, id="s-2")
    folder = new.parent
    for name in ("session.v03.jsonl", "session.lock", "session.v4.jsonl.0a.tmp", "notes.txt"):
        (folder / name).write_bytes(b"x")
    os.mkfifo(folder / "session.v11.jsonl")
    (folder / "session.v12.jsonl").symlink_to(folder / "nowhere")
    (tmp_path / "link").symlink_to(tmp_path / "--w--", target_is_directory=True)
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "stray.jsonl").write_bytes(b"x")

    search = find_logs(tmp_path)
    assert search.chosen == (new, other)
    assert search.superseded == tuple(old)
    assert search.neighbours(new) == {
        "superseded": ["session.jsonl", "session.v3.jsonl"],
        "skipped": {
            "broken link": 1,
            "lock file": 1,
            "not a canonical log name": 1,
            "not a log": 1,
            "not a regular file": 1,
            "temporary file": 1,
        },
    }
    assert search.neighbours(other) == {"superseded": [], "skipped": {}}
    assert search.skipped_elsewhere() == {
        "linked directory, not followed": 2,
        "not a canonical log name": 1,
    }


def test_search_of_a_session_directory(tmp_path: Path) -> None:
    path = session(tmp_path)
    assert find_logs(path.parent).chosen == (path,)


def test_of_two_compressions_of_one_generation_the_plain_one_is_read(tmp_path: Path) -> None:
    path = session(tmp_path)
    twin = path.with_name("session.v4.jsonl.zstd")
    twin.write_bytes(b"")
    search = find_logs(tmp_path)
    assert (search.chosen, search.superseded) == ((path,), (twin,))


def test_search_without_logs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    for directory, code in ((tmp_path, "storage/no-logs"), (tmp_path / "b", "storage/unreadable")):
        with pytest.raises(StorageError) as caught:
            find_logs(directory)
        assert caught.value.code == code


def test_search_is_bounded(tmp_path: Path) -> None:
    session(tmp_path)
    session(tmp_path, id="s-2")
    search = find_logs(tmp_path, max_entries=4)
    assert len(search.chosen) == 1
    assert [skip.reason for skip in search.skipped] == ["beyond the limit of directory entries"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_directory_is_skipped(tmp_path: Path) -> None:
    path = session(tmp_path)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    search = find_logs(tmp_path)
    assert search.chosen == (path,)
    assert [skip.reason for skip in search.skipped] == ["unreadable directory"]
