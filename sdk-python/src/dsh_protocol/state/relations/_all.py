"""All aspects together: which of them look at which event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.dialect import Dialect
from dsh_protocol.state._losses import Losses
from dsh_protocol.state._report import Report
from dsh_protocol.state.surface import Surface

from ._scene import Aspect, Scene
from .calls import Calls
from .catalog import Catalog
from .commands import Commands
from .compactions import Compactions
from .dispatches import Dispatches
from .exchanges import Exchanges
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

Enter: TypeAlias = "Callable[[Event, Mapping[str, Any], int | None], None]"

_NOTHING: Mapping[str, Any] = {}


class Relations:
    """What the events of a log so far say about those that may follow."""

    def __init__(self, dialect: Dialect, header: Header | None, surface: Surface) -> None:
        self._surface = surface
        turns, calls, exchanges = Turns(), Calls(dialect), Exchanges(dialect)
        self._calls = calls
        self._exchanges = exchanges
        # Turns come last: what depends on the open turn asks for the turn that an event found.
        self._aspects: tuple[Aspect, ...] = (
            calls,
            Dispatches(),
            Retries(turns),
            Commands(),
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
            exchanges,
            turns,
        )
        types = dialect.event_types
        self._by_type = {type_: self._concerned(type_) for type_ in types}
        self._checks = {type_: self._quick_checks(type_) for type_ in types}
        self._enters = {type_: self._quick_enters(type_) for type_ in types}
        self._scene = Scene(Report(dialect.version, None, None), Losses())

    def take(self, event: Event) -> bool:
        """Take an event in that replaces nothing, if no rule minds it. With no effect (false) if one does, or may."""
        kind, data = event.type, event.data
        checks, enters = self._checks[kind], self._enters[kind]
        if not checks and not enters:
            return True
        if not isinstance(data, dict):
            return False
        scene = self._scene
        scene.report.reuse(event.seq, event.line)
        scene.look_at(event, data, event.seq)
        for check in checks:
            check(scene)
        if scene.report.findings:
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
        scene.look_at(event, event.data if is_object else _NOTHING, seq)
        for aspect in self._by_type[event.type]:
            if event.type in aspect.checked and (is_object or aspect.any_data):
                aspect.check(scene)

    def check_last(self, report: Report, event: Event) -> None:
        """Report what a later event might take back, for an event that is the last one so far."""
        if isinstance(event.data, dict):
            scene = Scene(report, Losses())
            scene.look_at(event, event.data, event.seq)
            for aspect in self._by_type[event.type]:
                aspect.check_last(scene)

    def apply(self, event: Event) -> None:
        """Go on behind an event that is part of the log."""
        self._go_on(event, None)

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
        """What a model provider would mind in the message list as it stands now."""
        return self._exchanges.judge(self._surface.nodes.snapshot(), self._calls.pending)

    def _concerned(self, event_type: str) -> tuple[Aspect, ...]:
        return tuple(a for a in self._aspects if event_type in a.checked | a.entered)

    def _quick_checks(self, event_type: str) -> tuple[Callable[[Scene], None], ...]:
        return tuple(
            a.check
            for a in self._aspects
            if event_type in a.checked and event_type not in a.replacing
        )

    def _quick_enters(self, event_type: str) -> tuple[Enter, ...]:
        return tuple(
            a.enter
            for a in self._aspects
            if event_type in a.entered and event_type not in a.replacing
        )

    def _go_on(self, event: Event, blame: int | None) -> None:
        data = event.data if isinstance(event.data, dict) else _NOTHING
        for aspect in self._by_type[event.type]:
            if event.type in aspect.entered:
                aspect.enter(event, data, blame)
