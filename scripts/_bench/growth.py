"""How one step grows with the surface: the same operation at 10,000 and at 100,000 nodes."""

from __future__ import annotations

import time
from typing import Any

from dsh_protocol.dialect import dialect
from dsh_protocol.rows import Event
from dsh_protocol.state import LogState

_TIME = 1_700_000_000_000
_REPEATS = 300


def surface_of(nodes: int) -> LogState:
    """A state whose surface has that many user messages."""
    state = LogState(dialect(4), rules="envelope")
    for seq in range(nodes):
        state.advance(_message(seq))
    return state


def append_step(nodes: int) -> float:
    """CPU seconds of one append and the next request's message view."""
    state = surface_of(nodes)
    started = time.process_time()
    for seq in range(nodes, nodes + _REPEATS):
        state.advance(_message(seq))
        state.surface.messages()
    return (time.process_time() - started) / _REPEATS


def replace_step(nodes: int) -> float:
    """CPU seconds of one replacement of the last node and the next request's message view."""
    state = surface_of(nodes)
    last = nodes - 1
    started = time.process_time()
    for seq in range(nodes, nodes + _REPEATS):
        state.advance(_replacement(seq, last))
        state.surface.messages()
        last = seq
    return (time.process_time() - started) / _REPEATS


def tail_replacements(nodes: int) -> float:
    """CPU seconds of building the surface and of 1,000 replacements near its end."""
    started = time.process_time()
    state = surface_of(nodes)
    at = list(range(nodes - 1000, nodes))
    for offset, node in enumerate(at):
        state.advance(_replacement(nodes + offset, node))
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
