"""The price of a replacement, which the event right before it may tell (rule `compaction/price`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.dialect import Dialect

from ._scene import Aspect, Scene

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_PRICING = frozenset({"compaction/prune", "compaction/summary"})


class Prices(Aspect):
    """The range that the latest pricing event prices."""

    entered = _PRICING

    __slots__ = ("_keys", "_priced", "checked", "replacing")

    def __init__(self, dialect: Dialect) -> None:
        self.checked = self.replacing = dialect.surface_types
        self._keys = dialect.replace_keys
        self._priced: tuple[int, Any, Any] | None = None

    def check(self, scene: Scene) -> None:
        """Report a replacement right behind a price of another range."""
        operation, priced = scene.event.surface_op, self._priced
        if not isinstance(operation, dict) or priced is None or priced[0] != scene.seq - 1:
            return
        start, end = (operation.get(name) for name in self._keys)
        if (start, end) != priced[1:]:
            scene.report.add(
                "compaction/price",
                "surfaceOp",
                start=start,
                end=end,
                priced_start=priced[1],
                priced_end=priced[2],
            )

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Remember a price."""
        if blame is not None:
            return
        range_ = data.get("shadowedRange")
        if isinstance(range_, dict):
            self._priced = (event.seq, range_.get("start"), range_.get("end"))
