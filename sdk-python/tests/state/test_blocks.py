"""The node sequence against a plain list, under every mix of appends, replacements and snapshots."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_protocol.state import _blocks
from dsh_protocol.state._blocks import NodeSequence

Step = tuple[bool, float, float]
STEPS = st.lists(
    st.tuples(st.booleans(), st.floats(0, 1, exclude_max=True), st.floats(0, 1, exclude_max=True)),
    max_size=120,
)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_blocks, "BLOCK_SIZE", 4)


def run(steps: list[Step]) -> tuple[NodeSequence, list[int]]:
    """A sequence and the list it has to equal, after appends (true) and replacements of a range."""
    nodes, model = NodeSequence(), list[int]()
    for seq, (appends, one, other) in enumerate(steps):
        if appends or not model:
            nodes.append(seq)
            model.append(seq)
            continue
        first, last = sorted((int(one * len(model)), int(other * len(model))))
        start, end = nodes.position(model[first]), nodes.position(model[last])
        assert start is not None
        assert end is not None
        assert nodes.between(start, end) == model[first : last + 1]
        nodes.replace(start, end, seq)
        model[first : last + 1] = [seq]
    return nodes, model


@settings(max_examples=300)
@given(STEPS)
def test_it_is_the_list(steps: list[Step]) -> None:
    nodes, model = run(steps)
    assert list(nodes) == model
    assert len(nodes) == len(model)
    assert nodes.first() == (model[0] if model else None)
    positions = [nodes.position(seq) for seq in model]
    assert all(position is not None for position in positions)
    assert positions == sorted(positions, key=lambda p: (-1, -1) if p is None else p)
    gone = set(range(len(steps))) - set(model)
    assert not any(seq in nodes for seq in gone)


@settings(max_examples=100)
@given(STEPS, st.integers(0, 120))
def test_a_snapshot_stays_what_it_was(steps: list[Step], at: int) -> None:
    nodes, model = run(steps[:at])
    taken, then = nodes.snapshot(), list(model)
    more, _ = run(steps)
    for seq in range(1000, 1010):
        nodes.append(seq)
    if then:
        first = nodes.position(then[0])
        assert first is not None
        nodes.replace(first, first, 2000)
    assert list(taken) == then
    assert len(taken) == len(then)
    assert len(list(more)) == len(more)


@settings(max_examples=100)
@given(STEPS)
def test_a_count_asks_about_each_node_of_a_view(steps: list[Step]) -> None:
    nodes, model = run(steps)
    expected = sum(1 for seq in model if seq % 3)
    assert nodes.snapshot().count(lambda seqs: [seq % 3 > 0 for seq in seqs]) == expected
    nodes.append(10_000)
    assert nodes.snapshot().count(lambda seqs: [seq % 3 > 0 for seq in seqs]) == expected + 1


def test_a_count_asks_about_a_node_once() -> None:
    nodes = NodeSequence()
    asked: list[int] = []

    def keep(seqs: list[int]) -> list[bool]:
        asked.extend(seqs)
        return [True] * len(seqs)

    for seq in range(50):
        nodes.append(seq)
        assert nodes.snapshot().count(keep) == seq + 1
    assert asked == list(range(50))
