"""Two folders: where they differ, and making one like the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def files_below(folder: Path) -> dict[str, Path]:
    """Every file below a folder by its path with forward slashes, Python's caches left out."""
    return {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def differences(wanted: Path, found: Path, ignored: tuple[str, ...] = ()) -> Iterator[str]:
    """One line for each file that `found` lacks, has too much, or has with other bytes.

    Paths that begin with one of `ignored` are left out.
    """
    want, have = files_below(wanted), files_below(found)
    for name in sorted(want.keys() | have.keys()):
        if name.startswith(ignored):
            continue
        if name not in have:
            yield f"{name}: missing"
        elif name not in want:
            yield f"{name}: nothing generates this file"
        elif want[name].read_bytes() != have[name].read_bytes():
            yield f"{name}: {_first_difference(want[name], have[name])}"


def synchronize(wanted: Path, target: Path, ignored: tuple[str, ...] = ()) -> list[str]:
    """Make `target` hold the files of `wanted`, and return the differences there were."""
    changes = list(differences(wanted, target, ignored))
    want, have = files_below(wanted), files_below(target)
    for name in want:
        if name not in have or want[name].read_bytes() != have[name].read_bytes():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(want[name].read_bytes())
    for name in have.keys() - want.keys():
        if not name.startswith(ignored):
            have[name].unlink()
    return changes


def _first_difference(wanted: Path, found: Path) -> str:
    want = wanted.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    have = found.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    for number, (left, right) in enumerate(zip(want, have, strict=False), start=1):
        if left != right:
            return f"line {number} is {_short(right)}, spec/ gives {_short(left)}"
    return f"{len(have)} lines, spec/ gives {len(want)}"


def _short(line: str) -> str:
    return ascii(line if len(line) <= 100 else line[:100] + "...")
