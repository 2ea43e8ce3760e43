"""Commands of the user: each runs once, and what is done was run (rules `command/*`)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.state._values import count, is_text, member

from ._scene import MISSING, Aspect, Scene, key

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_RUN = "command/run"
_DONE = "command/done"
_SOURCE = "sourceEventSeq"
_PLACE = ("data", _SOURCE)


class Commands(Aspect):
    """The commands of a log."""

    checked = entered = frozenset({_RUN, _DONE})

    __slots__ = ("_events", "_runs")

    def __init__(self) -> None:
        self._runs: dict[Hashable, int | None] = {}
        """Per id, the refused event that made it known, null for a command that ran."""
        self._events: set[int] = set()

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a command or its end."""
        data, report = scene.data, scene.report
        id_, shown = data.get("commandId", MISSING), data.get("commandId")
        place = member(data, "commandId", "data")
        known = key(id_) in self._runs
        if not is_text(id_) and report.holds("command/id"):
            report.add("command/id", *place, found=shown)
        elif scene.type == _RUN and known:
            why = self._runs[key(id_)]
            report.add("command/run-repeated", *place, because=why, id=shown)
        elif scene.type == _DONE and not known:
            report.add("command/unknown", *place, because=scene.why_missing(), id=shown)
        if scene.type == _DONE and _SOURCE in data:
            self._check_source(scene, data[_SOURCE])

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Remember the command."""
        self._runs.setdefault(key(data.get("commandId", MISSING)), blame)
        self._events.add(event.seq)

    def _check_source(self, scene: Scene, source: Any) -> None:
        report, kind = scene.report, scene.data.get("kind")
        if kind != "success":
            report.add("command/source-kind", *_PLACE, kind=kind)
        seq = count(source)
        if seq == scene.seq or seq in self._events:
            report.add("command/source-target", *_PLACE, found=seq)
        elif seq is None or seq > scene.seq:
            report.add("command/source-earlier", *_PLACE, found=source)
