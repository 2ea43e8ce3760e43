"""Range encoding of `sourceEventSeqs`: the only transformation between a stored and a logical event.

Written: a strictly increasing list with each run of three or more consecutive numbers as the pair
`[first, last]`; any other list as it is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from dsh_protocol.findings import StorageError
from dsh_protocol.jsonvalue import is_count

EncodedSeqs: TypeAlias = "list[int | list[int]]"

RULE = "envelope/source-seqs-encoding"
_SHORTEST_RUN = 3


def encode_seqs(seqs: Sequence[int]) -> EncodedSeqs:
    """The stored form of a list of event numbers."""
    if any(later <= earlier for earlier, later in pairwise(seqs)):
        return list(seqs)
    encoded: EncodedSeqs = []
    for first, last in _runs(seqs):
        if last - first + 1 >= _SHORTEST_RUN:
            encoded.append([first, last])
        else:
            encoded.extend(range(first, last + 1))
    return encoded


def _runs(seqs: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for i in range(1, len(seqs) + 1):
        if i == len(seqs) or seqs[i] != seqs[i - 1] + 1:
            yield seqs[start], seqs[i - 1]
            start = i


def decode_seqs(encoded: Sequence[Any], own_seq: int) -> list[int]:
    """The event numbers that a stored list names, for the event with number `own_seq`.

    Raises:
        StorageError: `envelope/source-seqs-encoding`, whose message says what is wrong.
    """
    problem = encoding_problem(encoded, own_seq)
    if problem is not None:
        raise StorageError(RULE, problem, path="/sourceEventSeqs")
    return expand(encoded)


def has_ranges(encoded: Sequence[Any]) -> bool:
    """Whether anything in a stored list is a pair."""
    return any(isinstance(member, list) for member in encoded)


def encoding_problem(encoded: object, own_seq: int) -> str | None:
    """Why a stored list cannot be decoded for the event `own_seq`; null when it can."""
    if not isinstance(encoded, list):
        return "it is not a list"
    ranges = has_ranges(encoded)
    previous = -1
    for member in encoded:
        pair = member if isinstance(member, list) else [member, member]
        if len(pair) != 2 or not all(map(is_count, pair)):
            return "a member is neither an event number nor a pair of them"
        first, last = pair
        if first > last:
            return f"the pair [{first}, {last}] is reversed"
        if last >= own_seq:
            return f"{last} is not before {own_seq}"
        if ranges and first <= previous:
            return f"{first} does not follow {previous} in a list with pairs"
        previous = last
    if not ranges and len(set(encoded)) != len(encoded):
        return "an event is named twice"
    return None


def size(encoded: Sequence[Any]) -> int:
    """How many numbers a decodable list expands to."""
    return sum(m[1] - m[0] + 1 if isinstance(m, list) else 1 for m in encoded)


def expand(encoded: Sequence[Any]) -> list[int]:
    """The numbers of a decodable list."""
    seqs: list[int] = []
    for member in encoded:
        if isinstance(member, list):
            first, last = member
            seqs.extend(range(first, last + 1))
        else:
            seqs.append(member)
    return seqs


class CitedRanges(Collection[int]):
    """The numbers of a decodable list with pairs, not written out: a short row can cite a whole long log."""

    __slots__ = ("_firsts", "_lasts", "_size")

    def __init__(self, encoded: Sequence[Any]) -> None:
        pairs = [m if isinstance(m, list) else [m, m] for m in encoded]
        # A list with pairs is decodable only when it ascends.
        self._firsts = [pair[0] for pair in pairs]
        self._lasts = [pair[1] for pair in pairs]
        self._size = size(encoded)

    def __contains__(self, seq: object) -> bool:
        at = bisect_right(self._firsts, seq) - 1 if isinstance(seq, int) else -1
        return at >= 0 and seq <= self._lasts[at]

    def __iter__(self) -> Iterator[int]:
        for first, last in zip(self._firsts, self._lasts, strict=True):
            yield from range(first, last + 1)

    def __len__(self) -> int:
        return self._size

    @property
    def ends(self) -> list[int]:
        """The first and the last number of each range, ascending, each once."""
        return sorted({*self._firsts, *self._lasts})


def salvage(encoded: object, own_seq: int, most: int) -> list[int]:
    """The earlier events, at most `most`, that an undecodable list seems to name.

    With them, what rests on the citations is not reported only because of their encoding.
    """
    named: set[int] = set()
    for member in encoded if isinstance(encoded, list) else ():
        pair = member if isinstance(member, list) else [member]
        counts = [number for number in pair if is_count(number, most=own_seq - 1)]
        if counts and len(named) + max(counts) - min(counts) < most:
            named.update(range(min(counts), max(counts) + 1))
    return sorted(named)
