"""The system prompts among the nodes of a surface: which stand there, in which order, and which of them say something.

Followed with every change of the surface, so that who projects a prompt does not look through all nodes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ._blocks import NodeSequence, Position

Read: TypeAlias = Callable[[int], Any]
"""The message of a node; null for a node without content. May raise `RefusedError`."""


def sole_text(message: Mapping[str, Any]) -> str | None:
    """The text of a message whose content is one text block; null for any other content, which equals no text.

    Rules `loop/prompt-text` and `loop/context-owned`.
    """
    content = message.get("content")
    block = content[0] if isinstance(content, list) and len(content) == 1 else None
    if not isinstance(block, dict) or block.get("type") != "text":
        return None
    text = block.get("text")
    return text if isinstance(text, str) else None


class Prompts:
    """The system/message nodes of one surface, in the order of the surface."""

    __slots__ = ("_known", "_nodes", "_read", "_speaking", "_standing", "_texts", "_unread")

    def __init__(self, nodes: NodeSequence, read: Read) -> None:
        self._nodes = nodes
        self._read = read
        self._known: set[int] = set()
        self._standing: list[int] = []
        # Payloads are read when they are asked for: until then a node counts as one that says something.
        self._speaking: list[int] = []
        self._unread: list[int] = []
        self._texts: dict[int, str | None] = {}

    @property
    def head(self) -> int | None:
        """The first of them, which need not be node 0; null when there is none."""
        return self._standing[0] if self._standing else None

    @property
    def last(self) -> int | None:
        """The last of them, with or without a text; null when there is none."""
        return self._standing[-1] if self._standing else None

    def text(self, seq: int) -> str | None:
        """The text of a prompt: empty without content, null when the content is not one text block.

        Raises:
            RefusedError: the event carries no message.
        """
        if seq not in self._texts:
            message = self._read(seq)
            self._texts[seq] = "" if message is None else sole_text(message)
        return self._texts[seq]

    def speaking(self) -> list[int]:
        """Those whose text is not empty, in order (rule `loop/prompt-latest`). The caller leaves the list as it is.

        Raises:
            RefusedError: an event carries no message.
        """
        while self._unread:
            if self.text(self._unread[-1]) == "":
                self._speaking.remove(self._unread[-1])
            self._unread.pop()
        return self._speaking

    def append(self, seq: int) -> None:
        """Take in a prompt that becomes the last node."""
        self._known.add(seq)
        self._standing.append(seq)
        self._speaking.append(seq)
        self._unread.append(seq)

    def replace(
        self, start: Position, end: Position, shadowed: Sequence[int], prompt: int | None
    ) -> None:
        """These nodes, which stand from `start` to `end`, are about to give way to one: to this prompt, or to none (null)."""
        if prompt is None and self._known.isdisjoint(shadowed):
            return
        new = [] if prompt is None else [prompt]
        for seq in _splice(self._standing, self._nodes, start, end, new):
            self._known.discard(seq)
            self._texts.pop(seq, None)
        _splice(self._speaking, self._nodes, start, end, new)
        self._known.update(new)
        self._unread = [seq for seq in self._unread if seq in self._known] + new


def _splice(
    prompts: list[int], nodes: NodeSequence, start: Position, end: Position, new: list[int]
) -> list[int]:
    """Put `new` in the place of those prompts that stand from `start` to `end`, which are given back."""
    # Never null: the prompts are nodes.
    place: Callable[[int], Any] = nodes.position
    low = bisect_left(prompts, start, key=place)
    high = bisect_right(prompts, end, low, key=place)
    gone = prompts[low:high]
    prompts[low:high] = new
    return gone
