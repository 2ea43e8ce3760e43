"""Run every case in fresh processes, round by round, and print the figures, ratios and budgets.

Other work on the machine only ever adds to a figure, so the least of all rounds counts. All are CPU seconds.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from . import budgets, growth, official, storage
from .budgets import Budget
from .cases import CASES
from .logs import TURNS, write
from .storage import STORAGE

_FLOOR = "parse_json"
_OFFICIAL = "official_open"
_ONCE = {"check_process", "memory"}
"""Cases that are no work on a log of any length."""
_VALIDATOR = {"validate_parsed": "of parsed events", "validate_text": "of rows, parsing included"}


def main() -> None:
    """Parse the arguments and print the tables."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds; each runs every case once")
    parser.add_argument("--turns", type=int, default=TURNS, help="turns of the long log")
    parser.add_argument(
        "--events", type=int, default=1_000_000, help="events of the long log on disk; 0: none"
    )
    parser.add_argument("--case", nargs=2, metavar=("NAME", "LOG"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        name, log = arguments.case
        print((CASES | STORAGE)[name](Path(log)))
        return
    with tempfile.TemporaryDirectory() as folder:
        taken = _measure(Path(folder), arguments.rounds, arguments.turns)
    taken += _grow(arguments.rounds)
    print("\nbudgets")
    for budget, figure in taken:
        print(budget.line(figure, official.ABSENT))
    if arguments.events:
        with tempfile.TemporaryDirectory() as folder:
            _store(Path(folder), arguments.rounds, arguments.events)


Taken = list[tuple[Budget, float | None]]


def _measure(folder: Path, rounds: int, turns: int) -> Taken:
    long, compacted, small = (
        folder / name for name in ("long.jsonl", "compacted.jsonl", "s.jsonl")
    )
    write(long, turns=turns)
    write(compacted, turns=turns, compactions=True)
    write(small, turns=2)
    events, size = long.read_bytes().count(b"\n") - 1, long.stat().st_size
    print(f"long log: {events} events, {size / 1e6:.1f} MB; the least of {rounds} rounds")
    if not official.is_present():
        print(official.ABSENT)
    names = [name for name in CASES if name not in _ONCE]
    figures = _rounds(names, long, rounds)
    _print_table("long log", figures)
    _print_table("with a compaction every 50 turns", _rounds(names, compacted, rounds))
    _print_validator(figures, events, size)
    memory, process = (
        _rounds([name], log, rounds)[name]
        for name, log in (("memory", long), ("check_process", small))
    )
    return [
        (budgets.OPEN_ALL, _share(figures, "open_all_messages")),
        (budgets.OPEN_LAST, _share(figures, "open_last_request")),
        (budgets.CHECK, _share(figures, "full_check")),
        (budgets.MEMORY, memory),
        (budgets.PROCESS, process * 1000),
    ]


def _rounds(names: list[str], log: Path, rounds: int) -> dict[str, float]:
    """The least of each case; of the official library as well, when a case is one of work on any log."""
    taken: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name in names:
            command = [sys.executable, "-m", "_bench", "--case", name, str(log)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            taken.setdefault(name, []).append(float(done.stdout))
        if _FLOOR in names and official.is_present():
            taken.setdefault(_OFFICIAL, []).append(official.open_log(log))
    return {name: min(values) for name, values in taken.items()}


def _share(figures: dict[str, float], name: str) -> float | None:
    """A figure as a ratio to the official full open of the same log, null when that was not measured."""
    return figures[name] / figures[_OFFICIAL] if _OFFICIAL in figures else None


def _print_table(title: str, figures: dict[str, float]) -> None:
    print(
        f"\n{title}: CPU; as a ratio to the json module that parses the same bytes, and to the official full open"
    )
    for name, value in figures.items():
        share = _share(figures, name)
        ratio = "" if share is None else f" {share:8.2f} x official"
        print(f"  {name:22} {value * 1000:8.0f} ms {value / figures[_FLOOR]:8.2f} x json{ratio}")


def _print_validator(figures: dict[str, float], events: int, size: int) -> None:
    print("\nValidator, one event at a time (the json module parses the same rows)")
    for name, what in ((_FLOOR, "json.loads of rows"), *_VALIDATOR.items()):
        seconds = figures[name]
        rate = f"{events / seconds:10,.0f} events/s {size / 1e6 / seconds:7.0f} MB/s"
        print(f"  {what:28} {rate} {seconds / figures[_FLOOR]:6.2f} x json")


def _grow(rounds: int) -> Taken:
    print("\ngrowth with the surface: one step at 10,000 and at 100,000 nodes")
    taken: Taken = []
    for name, step, budget in (
        ("append + next request", growth.append_step, budgets.APPEND),
        ("replacement + next request", growth.replace_step, budgets.REPLACE),
    ):
        few, many = (_least(partial(step, nodes), rounds) for nodes in (10_000, 100_000))
        print(f"  {name:28} {few * 1e6:7.1f} us {many * 1e6:7.1f} us   {many / few:5.2f} x")
        taken.append((budget, many / few))
    ours = _least(partial(growth.tail_replacements, 100_000), rounds)
    theirs = _least(official.tail_replacements, rounds) if official.is_present() else None
    known = "" if theirs is None else f"; official {theirs * 1000:.0f} ms"
    print(f"  100,000 appends and 1,000 replacements near the end: {ours * 1000:.0f} ms{known}")
    return [*taken, (budgets.TAIL, None if theirs is None else ours / theirs)]


def _least(work: Callable[[], float], rounds: int) -> float:
    return min(work() for _ in range(rounds))


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


if __name__ == "__main__":
    main()
