"""`image/offload`: images that are taken out of messages which stay where they are (rules `offload/*`).

The message keeps its node and its id; the images say `"offloaded": true` from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.jsonvalue import JsonValue, is_count

from ._losses import Losses
from ._report import Report
from .messages import ALWAYS_DERIVED
from .surface import Project, Surface

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Place: TypeAlias = tuple[str | int, ...]

OFFLOAD = "image/offload"
_TARGETS = ("data", "targets")
_IMAGE = "image"
_NESTING = "tool-result"


def plan(report: Report, event: Event, surface: Surface, losses: Losses) -> Project | None:
    """What an image/offload would do; null when it cannot do it."""
    data = event.data
    targets = data.get("targets") if isinstance(data, dict) and len(data) == 1 else None
    if not isinstance(targets, list) or not targets:
        alone = isinstance(data, dict) and data.keys() == {"targets"}
        report.add("offload/shape", *(_TARGETS if alone else ("data",)))
        return None
    messages: dict[int, JsonValue] = {}
    cost = surface.projections
    seen: set[int] = set()
    for index, target in enumerate(targets):
        place = (*_TARGETS, index)
        if not _is_target(report, target, place):
            continue
        seq = target["seq"]
        if seq in seen:
            report.add("offload/target-repeated", *place, "seq", found=seq)
            continue
        seen.add(seq)
        message = _message(report, place, seq, surface, losses)
        if message is not None and _are_indexes(report, target["imageIndexes"], place):
            selection = _Selection(report, place, seq, target["imageIndexes"])
            messages[seq] = selection.apply(message)
            cost += len(message["content"])
    return Project(messages, cost)


def _is_target(report: Report, target: Any, place: Place) -> bool:
    if not isinstance(target, dict) or target.keys() != {"seq", "imageIndexes"}:
        report.add("offload/shape", *place)
        return False
    if not is_count(target["seq"]):
        report.add("offload/shape", *place, "seq")
        return False
    return True


def _are_indexes(report: Report, indexes: Any, place: Place) -> bool:
    if isinstance(indexes, list) and indexes and all(map(is_count, indexes)):
        rising = all(earlier < later for earlier, later in pairwise(indexes))
        if rising:
            return True
    report.add("offload/indexes", *place, "imageIndexes")
    return False


def _message(report: Report, place: Place, seq: int, surface: Surface, losses: Losses) -> Any:
    """The current message of a target, null when it is no fit target."""
    if seq not in surface.nodes:
        because = losses.blame(seq)
        report.add("offload/target-on-surface", *place, "seq", because=because, found=seq)
        return None
    event_type = surface.type_of(seq)
    if event_type not in ALWAYS_DERIVED:
        report.add("offload/target-kind", *place, "seq", found=seq, type=event_type)
        return None
    return surface.message(seq)


class _Selection:
    """The images of one message that are taken out."""

    def __init__(self, report: Report, place: Place, seq: int, indexes: list[int]) -> None:
        self._report = report
        self._place = (*place, "imageIndexes")
        self._seq = seq
        self._indexes = {index: position for position, index in enumerate(indexes)}
        self._images = 0

    def apply(self, message: Mapping[str, Any]) -> Any:
        """The message with the images marked; the given one stays as it is."""
        projected = {**message, "content": self._blocks(message.get("content"))}
        for index, position in self._indexes.items():
            if index >= self._images:
                place = (*self._place, position)
                known = {"found": self._seq, "count": self._images, "index": index}
                self._report.add("offload/image-index", *place, **known)
        return projected

    def _blocks(self, blocks: Any) -> Any:
        return [self._block(block) for block in blocks] if isinstance(blocks, list) else blocks

    def _block(self, block: Any) -> Any:
        if not isinstance(block, dict):
            return block
        if block.get("type") == _NESTING:
            return {**block, "content": self._blocks(block.get("content"))}
        if block.get("type") != _IMAGE:
            return block
        index, self._images = self._images, self._images + 1
        position = self._indexes.get(index)
        if position is None:
            return block
        if block.get("offloaded") is True:
            place = (*self._place, position)
            self._report.add("offload/already", *place, found=self._seq, index=index)
        return {**block, "offloaded": True}
