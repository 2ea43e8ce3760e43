"""Programmatic tool calls: each starts once, under a root, and settles once as what it started (rules `dispatch/*`)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.jsonvalue import equal
from dsh_protocol.state._values import is_text, member

from ._scene import MISSING, Aspect, Scene, key, same

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_START = "tool/ptc-dispatch-start"
_SETTLE = "tool/ptc-dispatch"
_IDS = ("subCallId", "rootCallId", "parentCallId")
_COPIED = ("parentCallId", "name", "arguments")


class _Dispatch:
    """A call that started. `told` is null once it is settled: nothing is compared with it any more."""

    __slots__ = ("blame", "root", "told")

    def __init__(self, data: Mapping[str, Any], blame: int | None, /) -> None:
        self.root = data.get("rootCallId", MISSING)
        self.told: Mapping[str, Any] | None = {name: data[name] for name in _COPIED if name in data}
        self.blame = blame


class Dispatches(Aspect):
    """The programmatic calls of a log."""

    checked = entered = frozenset({_START, _SETTLE})

    __slots__ = ("_calls",)

    def __init__(self) -> None:
        self._calls: dict[Hashable, _Dispatch] = {}

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a start or a settlement."""
        data = scene.data
        if self._check_ids(scene):
            return
        id_, root = data.get("subCallId", MISSING), data.get("rootCallId", MISSING)
        known = self._calls.get(key(id_))
        if known is not None and not same(known.root, root):
            place, shown = member(data, "rootCallId", "data"), data.get("rootCallId")
            expected = None if known.root is MISSING else known.root
            scene.report.add(
                "dispatch/root",
                *place,
                because=known.blame,
                call=data.get("subCallId"),
                found=shown,
                known=expected,
            )
        self._check_parent(scene, root)
        if scene.type == _START:
            self._check_start(scene, known)
        else:
            self._check_settlement(scene, known)

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Start or settle the call."""
        id_ = key(data.get("subCallId", MISSING))
        call = self._calls.setdefault(id_, _Dispatch(data, blame))
        if event.type == _SETTLE:
            call.told = None

    @staticmethod
    def _check_ids(scene: Scene) -> bool:
        if not scene.report.holds("dispatch/id"):
            return False
        wrong = [name for name in _IDS if not is_text(scene.data.get(name))]
        for name in wrong:
            place, found = member(scene.data, name, "data"), scene.data.get(name)
            scene.report.add("dispatch/id", *place, member=name, found=found)
        return bool(wrong)

    def _check_parent(self, scene: Scene, root: Any) -> None:
        parent = scene.data.get("parentCallId", MISSING)
        if same(parent, root):
            return
        above = self._calls.get(key(parent))
        if above is not None and same(above.root, root):
            return
        place = member(scene.data, "parentCallId", "data")
        why = scene.why_missing() if above is None else above.blame
        found = scene.data.get("parentCallId")
        scene.report.add("dispatch/parent", *place, because=why, found=found)

    @staticmethod
    def _check_start(scene: Scene, known: _Dispatch | None) -> None:
        if known is not None:
            place, call = member(scene.data, "subCallId", "data"), scene.data.get("subCallId")
            scene.report.add("dispatch/start-repeated", *place, because=known.blame, call=call)

    @staticmethod
    def _check_settlement(scene: Scene, known: _Dispatch | None) -> None:
        data = scene.data
        place, call = member(data, "subCallId", "data"), data.get("subCallId")
        if known is None:
            scene.report.add("dispatch/unstarted", *place, because=scene.why_missing(), call=call)
        elif known.told is None:
            scene.report.add("dispatch/settled-twice", *place, because=known.blame, call=call)
        else:
            for name in _COPIED:
                if not _equal(known.told, data, name):
                    where = member(data, name, "data")
                    scene.report.add(
                        "dispatch/changed", *where, because=known.blame, call=call, member=name
                    )


def _equal(told: Mapping[str, Any], data: Mapping[str, Any], name: str) -> bool:
    if name not in told or name not in data:
        return (name in told) == (name in data)
    return equal(told[name], data[name])
