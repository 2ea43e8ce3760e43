"""What a log has lost so far, so that a finding that only follows from an earlier one can say so."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable
from copy import copy


class Losses:
    """The events that were refused, and the numbers that no event has."""

    __slots__ = ("_ahead", "_gaps", "_refused", "_shadowed", "_starts", "head")

    def __init__(self) -> None:
        self._ahead = range(0)
        self._refused: dict[int, str] = {}
        self._starts: list[int] = []
        self._gaps: list[tuple[int, int | None]] = []
        self._shadowed: dict[int, int] = {}
        self.head: int | None = None
        """What was lost while the surface was still empty, and might have become its head."""

    def refuse(self, seq: int, event_type: str, shadowed: Iterable[int]) -> None:
        """Note a refused event, and the nodes that it would have taken the place of."""
        self._refused[seq] = event_type
        self._shadowed.update(dict.fromkeys(shadowed, seq))

    def skip(self, start: int, end: int, reporter: int | None) -> None:
        """Note that no event has a number from `start` up to `end` (excluded). The row `reporter` has the finding that says
        so; null when each number belongs to a row that was unusable and was reported as such."""
        self._starts.append(start)
        self._gaps.append((end, reporter))

    def ahead(self, start: int, end: int) -> Losses:
        """These losses and, for one look, the numbers of unusable rows right in front of an event."""
        losses = copy(self)
        losses._ahead = range(start, end)
        return losses

    @property
    def ahead_start(self) -> int | None:
        """The first of the numbers that are missing right in front of the event that is looked at."""
        return self._ahead.start if self._ahead else None

    def unskip(self, end: int) -> None:
        """Note that the latest gap ends at `end` already."""
        self._gaps[-1] = (end, self._gaps[-1][1])

    def blame(self, seq: int, types: Container[str]) -> int | None:
        """The refused or missing event because of which `seq` is no event of these types."""
        refused = self._refused.get(seq)
        if refused is not None:
            # What has no type that counts may have been meant as anything.
            return seq if not refused or refused in types else None
        return seq if seq in self._ahead else self.blame_gap(seq)

    def blame_gap(self, seq: int) -> int | None:
        """The event that says that the number `seq` is missing."""
        found = bisect_right(self._starts, seq) - 1
        if found < 0:
            return None
        end, reporter = self._gaps[found]
        if seq >= end:
            return None
        return seq if reporter is None else reporter

    def first_gap(self) -> int | None:
        """The event that says that numbers are missing, null when none are."""
        return self.blame_gap(self._starts[0]) if self._starts else None

    def blame_uncited(self, missing: Iterable[int]) -> int | None:
        """The refused replacement because of which these nodes still stand on the surface."""
        blamed = {self._shadowed.get(seq) for seq in missing}
        return min(seq for seq in blamed if seq is not None) if None not in blamed else None
