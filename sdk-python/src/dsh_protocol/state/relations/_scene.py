"""What every aspect gets to see of an event, and how values of any kind are compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dsh_protocol.jsonvalue import MAX_SAFE_INTEGER, pointer
from dsh_protocol.state._losses import Losses
from dsh_protocol.state._report import Report

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Check: TypeAlias = "Callable[[Scene], None]"
Enter: TypeAlias = "Callable[[Event, Mapping[str, Any], int | None], None]"

MISSING: Final = object()
"""Stands for a member that is not there."""


class Scene:
    """One event at the place where it stands, with the report that its rules write to.

    `lost` is the number of a row that is missing right in front of the event, null when none is.
    """

    __slots__ = ("data", "event", "losses", "lost", "report", "seq", "type")

    event: Event
    type: str
    data: Mapping[str, Any]
    seq: int

    def __init__(self, report: Report, losses: Losses) -> None:
        self.report = report
        self.losses = losses
        self.lost = losses.ahead_start

    def why(self, doubt: int | None) -> int | None:
        """The event that a finding follows from, given what the aspect already blames."""
        return self.lost if doubt is None else doubt

    def why_missing(self, doubt: int | None = None) -> int | None:
        """The event that explains why an earlier one is missing: any row that was lost may have been it."""
        found = self.why(doubt)
        return self.losses.first_gap() if found is None else found

    def reported(self, *place: str | int) -> bool:
        """Whether another rule has said already that something is wrong at this place of the event, or inside it."""
        findings = self.report.findings
        if not findings:
            return False
        path = pointer(*place)
        return any(
            finding.path == path or finding.path.startswith(f"{path}/") for finding in findings
        )


class Aspect:
    """One kind of relationship: its state after some events, and its rules.

    `enter` gets every event of its types, in order. With a number to blame, the event was refused (the number is its own):
    then it is taken as it was meant, so that what follows is judged as if it stood there, and what does not fit it says why.
    """

    __slots__ = ()
    checked: frozenset[str] = frozenset()
    """The types of events that the rules look at."""
    entered: frozenset[str] = frozenset()
    """The types of events that change the state."""
    replacing: frozenset[str] = frozenset()
    """Those of these types of which only replacements count."""
    idle: frozenset[str] = frozenset()
    """Those of the entered types whose events change nothing as long as nothing is in doubt."""
    implied = False
    """Whether an event that its schema accepts never breaks a rule of this aspect."""
    any_data = False
    """Whether events whose data is no object are looked at, too."""

    def check(self, scene: Scene) -> None:
        """Report what is wrong with an event as the next one. Changes nothing."""

    def check_last(self, scene: Scene) -> None:
        """Report what else is wrong with an event if nothing follows it. Changes nothing."""

    def enter(self, _event: Event, _data: Mapping[str, Any], _blame: int | None, /) -> None:
        """Go on behind an event."""

    def check_of(self, _event_type: str) -> Check:
        """What checks the events of one type: `check`, or that part of it."""
        return self.check

    def enter_of(self, _event_type: str) -> Enter:
        """What takes in the events of one type: `enter`, or that part of it."""
        return self.enter

    def lose(self, _blame: int, /) -> None:
        """Go on behind rows that are missing and may have held anything; `blame` is the event that says so."""

    def finish(self) -> list[Report]:
        """What is wrong with the log as a whole: an open end never is."""
        return []


def same(left: Any, right: Any) -> bool:
    """Whether two values are one value, as released software compares them: lists and objects never are."""
    if type(left) is str:
        return bool(left == right)
    if isinstance(left, (dict, list)) or isinstance(left, bool) != isinstance(right, bool):
        return False
    return bool(left == right)


def same_number(value: Any, expected: int | None) -> bool:
    """Whether a JSON value is this number (a null is no number)."""
    return type(value) is int and value == expected


def key(value: Any) -> Hashable:
    """What stands for a value in a table: equal for the same values and no others."""
    if type(value) is str:
        return value
    if value is None or value is MISSING:
        return (value,)
    if isinstance(value, (dict, list)):
        return object()
    return (isinstance(value, bool), value)


def positive(value: Any) -> int | None:
    """The value when it is an integer of at least 1, else null."""
    # Not `is_count`, which costs a second call for every boundary of a turn or a step.
    return value if type(value) is int and 1 <= value <= MAX_SAFE_INTEGER else None
