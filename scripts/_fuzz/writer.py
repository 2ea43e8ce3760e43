"""Logs as values, and how one is written event by event."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

TIME = 1_700_000_000_000
_WORDS = ("a", "Hello.", "", " ", "é", "\u2028", "\U0001f600", "x" * 60, '"\\\n', "\ud800")


@dataclass
class Log:
    """A log as values: the header as it is stored, and logical events."""

    header: Json
    events: list[Json]

    @property
    def version(self) -> int:
        """The session format."""
        return int(self.header["version"])


@dataclass
class Writer:
    """Appends events and keeps what the next ones depend on."""

    rng: random.Random
    version: int
    events: list[Json] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)
    turn: int = 0
    step: int = 0
    tools: list[Json] = field(default_factory=list)
    header_seq: int | None = None
    ids: int = 0
    offloaded: set[int] = field(default_factory=set)

    def add(self, kind: str, data: Any, **members: Any) -> int:
        """Append an event; its number."""
        seq = len(self.events)
        self.events.append({"type": kind, "seq": seq, "time": TIME + seq, "data": data, **members})
        return seq

    def surface(self, kind: str, data: Any, **members: Any) -> int:
        """Append an event to the surface."""
        seq = self.add(kind, data, surfaceOp="append", **members)
        self.nodes.append(seq)
        return seq

    def replace(self, kind: str, data: Any, start: int, end: int) -> None:
        """Replace the nodes from one place to another."""
        gone = self.nodes[start : end + 1]
        cited = [*gone]
        if self.rng.random() < 0.3:
            cited += [seq for seq in (0, len(self.events) - 1) if seq not in gone]
        self.rng.shuffle(cited)
        operation = {"op": "replace", "startSeq": gone[0], "endSeq": gone[-1]}
        seq = self.add(kind, data, surfaceOp=operation, sourceEventSeqs=sorted(set(cited)))
        self.nodes[start : end + 1] = [seq]

    def id(self, kind: str) -> str:
        """A new id."""
        self.ids += 1
        return f"{kind}-{self.ids}"

    def word(self) -> str:
        """A short text."""
        return self.rng.choice(_WORDS)

    def some(self, weight: float = 0.5) -> bool:
        """Whether something happens."""
        return self.rng.random() < weight

    def text(self) -> Json:
        """A text block."""
        return {"type": "text", "text": self.word()}

    def image(self) -> Json:
        """An image block."""
        reference = {"mediaType": "image/png", "bytes": 3, "width": 1, "height": 1}
        id_ = "sha256:" + self.rng.choice("abcdef") * 64
        return {"type": "image", "attachment": {"attachmentId": id_, **reference}}

    def user_message(self, content: list[Json], source: Json | None = None) -> Json:
        """A message of a user, with an id of its own."""
        source = source or {"kind": "user"}
        return {"role": "user", "content": content, "source": source, "id": f"u-{len(self.events)}"}

    @property
    def has_head(self) -> bool:
        """Whether the surface begins with a system prompt."""
        return bool(self.nodes) and self.events[self.nodes[0]]["type"] == "system/message"
