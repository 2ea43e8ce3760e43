"""What a session inherited: the events in front of the last `session/end-seed` that says so (rules `seed/*`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._report import Report

if TYPE_CHECKING:
    from dsh_protocol.rows import Event, Header

END_SEED = "session/end-seed"


def is_inherited_marker(data: Any) -> bool:
    """Whether the data of a session/end-seed ends an inherited prefix (and not just a restored one)."""
    return isinstance(data, dict) and data.get("inherited") is True


def check(report: Report, data: Any, header: Header) -> None:
    """Look at the data of a session/end-seed."""
    if not isinstance(data, dict):
        report.add("seed/marker-data", "data")
    elif is_inherited_marker(data) and not header.is_seeded:
        report.add("seed/marker-unseeded", "data", "inherited")


def inherited_event_count(events: Iterable[Event]) -> int:
    """How many events of a whole log its session inherited: the number of the last inherited marker, or 0."""
    cut = 0
    for event in events:
        if event.type == END_SEED and is_inherited_marker(event.data):
            cut = event.seq
    return cut
