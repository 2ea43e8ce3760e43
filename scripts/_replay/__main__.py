"""Replays recorded scenarios and says, for each session, whether our loop did the same; exit 1 on any difference."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import anyio

from dsh_protocol.jsonvalue import dumps, equal, pointer

from .drive import Difference, Driver
from .scenario import Recording, Unread, recordings

_SHOWN = 300


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="scripts/replay", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    counted = {"equal": 0, "different": 0, "skipped": 0}
    for folder in parser.parse_args().folders:
        for recording in recordings(folder):
            counted[_replay(recording)] += 1
    print(", ".join(f"{count} {what}" for what, count in counted.items()))
    if not counted["equal"] + counted["different"]:
        print("no scenario was found: a folder of one has script.json, wire.jsonl and sessions/")
        return 1
    return 1 if counted["different"] else 0


def _replay(recording: Recording | Unread) -> str:
    reason = _why_not(recording)
    if isinstance(recording, Unread) or reason is not None:
        print(f"skipped    {recording.name}: {reason}")
        return "skipped"
    found = anyio.run(Driver(recording).run)
    if found.difference is not None:
        print(f"different  {recording.name}: {_shown(found.difference)}")
        return "different"
    print(f"equal      {recording.name}: {found.events} events, {found.requests} requests")
    return "equal"


def _why_not(recording: Recording | Unread) -> str | None:
    if isinstance(recording, Unread):
        return recording.reason
    if any(event.type.startswith("compaction/") for event in recording.log.events):
        return "compaction is not part of the loop"
    return None


def _shown(difference: Difference) -> str:
    place, recorded, ours = _first(difference.recorded, difference.ours, ())
    at = f" at {pointer(*place)}" if place else ""
    return f"{difference.where}{at}\n  recorded: {_text(recorded)}\n  ours:     {_text(ours)}"


def _first(left: Any, right: Any, place: tuple[str | int, ...]) -> tuple[Any, Any, Any]:
    """The deepest place that holds the first difference of two values, and what is there."""
    if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
        pairs = [(name, left[name], right[name]) for name in left]
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = [(index, *both) for index, both in enumerate(zip(left, right, strict=True))]
    else:
        return place, left, right
    for name, one, other in pairs:
        if not equal(one, other):
            return _first(one, other, (*place, name))
    return place, left, right


def _text(value: Any) -> str:
    text = dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


if __name__ == "__main__":
    sys.exit(main())
