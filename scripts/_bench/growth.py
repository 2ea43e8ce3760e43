"""How one step grows with the surface: the same operation at 10,000 and at 100,000 nodes."""

from __future__ import annotations

import time
from typing import Any

from dsh_protocol.dialect import dialect
from dsh_protocol.rows import Event
from dsh_protocol.state import LogState

_TIME = 1_700_000_000_000
_REPEATS = 1000


def surface_of(nodes: int) -> LogState:
    """A state whose surface has that many user messages."""
    state = LogState(dialect(4), rules="envelope")
    state.extend([_message(seq) for seq in range(nodes)])
    return state


def append_step(nodes: int) -> float:
    """CPU seconds of one append and the next request's message view."""
    return _step(nodes, [_message(seq) for seq in range(nodes, nodes + _REPEATS)])


def replace_step(nodes: int) -> float:
    """CPU seconds of one replacement of the last node and the next request's message view."""
    last = range(nodes - 1, nodes - 1 + _REPEATS)
    return _step(nodes, [_replacement(node + 1, node) for node in last])


def _step(nodes: int, events: list[Event]) -> float:
    state = surface_of(nodes)
    started = time.process_time()
    for event in events:
        state.advance(event)
        state.surface.messages()
    return (time.process_time() - started) / len(events)


def tail_replacements(nodes: int) -> float:
    """CPU seconds of folding that many appends and 1,000 replacements near the end."""
    events = [_message(seq) for seq in range(nodes)]
    events += [_replacement(seq + 1000, seq) for seq in range(nodes - 1000, nodes)]
    state = LogState(dialect(4), rules="envelope")
    started = time.process_time()
    state.extend(events)
    return time.process_time() - started


def _message(seq: int, **more: Any) -> Event:
    data = {
        "content": [{"type": "text", "text": "x"}],
        "source": {"kind": "user"},
        "role": "user",
        "id": f"m{seq}",
    }
    value: dict[str, Any] = {"type": "user/message", "seq": seq, "time": _TIME, "data": data}
    return Event.from_value({**value, "surfaceOp": "append", **more})


def _replacement(seq: int, node: int) -> Event:
    operation = {"op": "replace", "startSeq": node, "endSeq": node}
    return _message(seq, sourceEventSeqs=[node], surfaceOp=operation)
