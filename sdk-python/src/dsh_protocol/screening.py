"""A first look at many events at once: of which is the data known to be in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from .dialect import Dialect
from .findings import Finding
from .rows import Event, lossless_findings
from .schemas import Validator
from .state import LEFT_OPEN
from .streams import Ordinary


class Screen:
    """Looks at the data of the events of one log, batch by batch."""

    def __init__(self, dialect: Dialect, validator: Validator) -> None:
        self._ordinary = Ordinary(dialect.version)
        self._validator = validator
        self.decoded: list[Event] = []
        """The events of the latest batch whose data had to be decoded for that."""
        self.findings: list[Finding] = []
        """What was found in the latest batch: numbers that do not survive a round trip."""

    def gists(self, batch: Sequence[Event]) -> list[Any]:
        """What `LogState.take` has to see of the data of each event; null where more than that has to be looked at."""
        gists: list[Any] = [None] * len(batch)
        places: dict[str, list[int]] = defaultdict(list)
        for place, event in enumerate(batch):
            places[event.type].append(place)
        for kind, of_kind in places.items():
            for place, gist in zip(of_kind, self._read(kind, batch, of_kind), strict=True):
                gists[place] = gist
        self.decoded = [e for e, gist in zip(batch, gists, strict=True) if gist is None]
        self.findings = lossless_findings(self.decoded)
        for kind in places.keys() - LEFT_OPEN:
            of_kind = [place for place in places[kind] if gists[place] is None]
            values = [batch[place].data for place in of_kind]
            if values and self._validator.take_members(kind, "data", values):
                for place, value in zip(of_kind, values, strict=True):
                    gists[place] = value
        return gists

    def _read(self, kind: str, batch: Sequence[Event], places: Sequence[int]) -> Sequence[Any]:
        """The gists of the events of one type at these places, as far as their stored data says at once that it is in order."""
        if kind in self._ordinary.types:
            return [self._ordinary.gist(batch[place]) for place in places]
        nothing = [None] * len(places)
        if kind in LEFT_OPEN:
            return nothing
        payloads = [payload for place in places if (payload := batch[place].payload) is not None]
        if len(payloads) != len(places):
            return nothing
        return self._validator.read_members(kind, "data", payloads) or nothing
