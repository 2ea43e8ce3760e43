"""The inbox: two lists of messages that wait, changed by splices (rules `inbox/*`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.jsonvalue import is_count
from dsh_protocol.state._values import count, member

from ._scene import MISSING, Aspect, Scene, key

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_SPLICE = "agent/inbox/spliced"
_TARGETS = ("next-turn", "next-step")


class Inbox(Aspect):
    """The ids of the messages that wait, in their order."""

    any_data = True

    checked = entered = frozenset({_SPLICE})

    __slots__ = ("_doubt", "_lists", "_waiting")

    def __init__(self) -> None:
        self._lists: dict[str, list[Hashable]] = {target: [] for target in _TARGETS}
        self._waiting: set[Hashable] = set()
        self._doubt: int | None = None

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a splice."""
        data, report = scene.data, scene.report
        target = data.get("target")
        if not isinstance(target, str) or target not in _TARGETS:
            report.add("inbox/target", *member(data, "target", "data"), found=target)
            return
        start, removed = data.get("start"), _removed(data)
        length = len(self._lists[target])
        if not is_count(start) or start > length:
            place = member(data, "start", "data")
        elif not is_count(removed) or start + removed > length:
            place = ("data", "removedCount")
        else:
            place = None
        if place is not None:
            why = scene.why(self._doubt)
            report.add(
                "inbox/range", *place, because=why, start=start, removed=removed, length=length
            )
        if "outcome" in data and removed == 0:
            report.add("inbox/outcome", "data", "outcome")
        inserted = data.get("inserted")
        if not isinstance(inserted, list):
            report.add("inbox/inserted", *member(data, "inserted", "data"), found=inserted)
            return
        for index, message in enumerate(inserted):
            if not isinstance(message, (dict, list)):
                report.add("inbox/inserted", "data", "inserted", index, found=message)
        if inserted and place is None:
            # No place is wrong, so that both are counts.
            self._check_waiting(scene, target, slice(start, start + removed))

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Splice, as far as that is possible."""
        target, inserted = data.get("target"), data.get("inserted")
        start, removed = count(data.get("start")), count(_removed(data))
        if not isinstance(target, str) or target not in _TARGETS or start is None:
            self.lose(event.seq if blame is None else blame)
            return
        waiting = self._lists[target]
        if removed is None or start + removed > len(waiting):
            self.lose(event.seq if blame is None else blame)
        ids = list(_ids(inserted))
        gone = slice(start, start + (removed or 0))
        self._waiting.difference_update(waiting[gone])
        waiting[gone] = ids
        self._waiting.update(ids)

    def lose(self, blame: int, /) -> None:
        """Rows are missing that may have been splices."""
        if self._doubt is None:
            self._doubt = blame

    def _check_waiting(self, scene: Scene, target: str, removed: slice) -> None:
        gone = self._lists[target][removed] if removed.start != removed.stop else ()
        added: set[Hashable] = set()
        for index, message in enumerate(scene.data["inserted"]):
            if not isinstance(message, dict):
                continue
            id_ = key(message.get("id", MISSING))
            if id_ in added or (id_ in self._waiting and id_ not in gone):
                place = member(message, "id", "data", "inserted", index)
                shown, why = message.get("id"), scene.why(self._doubt)
                scene.report.add("inbox/pending-twice", *place, because=why, id=shown)
            added.add(id_)


def _ids(inserted: Any) -> Iterator[Hashable]:
    for message in inserted if isinstance(inserted, list) else ():
        yield key(message.get("id", MISSING)) if isinstance(message, dict) else object()


def _removed(data: Mapping[str, Any]) -> Any:
    """How many messages a splice removes: none when it does not say, or says null."""
    removed = data.get("removedCount")
    return 0 if removed is None else removed
