"""Random logs and mutated ones, and random questions about prompts and tools, asked of this package and of the official
runtime. See `scripts/fuzz --help`."""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dsh_protocol.conformance.cases import find_corpus
from dsh_protocol.conformance.implementations import Conversation, find_implementation
from dsh_protocol.conformance.process import AdapterFailure

from .compare import Difference, differences, shown, text_differences, writing_differences
from .logs import random_log
from .mutations import mutate
from .prompts import prompt_differences
from .texts import Text, mutate_text, text_of
from .writer import Json, Log

OFFICIAL = {3: "official-runtime-0.1.5", 4: "official-runtime"}
_LIMIT = 20.0
_SHOWN = 20
_LONGEST = 60


def main() -> int:
    """Ask, count, keep what differs. The exit code is 1 when a difference has no reason."""
    given = _arguments()
    corpus = find_corpus()
    official = {
        version: Conversation.with_(find_implementation(name, corpus), corpus, _LIMIT)
        for version, name in OFFICIAL.items()
        if version in given.format
    }
    recordings = _recordings(corpus)
    for conversation in official.values():
        conversation.start()
    counts: Counter[str] = Counter()
    started = time.monotonic()
    for index in range(given.first, given.first + given.cases):
        version = given.format[index % len(given.format)]
        question = _question(random.Random(f"{given.seed}:{index}"), version, recordings[version])
        found = _differences(question, version, official[version])
        rng = random.Random(f"{given.seed}:{index}:writing")
        asked, more = _writing(rng, question, version, official[version])
        found += more
        found += _prompts(
            random.Random(f"{given.seed}:{index}:prompts"), version, official[version]
        )
        counts["logs"] += 1
        counts["prompts"] += 1
        counts["writing"] += asked
        counts[question.kind] += 1
        for difference in found:
            counts["explained" if difference.reason else "unexplained"] += 1
            if difference.reason is None:
                _keep(given.out, index, question, difference, counts["unexplained"])
        if sys.stderr.isatty() and index % 50 == 0:
            print(f"\r{counts['logs']} of {given.cases}", end="", file=sys.stderr, flush=True)
    for conversation in official.values():
        conversation.adapter.stop()
    seconds = time.monotonic() - started
    print(f"{counts['logs']} logs in {seconds:.0f} s: {dict(counts)}")
    return 1 if counts["unexplained"] or not counts["logs"] else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000, help="how many logs (default 20000)")
    parser.add_argument(
        "--seed", default=str(time.time_ns()), help="what the logs depend on (default: the time)"
    )
    parser.add_argument("--first", type=int, default=0, help="the number of the first log")
    parser.add_argument(
        "--format", type=int, nargs="+", choices=(3, 4), default=[4, 3], help="session formats"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("build/fuzz"), help="where logs that differ are kept"
    )
    given = parser.parse_args()
    print(f"seed {given.seed}")
    return given


def _recordings(corpus: Path) -> dict[int, list[Log]]:
    found: dict[int, list[Log]] = {3: [], 4: []}
    for path in sorted(corpus.glob("recordings/*/*/sessions/*/*/*.jsonl")):
        header, *events = map(json.loads, path.read_text(encoding="utf-8").split("\n")[:-1])
        log = Log(header, events)
        found[log.version].append(log)
    return found


@dataclass(frozen=True)
class _Question:
    """A log, as values or as text, and what was done to it."""

    log: Log | Text
    how: list[str]

    @property
    def kind(self) -> str:
        return "text" if isinstance(self.log, Text) else "mutated" if self.how else "sound"


def _question(rng: random.Random, version: int, recordings: list[Log]) -> _Question:
    # A copy: what random logs have in common would change for all that follow.
    if rng.random() < 0.3:
        log = copy.deepcopy(rng.choice(recordings))
        del log.events[rng.randint(1, _LONGEST) :]
    else:
        log = copy.deepcopy(random_log(rng, version))
    changes = rng.choice((0, 1, 1, 1, 2, 3))
    if rng.random() < 0.2:
        text = text_of(log)
        return _Question(text, [mutate_text(rng, text) for _ in range(max(1, changes))])
    return _Question(log, [mutate(rng, log) for _ in range(changes)])


def _differences(question: _Question, version: int, official: Conversation) -> list[Difference]:
    def ask(op: str, given: Json) -> Json:
        return official.ask("fuzz", op, version, given)

    try:
        if isinstance(question.log, Text):
            return text_differences(question.log, version, ask)
        return differences(question.log, version, ask)
    except AdapterFailure as failure:
        return [Difference("any", {}, {"error": f"{failure.kind}: {failure.why}"}, None)]


def _writing(
    rng: random.Random, question: _Question, version: int, official: Conversation
) -> tuple[int, list[Difference]]:
    def ask(op: str, given: Json) -> Json:
        return official.ask("fuzz", op, version, given)

    if isinstance(question.log, Text):
        return 0, []
    try:
        return writing_differences(rng, question.log, version, ask)
    except AdapterFailure as failure:
        return 1, [Difference("any", {}, {"error": f"{failure.kind}: {failure.why}"}, None)]


def _prompts(rng: random.Random, version: int, official: Conversation) -> list[Difference]:
    def ask(op: str, given: Json) -> Json:
        return official.ask("fuzz", op, version, given)

    try:
        return prompt_differences(rng, version, ask)
    except AdapterFailure as failure:
        return [Difference("any", {}, {"error": f"{failure.kind}: {failure.why}"}, None)]


def _keep(out: Path, index: int, question: _Question, difference: Difference, count: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    log = question.log
    given = log.given() if isinstance(log, Text) else {"header": log.header, "events": log.events}
    told = {"how": question.how, "input": given, **shown(difference)}
    path = out / f"{index}-{difference.op}.json"
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if count <= _SHOWN:
        theirs = difference.theirs.get("note", difference.theirs)
        theirs = theirs.partition(" (raw log")[0] if isinstance(theirs, str) else theirs
        print(
            f"{index} {difference.op} {question.how}: ours {_short(difference.ours)}, theirs {_short(theirs)}"
        )


_short = partial(lambda value, width: json.dumps(value)[:width], width=200)

if __name__ == "__main__":
    sys.exit(main())
