"""Run every case in fresh processes, round by round, and print medians and ratios."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from . import growth, storage
from .cases import CASES
from .logs import TURNS, write
from .storage import STORAGE

_FLOOR = "parse_json"


def main() -> None:
    """Parse the arguments and print the table."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds; each runs every case once")
    parser.add_argument("--turns", type=int, default=TURNS, help="turns of the long log")
    parser.add_argument(
        "--events", type=int, default=1_000_000, help="events of the long log on disk"
    )
    parser.add_argument(
        "--sessions", type=int, default=200, help="sessions that stream on one event loop"
    )
    parser.add_argument("--case", nargs=2, metavar=("NAME", "LOG"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        name, log = arguments.case
        print((CASES | STORAGE)[name](Path(log)))
        return
    with tempfile.TemporaryDirectory() as folder:
        _measure(Path(folder), arguments.rounds, arguments.turns)
    _grow()
    with tempfile.TemporaryDirectory() as folder:
        _store(Path(folder), arguments.rounds, arguments.events)
    _load(arguments.sessions)


def _measure(folder: Path, rounds: int, turns: int) -> None:
    long, compacted, small = (
        folder / name for name in ("long.jsonl", "compacted.jsonl", "s.jsonl")
    )
    write(long, turns=turns)
    write(compacted, turns=turns, compactions=True)
    write(small, turns=2)
    events = long.read_bytes().count(b"\n") - 1
    print(
        f"long log: {events} events, {long.stat().st_size / 1e6:.1f} MB; {rounds} rounds, medians"
    )
    for title, log in (("long log", long), ("with a compaction every 50 turns", compacted)):
        figures = _rounds([name for name in CASES if name != "check_process"], log, rounds)
        _print_table(title, figures)
    (seconds,) = _rounds(["check_process"], small, rounds).values()
    print(f"\ncheck of a small log, whole process: {seconds * 1000:.0f} ms")


def _rounds(names: list[str], log: Path, rounds: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            command = [sys.executable, "-m", "_bench", "--case", name, str(log)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            taken[name].append(float(done.stdout))
    return {name: statistics.median(values) for name, values in taken.items()}


def _print_table(title: str, figures: dict[str, float]) -> None:
    print(f"\n{title}: CPU, and as a ratio to parsing the same bytes with the json module")
    floor = figures[_FLOOR]
    for name, value in figures.items():
        if name == "memory":
            print(f"  {name:22} {value:8.2f} x the size of the file")
        else:
            print(f"  {name:22} {value * 1000:8.0f} ms {value / floor:8.2f} x")


def _grow() -> None:
    print("\ngrowth with the surface: one step at 10,000 and at 100,000 nodes")
    for name, step in (
        ("append + next request", growth.append_step),
        ("replacement + next request", growth.replace_step),
    ):
        few, many = step(10_000), step(100_000)
        print(f"  {name:28} {few * 1e6:7.1f} us {many * 1e6:7.1f} us   {many / few:5.2f} x")
    seconds = growth.tail_replacements(100_000)
    print(f"  100,000 appends and 1,000 replacements near the end: {seconds * 1000:.0f} ms")


def _store(folder: Path, rounds: int, events: int) -> None:
    print(f"\nlogs on disk: CPU at 1,000 and at {events:,} events, without waiting for the disk")
    for compression in ("none", "zstd"):
        few, many = (
            storage.write_store(folder / f"{compression}-{size}", size, compression=compression)
            for size in (1000, events)
        )
        print(f"  compression {compression}: {many.stat().st_size / 1e6:.0f} MB")
        names = list(STORAGE)
        short, long = _rounds(names, few, rounds), _rounds(names, many, rounds)
        for name in names:
            if name == "store_memory":
                print(f"    {name:20} {short[name] / 1e6:9.1f} MB {long[name] / 1e6:9.1f} MB")
            else:
                ratio = long[name] / short[name]
                figures = f"{short[name] * 1e6:9.1f} us {long[name] * 1e6:9.1f} us"
                print(f"    {name:20} {figures} {ratio:8.2f} x")
    log = storage.write_store(folder / "one", 1000, compression="none")
    print(f"  list of 1,000 sessions: {storage.list_many(folder / 'many', log, 1000)}")


def _load(sessions: int) -> None:
    print(
        "\nsessions on one event loop, streaming from an endpoint on the loopback interface",
        flush=True,
    )
    for number in (max(1, sessions // 4), sessions):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "_bench.load", folder, str(number)]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
