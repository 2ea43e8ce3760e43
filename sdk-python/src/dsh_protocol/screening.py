"""A first look at many events at once: of which is the data known to be in order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from .dialect import Dialect
from .findings import Finding
from .rows import Event, lossless_findings, release_payloads
from .schemas import Validator
from .state import LEFT_OPEN
from .streams import Ordinary


class Screen:
    """Looks at the data of the events of one log, batch by batch."""

    def __init__(self, dialect: Dialect, validator: Validator) -> None:
        self._ordinary = Ordinary(dialect.version)
        self._validator = validator
        self._decoded: list[Event] = []
        self.findings: list[Finding] = []
        """What was found in the latest batch: numbers that do not survive a round trip."""

    def gists(self, batch: Sequence[Event]) -> list[Any]:
        """What `LogState.take` has to see of the data of each event; null where more than that has to be looked at."""
        gists: list[Any] = [None] * len(batch)
        places: dict[str, list[int]] = defaultdict(list)
        for place, event in enumerate(batch):
            places[event.type].append(place)
        for kind in self._ordinary.types & places.keys():
            for place in places.pop(kind):
                gists[place] = self._ordinary.gist(batch[place])
        self._decoded = [e for e, gist in zip(batch, gists, strict=True) if gist is None]
        self.findings = lossless_findings(self._decoded)
        for kind, of_kind in places.items():
            if kind in LEFT_OPEN:
                continue
            values = [batch[place].data for place in of_kind]
            if self._validator.take_members(kind, "data", values):
                for place, value in zip(of_kind, values, strict=True):
                    gists[place] = value
        return gists

    def release(self) -> None:
        """Let go of the data of the latest batch."""
        release_payloads(self._decoded)
