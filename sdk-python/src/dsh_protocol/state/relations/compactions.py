"""Compactions: a start, one summary and an end, over a span of the surface, in or between turns (rules `compaction/*`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeGuard

from dsh_protocol.dialect import Dialect
from dsh_protocol.state._blocks import Position
from dsh_protocol.state._report import Report
from dsh_protocol.state._values import is_text, member
from dsh_protocol.state.seeds import END_SEED
from dsh_protocol.state.surface import SYSTEM, Surface

from ._scene import MISSING, Aspect, Scene, same, same_number
from .turns import TURN_END, TURN_START, Turns

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_START = "compaction/start"
_SUMMARY = "compaction/summary"
_END = "compaction/end"
_PRUNE = "compaction/prune"
_CHECKPOINT = "user/message"
_APPEND = "append"
_IDS = ("compactionId", "sourceCommandId")


class _Open:
    """The compaction that is open."""

    __slots__ = ("blame", "command", "crossed", "id", "summarized", "turn")

    def __init__(self, told: Mapping[str, Any], turn: int | None, blame: int | None) -> None:
        self.name(told)
        self.turn = turn
        self.summarized = False
        self.blame = blame
        """The refused event that made this compaction known."""
        self.crossed: Event | None = None
        """The first turn boundary since, which breaks a rule unless the end of a seed comes next."""

    def name(self, told: Mapping[str, Any]) -> None:
        """Take the ids that an event tells."""
        self.id, self.command = (told.get(name, MISSING) for name in _IDS)

    def is_named(self, told: Mapping[str, Any]) -> bool:
        """Whether an event tells the ids of this compaction."""
        return all(
            same(told.get(name, MISSING), value)
            for name, value in zip(_IDS, (self.id, self.command), strict=True)
        )


class Compactions(Aspect):
    """The compaction that is open."""

    checked = frozenset({_START, _SUMMARY, _END, _PRUNE, _CHECKPOINT})
    entered = frozenset({_START, _SUMMARY, _END, _CHECKPOINT, TURN_START, TURN_END, END_SEED})
    replacing = frozenset({_CHECKPOINT})

    __slots__ = ("_crossed", "_dialect", "_doubt", "_open", "_stray", "_surface", "_turns")

    def __init__(self, dialect: Dialect, surface: Surface, turns: Turns) -> None:
        self._dialect = dialect
        self._surface = surface
        self._turns = turns
        self._open: _Open | None = None
        self._crossed: list[Report] = []
        self._stray: tuple[Any, int] | None = None
        """The id in a refused end of no compaction, and the number of that end."""
        self._doubt: int | None = None

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a part of a compaction."""
        kind = scene.type
        if kind == _CHECKPOINT:
            self._check_checkpoint(scene)
        elif kind == _START:
            self._check_start(scene)
        elif kind == _SUMMARY:
            self._check_summary(scene)
        elif kind == _END:
            self._check_end(scene)
        elif kind == _PRUNE:
            self._check_span(scene)

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Open, summarize or end the compaction, or cross it."""
        kind = event.type
        if kind in (TURN_START, TURN_END):
            self._cross(event)
        elif kind == END_SEED:
            self._open = self._doubt = None
        elif kind == _START:
            self._start(data, blame)
        elif kind == _END:
            self._trace_crossing(blame)
            self._settle_crossing()
            if self._open is None and blame is not None:
                self._stray = (data.get("compactionId", MISSING), blame)
            self._open = self._doubt = None
        elif kind == _SUMMARY:
            self._trace_crossing(blame)
            self._believe(data, blame)
            if self._open is not None:
                self._open.summarized = True
        elif kind == _CHECKPOINT:
            source = self._checkpoint(event, data)
            if source is not None:
                self._believe(source, blame)

    def lose(self, blame: int, /) -> None:
        """Rows are missing that may have been parts of a compaction."""
        if self._doubt is None:
            self._doubt = blame

    def finish(self) -> list[Report]:
        """The turn boundaries that cross a compaction after all."""
        self._settle_crossing()
        return self._crossed

    def _start(self, data: Mapping[str, Any], blame: int | None) -> None:
        self._settle_crossing()
        if blame is not None and not same(data.get("turn", MISSING), self._turns.turn):
            self._turns.lose(blame)
        if self._stray is not None and same(self._stray[0], data.get("compactionId", MISSING)):
            # Its end came too early.
            blame = self._stray[1]
        self._open = _Open(data, self._turns.turn, blame)
        self._doubt = None

    def _believe(self, told: Mapping[str, Any], blame: int | None) -> None:
        """Take a refused part of a compaction for the open one, under the ids that it tells."""
        if blame is None:
            return
        current = self._open
        if current is None:
            self._open = _Open(told, self._turns.turn, blame)
            self._open.summarized = True
        elif not current.is_named(told):
            current.name(told)
            current.blame = blame if current.blame is None else current.blame

    def _cross(self, event: Event) -> None:
        if self._open is not None and self._open.crossed is None:
            self._open.crossed = event

    def _trace_crossing(self, blame: int | None) -> None:
        """A part of the compaction behind a turn boundary was refused for that: the crossing is no second defect."""
        current = self._open
        if current is not None and current.crossed is not None and current.blame is None:
            current.blame = blame

    def _settle_crossing(self) -> None:
        """No end of a seed came first: what crossed the compaction did so."""
        current = self._open
        if current is None or current.crossed is None:
            return
        event, current.crossed = current.crossed, None
        report = Report(self._dialect.version, event.seq, event.line)
        why = self._doubt if current.blame is None else current.blame
        id_ = None if current.id is MISSING else current.id
        report.add("compaction/crossed", because=why, type=event.type, id=id_)
        self._crossed.append(report)

    def _why(self, scene: Scene) -> int | None:
        """What a finding about the open compaction follows from."""
        current = self._open
        if current is not None and current.blame is not None:
            return current.blame
        if current is not None and current.crossed is not None:
            return current.crossed.seq
        return scene.why(self._doubt)

    def _check_start(self, scene: Scene) -> None:
        data, report, turns = scene.data, scene.report, self._turns
        if not is_text(data.get("compactionId")):
            place = member(data, "compactionId", "data")
            report.add("compaction/id", *place, found=data.get("compactionId"))
        if self._open is not None:
            open_ = None if self._open.id is MISSING else self._open.id
            report.add("compaction/overlap", because=self._why(scene), open=open_)
        if not same(data.get("turn", MISSING), turns.turn):
            place, why = member(data, "turn", "data"), scene.why(turns.doubt)
            found, expected = data.get("turn"), turns.turn
            report.add("compaction/start-turn", *place, because=why, found=found, open=expected)

    def _check_summary(self, scene: Scene) -> None:
        current = self._check_owner(scene, scene.data, ("data",))
        if current is not None:
            self._check_turn(scene, current)
            if current.summarized:
                why, id_ = self._why(scene), scene.data.get("compactionId")
                scene.report.add("compaction/summary-repeated", because=why, id=id_)
        self._check_span(scene)

    def _check_end(self, scene: Scene) -> None:
        data, report = scene.data, scene.report
        current = self._check_owner(scene, data, ("data",))
        if current is None:
            return
        self._check_turn(scene, current)
        why = self._why(scene)
        if not same(data.get("turn", MISSING), current.turn):
            place, found = member(data, "turn", "data"), data.get("turn")
            report.add("compaction/end-turn", *place, because=why, found=found, known=current.turn)
        if "error" not in data and not current.summarized:
            report.add("compaction/end-unsummarized", because=why)

    def _check_checkpoint(self, scene: Scene) -> None:
        source = self._checkpoint(scene.event, scene.data)
        if source is not None:
            self._check_owner(scene, source, ("data", "source"))

    def _checkpoint(self, event: Event, data: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The source of a message that replaces a span by its summary, null for any other."""
        source = data.get("source")
        if event.surface_op == _APPEND or not isinstance(source, dict):
            return None
        return source if self._dialect.is_checkpoint(source) else None

    def _check_owner(
        self, scene: Scene, told: Mapping[str, Any], place: tuple[str, ...]
    ) -> _Open | None:
        """The open compaction, if the ids that an event tells are its own."""
        current = self._open
        expected = (MISSING, MISSING) if current is None else (current.id, current.command)
        for name, value in zip(_IDS, expected, strict=True):
            if current is None or not same(told.get(name, MISSING), value):
                where = member(told, name, *place)
                why, found = self._why(scene), told.get(name)
                scene.report.add(
                    "compaction/owner",
                    *where,
                    because=why,
                    type=scene.type,
                    member=name,
                    found=found,
                )
                return None
        return current

    def _check_turn(self, scene: Scene, current: _Open) -> None:
        if current.turn != self._turns.turn:
            # Not the boundary that was crossed: the end of a seed may take that back, and leaves this as it is.
            why = scene.why(self._doubt) if current.blame is None else current.blame
            if why is None:
                why = self._turns.doubt
            started, open_ = current.turn, self._turns.turn
            scene.report.add("compaction/turn-changed", because=why, started=started, open=open_)

    def _blame(self, scene: Scene, seqs: Iterable[Any]) -> int | None:
        """The first refused or lost event among these, which would be a node otherwise."""
        types = self._surface.types
        found = (scene.losses.blame(seq, types) for seq in seqs if _is_seq(seq))
        return next((because for because in found if because is not None), None)

    def _position(self, seq: Any) -> Position | None:
        return self._surface.nodes.position(seq) if _is_seq(seq) else None

    def _check_span(self, scene: Scene) -> None:
        """The shadowed nodes are a span of the surface as it stands, without its head."""
        data, nodes = scene.data, self._surface.nodes
        range_, seqs = data.get("shadowedRange"), data.get("shadowedSeqs")
        ends = (range_.get("start"), range_.get("end")) if isinstance(range_, dict) else ()
        start, end = (self._position(seq) for seq in ends or (None, None))
        if start is None or end is None or start > end:
            where = member(data, "shadowedRange", "data")
            why = self._blame(scene, ends)
            scene.report.add("compaction/span", *where, because=why, member="shadowedRange")
            return
        listed = seqs if isinstance(seqs, list) else []
        pairs = zip_longest(nodes.walk(start, end), listed)
        differs = next((pair for pair in pairs if not same_number(pair[1], pair[0])), None)
        if differs is not None:
            where = member(data, "shadowedSeqs", "data")
            node, seq = differs
            why = self._blame(scene, (seq,))
            if why is None and node is not None:
                why = scene.losses.blame_uncited((node,))
            scene.report.add("compaction/span", *where, because=why, member="shadowedSeqs")
        elif listed[0] == nodes.first() and self._surface.type_of(listed[0]) == SYSTEM:
            scene.report.add("compaction/head", "data", "shadowedSeqs", 0)


def _is_seq(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
