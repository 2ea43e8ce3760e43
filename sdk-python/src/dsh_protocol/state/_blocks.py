"""The order of the surface: event numbers in blocks.

A replacement names its range by event number and may lie anywhere, so both finding a node and splicing must stay cheap on a
long surface; and every request wants the whole order as it stood then. A flat list loses at all three. Here a node is found
through an index of blocks, a splice rewrites the blocks it touches and no other, and a snapshot shares all blocks: a block
that a snapshot may hold is only ever appended to (the last one, behind the snapshot's end) or left behind.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import attrgetter
from typing import TypeAlias

BLOCK_SIZE = 256
"""Nodes of a full block. Smaller makes splices cheaper and snapshots of long surfaces dearer."""

Keep: TypeAlias = "Callable[[list[int]], Iterable[bool]]"
"""Says for each of some nodes whether it is kept."""

Position: TypeAlias = tuple[int, int]
"""A place in the order: the rank of a block and an offset into it. Positions compare as the nodes stand."""


class Block:
    """A run of neighbouring nodes. Ranks grow along the surface; they are not consecutive."""

    __slots__ = ("_kept", "rank", "seqs")

    def __init__(self, rank: int, seqs: list[int]) -> None:
        self.rank = rank
        self.seqs = seqs
        self._kept = [0]

    def count(self, keep: Keep, end: int) -> int:
        """How many of the first `end` nodes are kept; each node is asked about once."""
        kept = self._kept
        for is_kept in keep(self.seqs[len(kept) - 1 : end]):
            kept.append(kept[-1] + is_kept)
        return kept[end]


_RANK = attrgetter("rank")


class Sealed:
    """The blocks in front of the last one, which no longer change."""

    __slots__ = ("_kept", "blocks", "nodes")

    def __init__(self, blocks: list[Block], nodes: int) -> None:
        self.blocks = blocks
        self.nodes = nodes
        self._kept: int | None = None

    def count(self, keep: Keep) -> int:
        """How many nodes are kept."""
        if self._kept is None:
            self._kept = sum(block.count(keep, len(block.seqs)) for block in self.blocks)
        return self._kept


class NodeView:
    """The order at one moment; later changes do not reach it. Iterates over event numbers."""

    __slots__ = ("_count", "_sealed", "_tail")

    def __init__(self, sealed: Sealed, tail: Block, count: int) -> None:
        self._sealed = sealed
        self._tail = tail
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.runs())

    def runs(self) -> Iterator[list[int]]:
        """The nodes in order, in lists that the caller leaves as they are."""
        for block in self._sealed.blocks:
            yield block.seqs
        yield self._tail.seqs[: self._count - self._sealed.nodes]

    def count(self, keep: Keep) -> int:
        """How many nodes are kept. All views of a surface ask the same question: answers are remembered for all of them."""
        return self._sealed.count(keep) + self._tail.count(keep, self._count - self._sealed.nodes)


class NodeSequence:
    """The nodes of a surface, in order, under appends and replacements of a range by one node."""

    __slots__ = ("_blocks", "_count", "_home", "_sealed")

    def __init__(self) -> None:
        self._blocks = [Block(0, [])]
        self._count = 0
        # Nodes of the last block are not indexed before it is full, so that an append is two operations.
        self._home: dict[int, Block] = {}
        self._sealed: Sealed | None = None

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[int]:
        return iter(self.snapshot())

    def __contains__(self, seq: int) -> bool:
        return self._block_of(seq) is not None

    def first(self) -> int | None:
        """The event number of node 0, null while there is none."""
        return self._blocks[0].seqs[0] if self._count else None

    def append(self, seq: int) -> None:
        """Add a node at the end."""
        tail = self._blocks[-1]
        tail.seqs.append(seq)
        self._count += 1
        if len(tail.seqs) >= BLOCK_SIZE:
            self._home.update(dict.fromkeys(tail.seqs, tail))
            self._blocks.append(Block(tail.rank + 1, []))
            self._sealed = None

    def position(self, seq: int) -> Position | None:
        """Where a node stands, null when the event is no node now."""
        block = self._block_of(seq)
        return None if block is None else (block.rank, block.seqs.index(seq))

    def following(self, seq: int) -> int | None:
        """The node behind another one, null when there is none."""
        position = self.position(seq)
        if position is None:
            return None
        index, offset = self._index(position), position[1] + 1
        for block in self._blocks[index:]:
            if offset < len(block.seqs):
                return block.seqs[offset]
            offset = 0
        return None

    def between(self, start: Position, end: Position) -> list[int]:
        """The nodes from `start` to `end`, both included."""
        first, last = self._index(start), self._index(end)
        if first == last:
            return self._blocks[first].seqs[start[1] : end[1] + 1]
        middle = chain.from_iterable(block.seqs for block in self._blocks[first + 1 : last])
        tail = self._blocks[last].seqs[: end[1] + 1]
        return [*self._blocks[first].seqs[start[1] :], *middle, *tail]

    def walk(self, start: Position, end: Position) -> Iterator[int]:
        """The nodes that `between` gives, one by one: for callers who may stop early."""
        first, last = self._index(start), self._index(end)
        for index in range(first, last + 1):
            seqs = self._blocks[index].seqs
            low = start[1] if index == first else 0
            high = end[1] + 1 if index == last else len(seqs)
            for place in range(low, high):
                yield seqs[place]

    def replace(self, start: Position, end: Position, seq: int) -> None:
        """Put one node in the place of the nodes from `start` to `end`, both included."""
        gone = self.between(start, end)
        for shadowed in gone:
            self._home.pop(shadowed, None)
        first, last = self._index(start), self._index(end)
        before = self._blocks[first].seqs[: start[1]]
        after = self._blocks[last].seqs[end[1] + 1 :]
        ranks = (self._blocks[first].rank, self._blocks[last].rank)
        fresh = _blocks([*before, seq, *after], ranks)
        for block in fresh:
            self._home.update(dict.fromkeys(block.seqs, block))
        self._blocks[first : last + 1] = fresh
        self._count += 1 - len(gone)
        self._sealed = None

    def snapshot(self) -> NodeView:
        """The order as it stands now."""
        tail = self._blocks[-1]
        if self._sealed is None:
            self._sealed = Sealed(self._blocks[:-1], self._count - len(tail.seqs))
        return NodeView(self._sealed, tail, self._count)

    def _block_of(self, seq: int) -> Block | None:
        block = self._home.get(seq)
        if block is None and seq in self._blocks[-1].seqs:
            return self._blocks[-1]
        return block

    def _index(self, position: Position) -> int:
        return bisect_left(self._blocks, position[0], key=_RANK)


def _blocks(seqs: list[int], ranks: tuple[int, int]) -> list[Block]:
    """One block, or two when one would be too long: that takes the rests of two blocks, so there are two ranks for them."""
    if len(seqs) < BLOCK_SIZE or ranks[0] == ranks[1]:
        return [Block(ranks[0], seqs)]
    half = len(seqs) // 2
    return [Block(ranks[0], seqs[:half]), Block(ranks[1], seqs[half:])]
