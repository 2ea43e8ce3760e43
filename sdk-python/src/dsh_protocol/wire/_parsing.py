"""What the stream parsers share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from dsh_protocol import jsonvalue

from ._failures import failed

Json = dict[str, Any]


class StreamParser(Protocol):
    """Makes chunks of the events of one response, in the order in which they came."""

    @property
    def done(self) -> bool:
        """Whether the response is whole: the last chunk was its `finish`, nothing else is read."""

    def push(self, data: str, name: str | None = None) -> Iterator[Json]:
        """The chunks that one server-sent event makes; `name` is its `event` field.

        Raises:
            ModelCallError: the event is malformed, or says that the call failed. The chunks made
                before that are valid.
        """

    def end(self) -> None:
        """Say that no event follows.

        Raises:
            ModelCallError: `STREAM_CLOSED`: the response is not whole.
        """


def kept(chunk: Json) -> Json:
    """The chunk, if a log can keep it.

    Raises:
        ModelCallError: `MALFORMED_RESPONSE`: it has a number that no log can keep.
    """
    if jsonvalue.check_lossless(chunk):
        raise failed("response/values", what=chunk["type"])
    return chunk
