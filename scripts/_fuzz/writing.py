"""What a writer makes of a log that readers take: the next event, the end of an interrupted turn, a fork."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

from dsh_protocol.conformance.adapter import answer

from .mutations import mutate
from .writer import Json, Log

_APPENDED = ("type", "data", "surfaceOp", "sourceEventSeqs")


def writing_questions(rng: random.Random, log: Log, version: int) -> Iterator[tuple[str, Json]]:
    """Ops with their inputs. The log stops somewhere, as one does whose writer has died there."""
    cut = rng.randint(0, len(log.events))
    given = {"header": log.header, "events": log.events[:cut]}
    if not _is_taken(given, version):
        return
    yield "repair", given
    boundary = rng.randint(-1, cut)
    yield "fork", given if rng.random() < 0.2 else {**given, "boundary": boundary}
    yield from _append(rng, log, cut, version)


def _append(rng: random.Random, log: Log, cut: int, version: int) -> Iterator[tuple[str, Json]]:
    """The event that stands at the cut, or one of any kind, as the next one of a session that was opened there."""
    time = log.events[cut - 1]["time"] if cut else 0
    marker: Json = {"type": "session/end-seed", "seq": cut, "time": time, "data": {}}
    opened = {"header": log.header, "events": [*log.events[:cut], marker]}
    if not log.events or not _is_taken(opened, version):
        return
    event = _next(rng, log, cut)
    if isinstance(event.get("type"), str) and "data" in event:
        # Arguments of an append that are null are no arguments here; as members of a row they are asked about by `check`.
        appended = {
            name: event[name]
            for name in _APPENDED
            if name in event and (name == "data" or event[name] is not None)
        }
        yield "append", {**opened, "append": appended}


def _next(rng: random.Random, log: Log, cut: int) -> Json:
    """An event to append: of those at the cut, or one that a change of the log has reached."""
    near = log.events[cut : cut + 3] or log.events
    if rng.random() < 0.5:
        changed = copy.deepcopy(log)
        for _ in range(3):
            mutate(rng, changed)
        near = [event for event in changed.events if event not in log.events] or near
    event = rng.choice(near)
    return event if isinstance(event, dict) else {}


def _is_taken(given: Json, version: int) -> bool:
    return given["header"].get("version") == version and "ok" in answer("check", given, version)
