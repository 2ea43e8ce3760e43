"""The recorded scenarios, driven through the loop: the same events, and the same requests byte for byte."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from recorded import ROOT, SHARED, SHIPPED

from _replay.drive import Driver
from _replay.scenario import Recording, recordings

ALL = [
    entry
    for entry in recordings(SHARED if SHARED.is_dir() else SHIPPED)
    if isinstance(entry, Recording)
]
DRIVEN = [r for r in ALL if not any(e.type.startswith("compaction/") for e in r.log.events)]


@pytest.mark.parametrize("recording", DRIVEN, ids=lambda recording: recording.name)
def test_the_loop_writes_the_recorded_log(recording: Recording) -> None:
    found = anyio.run(Driver(recording).run)
    assert found.difference is None
    assert found.requests == len(recording.exchanges) > 0


def test_every_shipped_scenario_is_driven() -> None:
    shipped = {path.parent.name for path in SHIPPED.glob("v[34]/*/script.json")}
    assert {r.scenario.split("/")[1] for r in ALL} >= shipped
    # Of the compacted sessions only that of format 4 was compacted.
    assert len(ALL) - len(DRIVEN) == 1


def test_a_difference_is_said_with_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "v4" / "plain"
    source = SHIPPED / "v4" / "plain"
    for path in source.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    (log,) = folder.rglob("session.v4.jsonl")
    log.write_bytes(log.read_bytes().replace(b'"reason":"initial"', b'"reason":"resume"'))
    done = subprocess.run(
        [sys.executable, "-m", "_replay", str(folder)],
        cwd=ROOT / "scripts",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "different  v4/plain" in done.stdout
    assert "/data/reason" in done.stdout
    assert '"resume"' in done.stdout
    assert '"initial"' in done.stdout


def test_a_folder_without_a_scenario_is_a_failure(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "_replay", str(tmp_path)],
        cwd=ROOT / "scripts",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no scenario was found" in done.stdout
