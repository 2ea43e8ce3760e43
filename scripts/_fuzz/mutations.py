"""Small changes to a log, each of which may or may not break it."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

from .writer import Log

_VALUES: tuple[Any, ...] = (None, True, False, 0, 1, -1, 1.5, 2**53, "", "x", [], {}, [0], {"a": 1})
_ENVELOPE = ("type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable")


def mutate(rng: random.Random, log: Log) -> str:
    """Change a log in place; what was done."""
    change = rng.choice(_CHANGES)
    if not log.events and change is not _header:
        return "nothing"
    change(rng, log)
    return change.__name__[1:]


def _drop(rng: random.Random, log: Log) -> None:
    del log.events[rng.randrange(len(log.events))]
    _renumber(rng, log)


def _duplicate(rng: random.Random, log: Log) -> None:
    at = rng.randrange(len(log.events))
    log.events.insert(at, copy.deepcopy(log.events[at]))
    _renumber(rng, log)


def _swap(rng: random.Random, log: Log) -> None:
    if len(log.events) > 1:
        at = rng.randrange(len(log.events) - 1)
        log.events[at], log.events[at + 1] = log.events[at + 1], log.events[at]
        _renumber(rng, log)


def _truncate(rng: random.Random, log: Log) -> None:
    del log.events[rng.randrange(len(log.events)) :]


def _renumber(rng: random.Random, log: Log) -> None:
    if rng.random() < 0.8:
        for seq, event in enumerate(log.events):
            event["seq"] = seq


def _envelope(rng: random.Random, log: Log) -> None:
    event = rng.choice(log.events)
    name = rng.choice((*_ENVELOPE, "extra"))
    if rng.random() < 0.4:
        event.pop(name, None)
    else:
        event[name] = copy.deepcopy(rng.choice(_VALUES))


def _number(rng: random.Random, log: Log) -> None:
    event = rng.choice(log.events)
    name = rng.choice(("seq", "time"))
    if type(event.get(name)) is int:
        event[name] += rng.choice((-1, 1, 2))


def _payload(rng: random.Random, log: Log) -> None:
    """Change, remove or add a member somewhere inside the data of an event."""
    places = list(_places(rng.choice(log.events).get("data")))
    if not places:
        return
    holder, key = rng.choice(places)
    if rng.random() < 0.3:
        del holder[key]
    elif rng.random() < 0.2 and isinstance(holder, dict):
        holder["extra"] = copy.deepcopy(rng.choice(_VALUES))
    else:
        holder[key] = copy.deepcopy(rng.choice(_VALUES))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in list(members):
        yield value, key
        yield from _places(inner)


def _operation(rng: random.Random, log: Log) -> None:
    event = rng.choice(log.events)
    last = len(log.events)
    start, end = rng.randrange(-1, last), rng.randrange(-1, last)
    operation: Any = {"op": "replace", "startSeq": start, "endSeq": end}
    change = rng.random()
    if change < 0.2:
        event.pop("surfaceOp", None)
    elif change < 0.4:
        event["surfaceOp"] = "append"
    elif change < 0.8:
        event["surfaceOp"] = operation
        if rng.random() < 0.7:
            event["sourceEventSeqs"] = list(range(max(0, min(start, end)), max(start, end) + 1))
    elif isinstance(event.get("surfaceOp"), dict):
        name = rng.choice(("op", "startSeq", "endSeq", "extra"))
        event["surfaceOp"][name] = copy.deepcopy(rng.choice(_VALUES))


def _sources(rng: random.Random, log: Log) -> None:
    event = rng.choice(log.events)
    sources = event.get("sourceEventSeqs")
    change = rng.random()
    if isinstance(sources, list) and sources and change < 0.3:
        del sources[rng.randrange(len(sources))]
    elif isinstance(sources, list) and change < 0.5:
        sources.append(rng.choice((0, 0, len(log.events), -1, "0", 1.5, [0, 1])))
    elif change < 0.7:
        event.pop("sourceEventSeqs", None)
    else:
        event["sourceEventSeqs"] = sorted(
            rng.sample(range(len(log.events)), min(3, len(log.events)))
        )


def _type(rng: random.Random, log: Log) -> None:
    event = rng.choice(log.events)
    event["type"] = rng.choice([other.get("type") for other in log.events] + ["acme/x", "plugin:x"])


def _replacement(rng: random.Random, log: Log) -> None:
    """Append a replacement of some range of nodes, mostly a sound one."""
    nodes = [
        e["seq"] for e in log.events if e.get("surfaceOp") == "append" and type(e.get("seq")) is int
    ]
    if len(nodes) < 2:
        return
    start = rng.randrange(1, len(nodes))
    end = rng.randrange(start, len(nodes))
    seq = len(log.events)
    message = {"role": "user", "content": [], "source": {"kind": "user"}, "id": f"r-{seq}"}
    log.events.append(
        {
            "type": "user/message",
            "seq": seq,
            "time": 1,
            "data": message,
            "surfaceOp": {"op": "replace", "startSeq": nodes[start], "endSeq": nodes[end]},
            "sourceEventSeqs": nodes[start : end + 1],
        }
    )


def _header(rng: random.Random, log: Log) -> None:
    names = ("type", "version", "id", "createdAt", "cwd", "isSeeded", "delegationDepth", "extra")
    name = rng.choice(names)
    if rng.random() < 0.3:
        log.header.pop(name, None)
    else:
        log.header[name] = copy.deepcopy(rng.choice(_VALUES))


_CHANGES: tuple[Callable[[random.Random, Log], None], ...] = (
    _drop,
    _duplicate,
    _swap,
    _truncate,
    _envelope,
    _number,
    _payload,
    _payload,
    _operation,
    _operation,
    _sources,
    _sources,
    _type,
    _replacement,
    _header,
)
