"""What is on disk when anything fails: a valid prefix of what was acknowledged, plus at most the batch in flight.

Every system call of the work is made the last one of a process, or made to fail, in turn.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest
import stores
from stores import FaultyFiles, Killed

from dsh_protocol.store import Store, StoreError, Writer
from dsh_protocol.store._files import Files

Compression = Literal["none", "zstd"]
BATCHES = [stores.events(0, 2), stores.events(2, 3), stores.events(5, 1)]


@pytest.fixture(params=["none", "zstd"])
def compression(request: pytest.FixtureRequest) -> Compression:
    value: Compression = request.param
    return value


def write(store: Store, done: list[int]) -> None:
    """Create a session and append three batches, noting each that was acknowledged."""
    with store.create(stores.header()) as writer:
        for place, batch in enumerate(BATCHES):
            writer.append(batch)
            done.append(place)


def go_on(store: Store) -> None:
    """Open the session again and append what is missing."""
    with store.open_writer("s-1") as writer:
        writer.append(stores.events(writer.count, 6 - writer.count))


def count_calls(folder: Path, compression: Compression, work: Callable[[Store], None]) -> int:
    files = FaultyFiles(None, stores.die)
    work(Store(folder, compression, files=files))
    return len(files.calls)


def require_prefix(store: Store, acknowledged: int) -> int:
    """The log has the acknowledged batches, or one more: how many there are. Nothing of another batch is visible."""
    if not store.list():
        assert acknowledged == 0
        return 0
    with store.open_writer("s-1") as writer:
        found = writer.count
        rows = stores.rows(writer.path)
    sizes = [0, 2, 5, 6]
    assert rows == stores.encoded(stores.events(0, found))
    assert found in sizes[acknowledged : acknowledged + 2]
    return found


# ---- Death between any two calls -------------------------------------------------------------------


def test_death_at_every_call_of_creating_and_appending(
    tmp_path: Path, compression: Compression
) -> None:
    total = count_calls(tmp_path / "whole", compression, lambda store: write(store, []))
    assert total > 25
    for at in range(total):
        root, done = tmp_path / str(at), list[int]()
        files = FaultyFiles(at, stores.die)
        with suppress(Killed):
            write(Store(root, compression, files=files), done)
        # The system closes the files of a dead process; here the writer is garbage, whose descriptors are still open.
        close_all(files)
        store = Store(root, compression)
        found = require_prefix(store, len(done))
        finish(store, found)


def close_all(files: FaultyFiles) -> None:
    """What the system does when a process dies."""
    for fd in list(files.opened):
        files.really_close(fd)


def finish(store: Store, found: int) -> None:
    """The next writer repairs what is there, and goes on behind it."""
    missing = stores.events(found, 6 - found)
    exists = bool(store.list())
    with store.open_writer("s-1") if exists else store.create(stores.header()) as writer:
        writer.append(missing)
    assert stores.rows(writer.path) == stores.encoded(stores.events(0, 6))
    names = sorted(path.name for path in writer.path.parent.iterdir())
    assert names == ["session.lock", writer.path.name], "a temporary file was left"


def test_death_at_every_call_of_repairing_and_appending(
    tmp_path: Path, compression: Compression
) -> None:
    """The log has a torn end; its next writer dies at every call of the repair and of its own appends."""
    template = tmp_path / "template"
    write(Store(template, compression), [])
    (path,) = template.glob("*/*/session.v4*")
    whole = path.read_bytes()
    # Of the second batch, all is there but two bytes: the end of its last row, or of its frame's checksum.
    torn = whole[: batch_ends(whole, compression)[1] - 2]

    def prepare(root: Path) -> Store:
        target = root / path.relative_to(template)
        target.parent.mkdir(parents=True)
        target.write_bytes(torn)
        return Store(root, compression)

    prepare(tmp_path / "count")
    total = count_calls(tmp_path / "count", compression, go_on)
    for at in range(total):
        root, done = tmp_path / str(at), list[int]()
        store = prepare(root)
        with store.open_writer("s-1") as writer:
            recovered = writer.count
        assert recovered == (5 if compression == "zstd" else 4)
        files = FaultyFiles(at, stores.die)
        with suppress(Killed):
            go_on(Store(root, compression, files=files))
            done.append(0)
        close_all(files)
        with store.open_writer("s-1") as writer:
            found = writer.count
        # What the torn frame held was never acknowledged; a death right behind the cut loses it.
        assert found == 6 if done else found in (2, recovered, 6)
        finish(store, found)


def batch_ends(log: bytes, compression: Compression) -> list[int]:
    """Where the batches of a log written by `write` end, in bytes."""
    from dsh_protocol.rows import scan_frames

    if compression == "zstd":
        return [frame.end for frame in scan_frames(log).frames][1:]
    ends, end = [], 0
    for line, row in enumerate(log.splitlines(keepends=True)):
        end += len(row)
        if line in (2, 5, 6):
            ends.append(end)
    return ends


def test_a_writer_killed_by_the_system(tmp_path: Path, compression: Compression) -> None:
    """A real process, killed while it appends: what it has reported is there, and its lock is free."""
    script = (
        "import sys, stores; from dsh_protocol.store import Store\n"
        "writer = Store(sys.argv[1], sys.argv[2]).create(stores.header())\n"
        "seq = 0\n"
        "while True:\n"
        "    writer.append(stores.events(seq, 3)); seq += 3; print(seq, flush=True)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path), compression]
    for rounds in (1, 20, 45):
        store = Store(tmp_path / str(rounds), compression)
        command[3] = str(store.root)
        environment = {"PYTHONPATH": ":".join(sys.path)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
            assert child.stdout is not None
            said = [int(child.stdout.readline()) for _ in range(rounds)]
            with pytest.raises(StoreError, match="holds the session"):
                store.open_writer("s-1")
            child.send_signal(signal.SIGKILL)
            said += [int(line) for line in child.stdout]
        with store.open_writer("s-1") as writer:
            assert writer.count in (said[-1], said[-1] + 3)
            writer.append(stores.events(writer.count, 1))
            assert stores.rows(writer.path) == stores.encoded(stores.events(0, writer.count))


# ---- Calls that fail -------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["write", "sync", "truncate", "open", "link", "mkdir", "unlink"])
def test_a_full_disk_at_every_call(tmp_path: Path, compression: Compression, call: str) -> None:
    """One call fails once. The same handle appends again, or says that it cannot; either way nothing is lost or doubled."""
    total = count_calls(tmp_path / "whole", compression, lambda store: write(store, []))
    hit = 0
    for at in range(total):
        files = FaultyFiles(at, stores.full_disk)
        files.only = call
        store = Store(tmp_path / f"{at}", compression, files=files)
        refused = retrying(store)
        hit += files.hit
        if refused:
            # One call failed, and what is on disk was acknowledged or taken back.
            assert all(error.code == "store/write-failed" for error in refused)
        # A temporary file that could not be removed is, by the next writer.
        store.open_writer("s-1").close()
        (path,) = store.root.glob("*/*/session.v4*")
        assert stores.rows(path) == stores.encoded(stores.events(0, 6))
    assert hit or call == "truncate"


def retrying(store: Store) -> list[StoreError]:
    errors: list[StoreError] = []
    with store.create(stores.header()) as writer:
        for batch in BATCHES:
            try:
                writer.append(batch)
            except StoreError as error:
                errors.append(error)
                assert stored(writer) == batch[0].seq
                writer.append(batch)
    assert len(errors) <= 1
    return errors


def stored(writer: Writer) -> int:
    """How many events a reader finds."""
    return len(stores.rows(writer.path)) if writer.path.exists() else 0


def test_a_disk_that_stays_full(tmp_path: Path, compression: Compression) -> None:
    """Neither the batch nor its rollback succeeds: the handle gives up, and the next writer repairs the log."""
    store = Store(tmp_path, compression)
    with store.create(stores.header()) as writer:
        writer.append(BATCHES[0])
    files = HalfWritten()
    with Store(tmp_path, compression, files=files).open_writer("s-1") as writer:
        with pytest.raises(StoreError) as caught:
            writer.append(BATCHES[1])
        assert caught.value.code == "store/rollback-failed"
        assert isinstance(caught.value.__cause__, OSError)
        with pytest.raises(StoreError, match="left half done"):
            writer.append(BATCHES[1])
        with pytest.raises(StoreError, match="left half done"):
            writer.flush()
    with store.open_writer("s-1") as writer:
        assert writer.position is not None
        assert writer.position.is_torn
        writer.append(stores.events(writer.count, 6 - writer.count))
    assert stores.rows(writer.path) == stores.encoded(stores.events(0, 6))


class HalfWritten(Files):
    """Each write takes half of what it is given and fails then; nothing can be taken back."""

    def write(self, fd: int, data: bytes | memoryview) -> int:
        super().write(fd, memoryview(data)[: len(data) // 2])
        stores.no_room()
        return 0

    def truncate(self, fd: int, size: int) -> None:
        stores.no_room()


def test_an_interrupted_append_is_taken_back(tmp_path: Path, compression: Compression) -> None:
    class Interrupted(Files):
        def sync(self, fd: int) -> None:
            if self.armed:
                self.armed = False
                raise KeyboardInterrupt
            super().sync(fd)

        armed = False

    files = Interrupted()
    with Store(tmp_path, compression, files=files).create(stores.header()) as writer:
        writer.append(BATCHES[0])
        before = writer.path.read_bytes()
        files.armed = True
        with pytest.raises(KeyboardInterrupt):
            writer.append(BATCHES[1])
        assert writer.path.read_bytes() == before
        writer.append(BATCHES[1])
        assert stored(writer) == 5


def test_files_of_other_writers_are_left_alone(tmp_path: Path, compression: Compression) -> None:
    store = Store(tmp_path, compression)
    with store.create(stores.header()) as writer:
        writer.flush()
    name = writer.path.name
    ours = writer.path.with_name(f"{name}.0123456789ab.tmp")
    others = [
        writer.path.with_name(other)
        for other in (
            f"{name}.0123456789.tmp",
            f"{name}.tmp",
            "session.migration.0123456789abcdef.jsonl.tmp",
        )
    ]
    for path in (ours, *others):
        path.write_bytes(b"")
    store.open_writer("s-1").close()
    assert not ours.exists()
    assert all(path.exists() for path in others)
