"""What a projection wants in the log: one event of the surface that nobody has appended yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Json: TypeAlias = dict[str, Any]
SurfaceOp: TypeAlias = 'Literal["append"] | Json'


@dataclass(frozen=True, slots=True)
class Commit:
    """A message that is due, and how it enters the surface.

    `surface_op` and `source_event_seqs` are what `Session.append` takes: `"append"` without sources, or the replacement of
    one node, which is the only source.
    """

    message: Json
    surface_op: SurfaceOp = "append"
    source_event_seqs: tuple[int, ...] | None = None

    @classmethod
    def replace(cls, seq: int, message: Json) -> Commit:
        """The message in the place of one node (rule `loop/prompt-replacement`)."""
        return cls(message, {"op": "replace", "startSeq": seq, "endSeq": seq}, (seq,))
