"""Bytes to lines: LF ends a line and nothing else does; a line too long is not held in memory."""

from __future__ import annotations

from dataclasses import dataclass

from dsh_protocol.jsonvalue import utf8_error


@dataclass(frozen=True, slots=True)
class Lines:
    """Complete lines in order, without their LF; `None` stands for one beyond the limit.

    `is_utf8` says that all of them are known to be UTF-8.
    """

    lines: list[bytes | None]
    is_utf8: bool


def _whole_lines(chunk: bytes) -> bytes:
    """The part of a chunk between its first LF and its last: characters may be cut off at its ends."""
    return chunk[chunk.index(b"\n") : chunk.rindex(b"\n")]


class LineSplitter:
    """Takes chunks of bytes and gives complete lines back."""

    __slots__ = ("_held", "_held_bytes", "_limit", "count")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._held_bytes = 0
        self.count = 0
        """How many lines have been given."""

    def feed(self, chunk: bytes) -> Lines:
        """The lines that this chunk completes."""
        pieces: list[bytes | None] = list(chunk.split(b"\n"))
        rest = pieces.pop()
        if not pieces:
            self._hold(chunk)
            return Lines([], True)
        is_utf8 = chunk.isascii() or utf8_error(_whole_lines(chunk)) is None
        if self._held_bytes:
            pieces[0] = self._release(pieces[0] or b"")
        if len(chunk) > self._limit:
            pieces = [p if p is None or len(p) <= self._limit else None for p in pieces]
        first = pieces[0]
        is_utf8 = is_utf8 and (first is None or utf8_error(first) is None)
        self._hold(rest or b"")
        self.count += len(pieces)
        return Lines(pieces, is_utf8)

    def finish(self) -> int:
        """Forget the bytes after the last LF and say how many there were."""
        held = self._held_bytes
        self._held.clear()
        self._held_bytes = 0
        return held

    @property
    def has_begun(self) -> bool:
        """Whether there are bytes after the last LF."""
        return self._held_bytes > 0

    @property
    def is_overlong(self) -> bool:
        """Whether the line that has begun is already beyond the limit."""
        return self._held_bytes > self._limit

    def _hold(self, piece: bytes) -> None:
        self._held_bytes += len(piece)
        if self.is_overlong:
            self._held.clear()
        elif piece:
            self._held.append(piece)

    def _release(self, end: bytes) -> bytes | None:
        self._hold(end)
        line = None if self.is_overlong else b"".join(self._held)
        self.finish()
        return line
