"""What the tests of the generated packages share."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ROOT = Path(__file__).resolve().parents[3]
# The generator is not installed.
sys.path.append(str(ROOT / "scripts"))


# The format, where the event stands, and the event with its flat `sourceEventSeqs`.
RecordedEvent = tuple[int, str, dict[str, Any]]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def node() -> None:
    """Node.js with the pinned packages; a printed skip without it, unless it is required."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        from _generate import typescript
    finally:
        sys.path.pop(0)
    missing = typescript.why_not()
    if missing:
        pytest.skip(missing)
    typescript.install(ROOT / "scripts" / "typescript")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what `scripts/generate` reads and writes."""
    ignored = shutil.ignore_patterns("examples", "node_modules", "__pycache__")
    for name in ("spec", "generated", "scripts", "conformance/suites"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    packages = ROOT / "scripts" / "typescript" / "node_modules"
    if packages.is_dir():
        (tmp_path / "scripts" / "typescript" / "node_modules").symlink_to(packages)
    return tmp_path


def recorded_events(folder: Path) -> Iterator[RecordedEvent]:
    """Every event of every log below `folder`, which holds `v3/` and `v4/`."""
    for version in (3, 4):
        for path in sorted((folder / f"v{version}").rglob(f"session.v{version}.jsonl*")):
            content = path.read_bytes()
            if path.suffix == ".zstd":
                content = zstd.decompress(content)
            for number, line in enumerate(content.splitlines()[1:], start=2):
                value = json.loads(line)
                if "sourceEventSeqs" in value:
                    value["sourceEventSeqs"] = list(_flat(value["sourceEventSeqs"]))
                yield version, f"{path.relative_to(folder)}:{number}", value


def _flat(stored: list[Any]) -> Iterator[int]:
    for member in stored:
        if isinstance(member, list):
            yield from range(member[0], member[1] + 1)
        else:
            yield member


@pytest.fixture(scope="session")
def recordings() -> list[RecordedEvent]:
    """Every event of the recordings that ship with the project."""
    return list(recorded_events(ROOT / "conformance" / "recordings"))


@pytest.fixture(scope="session")
def shared_recordings() -> list[RecordedEvent]:
    """Every event of the full recordings; a printed skip where they are not at hand."""
    shared = Path(os.environ.get("DSH_PROTOCOL_SHARED", ROOT.parent / "shared"))
    folder = shared / "recordings"
    if not folder.is_dir():
        pytest.skip("no full recordings: set DSH_PROTOCOL_SHARED to the folder that holds them")
    return list(recorded_events(folder))
