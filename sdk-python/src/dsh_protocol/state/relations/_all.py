"""All aspects together: which of them look at which event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

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

_NOTHING: Mapping[str, Any] = {}
_NO_LOSSES = Losses()


class Relations:
    """What the events of a log so far say about those that may follow."""

    def __init__(self, dialect: Dialect, header: Header | None, surface: Surface) -> None:
        self._version = dialect.version
        self._surface = surface
        self._surface_types = dialect.surface_types
        turns, calls, prices = Turns(), Calls(dialect), Prices(dialect)
        runtime = Runtime(dialect)
        self._calls = calls
        self._exchanges = Exchanges(dialect)
        # Turns come last but one: what depends on the open turn asks for the turn that an event found.
        aspects: list[tuple[Aspect, Iterable[str]]] = [
            (calls, Calls.TYPES),
            (Dispatches(), Dispatches.TYPES),
            (Retries(turns), Retries.TYPES),
            (Commands(), Commands.TYPES),
            (Compactions(dialect, surface, turns), Compactions.TYPES),
            (prices, prices.types),
            (Titles(dialect), Titles.TYPES),
            (Catalog(dialect.version, header), Catalog.TYPES),
            (Inbox(), Inbox.TYPES),
            (Goals(), Goals.TYPES),
            (Teams(header), Teams.TYPES),
            (Jobs(), Jobs.TYPES),
            (Sources(), Sources.TYPES),
            (runtime, runtime.types),
            (turns, Turns.TYPES),
        ]
        self._aspects = tuple(aspect for aspect, _ in aspects)
        by_type: dict[str, tuple[Aspect, ...]] = {}
        for aspect, types in aspects:
            for type_ in types:
                if type_ in dialect.event_types:
                    by_type[type_] = (*by_type.get(type_, ()), aspect)
        self._by_type = by_type

    def take(self, event: Event) -> bool:
        """Take an event in if no rule minds it. With no effect (false) if one does."""
        aspects = self._concerned(event)
        if not aspects:
            return True
        scene = Scene(Report(self._version, event.seq, event.line), event, event.seq, _NO_LOSSES)
        for aspect in aspects:
            aspect.check(scene)
        if scene.report.findings:
            return False
        self._enter(event, aspects, scene.data, None)
        return True

    def check(self, report: Report, event: Event, seq: int, losses: Losses) -> None:
        """Report everything that is wrong with an event in its relation to others."""
        aspects = self._concerned(event)
        if aspects:
            scene = Scene(report, event, seq, losses)
            for aspect in aspects:
                aspect.check(scene)

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
        return self._exchanges.check(self._surface.nodes.snapshot(), self._calls.pending)

    def _concerned(self, event: Event) -> tuple[Aspect, ...]:
        """The aspects that look at an event; few look at data that is no object, which is another rule's matter."""
        aspects = self._by_type.get(event.type, ())
        if aspects and not isinstance(event.data, dict):
            return tuple(aspect for aspect in aspects if aspect.any_data)
        return aspects

    def _go_on(self, event: Event, blame: int | None) -> None:
        aspects = self._by_type.get(event.type)
        if aspects is not None:
            data = event.data if isinstance(event.data, dict) else _NOTHING
            self._enter(event, aspects, data, blame)

    def _enter(
        self,
        event: Event,
        aspects: Iterable[Aspect],
        data: Mapping[str, Any],
        blame: int | None,
    ) -> None:
        for aspect in aspects:
            aspect.enter(event, data, blame)
        if blame is None and event.type in self._surface_types:
            self._exchanges.enter(event, data)
