"""The load that `scripts/bench` measures, small: sessions that stream on one event loop, and how they are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from _bench import load
from _bench.endpoint import words


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_nothing_is_lost_or_out_of_order(tmp_path: Path, backend: str) -> None:
    done = load.run(tmp_path, 20, backend=backend)
    assert (done.sessions, done.at_once) == (20, 20)
    # By the order of loop/attempt-order: 4 events around the steps of a turn, start and end and answer of both steps, a user
    # message, a call and its result; in the first turn a system prompt, a header and a context.
    assert done.events == 20 * (2 * (4 + 2 * 3 + 3) + 3)
    assert done.frames > done.events
    assert done.memory < 20 * 5_000_000


def test_the_comparison_sees_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("_bench.load.words", lambda *of: [*words(*of), "one more"])
    with pytest.raises(AssertionError, match="answer 0 differs"):
        load.run(tmp_path, 1)


def test_the_comparison_sees_chunks_out_of_order() -> None:
    seen = load.Joined()
    seen.add({"type": "text-delta", "index": 0, "text": "a"}, 1)
    with pytest.raises(AssertionError, match="chunk 0 came behind 1"):
        seen.add({"type": "text-delta", "index": 0, "text": "b"}, 0)
