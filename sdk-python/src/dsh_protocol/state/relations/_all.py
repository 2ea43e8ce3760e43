"""All aspects together: which of them look at which event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.dialect import Dialect
from dsh_protocol.state._losses import Losses
from dsh_protocol.state._report import Probe, Report
from dsh_protocol.state.surface import Change, Replace, Surface

from ._scene import Aspect, Check, Enter, Scene
from .calls import Calls
from .catalog import Catalog
from .commands import Commands
from .compactions import Compactions
from .dispatches import Dispatches
from .exchanges import check_messages, keeps_exchanges
from .goals import Goals
from .inbox import Inbox
from .jobs import Jobs
from .prices import Prices
from .retries import Retries
from .runtime import Runtime
from .sources import Sources
from .teams import Teams
from .titles import Titles
from .turns import Turns

if TYPE_CHECKING:
    from dsh_protocol.rows import Event, Header

_Quick: TypeAlias = tuple[tuple[Check, ...], tuple[Enter, ...]]

_NOTHING: Mapping[str, Any] = {}


class Relations:
    """What the events of a log so far say about those that may follow."""

    def __init__(self, dialect: Dialect, header: Header | None, surface: Surface) -> None:
        self._surface = surface
        turns, calls = Turns(), Calls(dialect)
        self._dialect = dialect
        self._turns = turns
        self._calls = calls
        # Turns come last: what depends on the open turn asks for the turn that an event found.
        self._aspects: tuple[Aspect, ...] = (
            calls,
            Dispatches(),
            Retries(turns),
            Commands(dialect),
            Compactions(dialect, surface, turns),
            Prices(dialect),
            Titles(dialect),
            Catalog(dialect.version, header),
            Inbox(),
            Goals(),
            Teams(header),
            Jobs(),
            Sources(),
            Runtime(dialect),
            turns,
        )
        types = dialect.event_types
        self._checks = {type_: self._checks_of(type_) for type_ in types}
        self._enters = {type_: self._enters_of(type_) for type_ in types}
        self._quick = {type_: self._quick_of(type_, conforms=False) for type_ in types}
        self._conforming = {type_: self._quick_of(type_, conforms=True) for type_ in types}
        self._probe = Probe(dialect.version)
        self._scene = Scene(self._probe, Losses())

    def take(self, event: Event, gist: Any) -> bool:
        """Take an event in that replaces nothing, if no rule minds it. With no effect (false) if one does, or may.

        The gist of an event that conforms to its schema takes the place of its data.
        """
        kind = event.type
        checks, enters = self._quick[kind] if gist is None else self._conforming[kind]
        if not enters and not checks:
            return True
        data = event.data if gist is None else gist
        if not isinstance(data, dict) or self._turns.doubt is not None:
            return False
        scene, probe = self._scene, self._probe
        scene.event = event
        scene.type = kind
        scene.data = data
        scene.seq = event.seq
        for check in checks:
            check(scene)
        if probe.hit:
            probe.hit = False
            return False
        for enter in enters:
            enter(event, data, None)
        return True

    def check(self, report: Report, event: Event, seq: int, losses: Losses) -> None:
        """Report everything that is wrong with an event in its relation to others.

        Few aspects look at data that is no object, which is another rule's matter.
        """
        is_object = isinstance(event.data, dict)
        scene = Scene(report, losses)
        scene.event = event
        scene.type = event.type
        scene.data = event.data if is_object else _NOTHING
        scene.seq = seq
        for aspect, check in self._checks[event.type]:
            if is_object or aspect.any_data:
                check(scene)

    def check_last(self, report: Report, event: Event) -> None:
        """Report what a later event might take back, for an event that is the last one so far."""
        if not isinstance(event.data, dict):
            return
        scene = Scene(report, Losses())
        scene.event = event
        scene.type = event.type
        scene.data = event.data
        scene.seq = event.seq
        for aspect in self._aspects:
            aspect.check_last(scene)

    def apply(self, event: Event, change: Change | None) -> None:
        """Go on behind an event that is part of the log, as it has changed the surface."""
        self._go_on(event, None)
        if isinstance(change, Replace) and not keeps_exchanges(self._surface, event, change):
            self._calls.parted = True

    def follow(self, event: Event, blame: int) -> None:
        """Go on behind an event that was refused; its number is what later findings blame."""
        self._go_on(event, blame)

    def lose(self, blame: int) -> None:
        """Go on behind rows that are missing; `blame` is the event that says so."""
        for aspect in self._aspects:
            aspect.lose(blame)

    def finish(self, *, knows_own: bool) -> list[Report]:
        """What is wrong with the log as a whole. Without `knows_own` nothing tells own events from inherited ones."""
        aspects = (a for a in self._aspects if knows_own or not isinstance(a, Catalog))
        return [report for aspect in aspects for report in aspect.finish()]

    def check_messages(self) -> list[Report]:
        """What a model provider would mind in the message list as it stands now, after events that were all taken in."""
        if not self._calls.parted:
            # Results stand right behind their calls, since no rule of the log is broken.
            return []
        return check_messages(self._dialect, self._surface, self._calls.pending)

    def _checks_of(self, event_type: str) -> tuple[tuple[Aspect, Check], ...]:
        return tuple((a, a.check_of(event_type)) for a in self._aspects if event_type in a.checked)

    def _enters_of(self, event_type: str) -> tuple[tuple[Aspect, Enter], ...]:
        return tuple((a, a.enter_of(event_type)) for a in self._aspects if event_type in a.entered)

    def _quick_of(self, event_type: str, *, conforms: bool) -> _Quick:
        """What looks at an event that replaces nothing, and what takes it in."""
        aspects = [a for a in self._aspects if event_type not in a.replacing]
        return (
            tuple(
                a.check_of(event_type)
                for a in aspects
                if event_type in a.checked and not (conforms and a.implied)
            ),
            tuple(a.enter_of(event_type) for a in aspects if event_type in a.entered - a.idle),
        )

    def _go_on(self, event: Event, blame: int | None) -> None:
        data = event.data if isinstance(event.data, dict) else _NOTHING
        for _, enter in self._enters[event.type]:
            enter(event, data, blame)
