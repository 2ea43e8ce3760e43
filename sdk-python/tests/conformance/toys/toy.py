"""Adapters that are broken on purpose, each in one way: `python toy.py WAY`.

They know two ops, `seqs.encode` and `json.roundtrip`, the second only for texts that are written as they stand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]


def right(message: Json) -> Json:
    """What an adapter without fault answers."""
    if message["cmd"] == "start":
        return {"protocol": 1, "implementation": {"name": "toy", "language": "Python"}}
    if message["cmd"] == "capabilities":
        return {"ops": {"seqs.encode": [3, 4], "json.roundtrip": [4]}, "reports": []}
    number = {"number": message["number"]}
    if message["op"] == "json.roundtrip":
        try:
            json.loads(message["input"]["text"])
        except (KeyError, ValueError):
            return {**number, "refused": True}
        return {**number, "ok": {"text": message["input"]["text"]}}
    try:
        return {**number, "ok": {"seqs": encoded(message["input"]["seqs"])}}
    except KeyError:
        return {**number, "error": "no seqs"}


def encoded(seqs: list[int]) -> list[Any]:
    """Runs of three and more as pairs, where all ascend."""
    if sorted(set(seqs)) != seqs:
        return list(seqs)
    made: list[Any] = []
    at = 0
    while at < len(seqs):
        end = at
        while end + 1 < len(seqs) and seqs[end + 1] == seqs[end] + 1:
            end += 1
        made += [[seqs[at], seqs[end]]] if end - at >= 2 else seqs[at : end + 1]
        at = end + 1
    return made


def case_only(change: Callable[[Json], Json]) -> Callable[[Json], Json]:
    """A fault that shows when a case is asked."""
    return lambda message: change(message) if message["cmd"] == "case" else right(message)


def crash(_message: Json) -> Json:
    print("the reason stands here", file=sys.stderr)
    sys.exit(3)


def crash_on_nonsense(message: Json) -> Json:
    return right(message) if "nothing" not in message["input"] else crash(message)


def hang(_message: Json) -> Json:
    time.sleep(3600)
    raise AssertionError


def hang_on_the_second(message: Json) -> Json:
    return hang(message) if message["number"] == 2 else right(message)


def noise(message: Json) -> Json:
    print("loading ...", flush=True)
    return right(message)


def endless(_message: Json) -> Json:
    # A line that never ends, longer than any that the harness takes.
    for _ in range(80):
        sys.stdout.write("x" * 1_000_000)
    sys.stdout.flush()
    return hang(_message)


def flood_at_stop(message: Json) -> Json:
    while message["cmd"] == "stop":
        print("x" * 1_000_000)
    return right(message)


def twice(message: Json) -> Json:
    print(json.dumps(right(message)), flush=True)
    # The second line is there when the next question is asked.
    return right(message)


def with_mark(message: Json) -> Json:
    sys.stdout.write("\ufeff")
    return right(message)


def latin(message: Json) -> Json:
    sys.stdout.buffer.write('{"number": 1, "error": "\xe4"}\n'.encode("latin-1"))
    sys.stdout.flush()
    return right(message)


def deep(message: Json) -> Json:
    # As deep as the parser just takes, and what looks at the answer does not.
    depth = 900
    print(f'{{"number": {message["number"]}, "ok": {"[" * depth}{"]" * depth}}}', flush=True)
    return right(message)


def heir(_message: Json) -> Json:
    # Something else holds the pipes of a process that has ended.
    child = [sys.executable, "-c", "import time; time.sleep(20)"]
    subprocess.Popen(child, start_new_session=True)
    os._exit(4)


def no_stop(message: Json) -> Json:
    return hang(message) if message["cmd"] == "stop" else right(message)


def bad_exit(message: Json) -> Json:
    if message["cmd"] == "stop":
        sys.exit(1)
    return right(message)


def two_ways(message: Json) -> Json:
    answer = right(message)
    return {**answer, "ok": {"seqs": [message["number"]]}} if "ok" in answer else answer


WAYS: dict[str, Callable[[Json], Json]] = {
    "right": right,
    "crash-at-start": crash,
    "crash": case_only(crash),
    "crash-on-nonsense": case_only(crash_on_nonsense),
    "hang-at-start": hang,
    "hang": case_only(hang),
    "hang-once": case_only(hang_on_the_second),
    "noise": noise,
    "noise-in-cases": case_only(noise),
    "endless": case_only(endless),
    "not-an-object": case_only(lambda message: [right(message)]),  # type: ignore[arg-type,return-value]
    "two-verdicts": case_only(lambda message: {**right(message), "ok": 1, "refused": True}),
    "unknown-member": case_only(lambda message: {**right(message), "seqs": []}),
    "wrong-number": case_only(lambda message: {**right(message), "number": 0}),
    "always-wrong": case_only(lambda message: {"number": message["number"], "ok": "wrong"}),
    "always-refuses": case_only(lambda message: {"number": message["number"], "refused": True}),
    "lies-about-support": case_only(
        lambda message: {"number": message["number"], "unsupported": "not yet"}
    ),
    "always-fails": case_only(lambda message: {"number": message["number"], "error": "a bug"}),
    "two-ways": case_only(two_ways),
    "twice": case_only(twice),
    "bye": lambda message: {"bye": True} if message["cmd"] == "stop" else right(message),
    "flood-at-stop": flood_at_stop,
    "byte-order-mark": case_only(with_mark),
    "latin-1": case_only(latin),
    "deep": case_only(deep),
    "heir": case_only(heir),
    "surrogates": lambda message: (
        {"protocol": 1, "implementation": {"name": "\ud800", "version": "\udfff<b>"}}
        if message["cmd"] == "start"
        else right(message)
    ),
    "no-stop": no_stop,
    "bad-exit": bad_exit,
    "other-protocol": lambda message: {**right(message), "protocol": 2},
    "no-capabilities": lambda message: {} if message["cmd"] == "capabilities" else right(message),
    "unknown-op": lambda message: (
        {"ops": {"sums.add": [4]}} if message["cmd"] == "capabilities" else right(message)
    ),
}


TOLD_TO_STOP = ("no-stop", "bad-exit", "bye", "flood-at-stop")


def main(way: str) -> None:
    """Talk like an adapter."""
    answer = WAYS[way]
    for line in sys.stdin:
        message = json.loads(line)
        stops = message["cmd"] == "stop"
        if not stops or way in TOLD_TO_STOP:
            print(json.dumps(answer(message)), flush=True)
        if stops:
            return


main(sys.argv[1])
