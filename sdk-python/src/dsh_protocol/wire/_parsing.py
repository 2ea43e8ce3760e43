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


def js_string(value: Any) -> str:
    """What JavaScript makes of a JSON value in a text."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "[object Object]"
    if isinstance(value, list):
        return ",".join("" if item is None else js_string(item) for item in value)
    return jsonvalue.dumps(value)


def clipped(text: str, units: int) -> str:
    """The first UTF-16 units of a text."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode(
        "utf-16-le", "surrogatepass"
    )


def kept(chunk: Json) -> Json:
    """The chunk, if a log can keep it.

    Raises:
        ModelCallError: `MALFORMED_RESPONSE`: it has a number that no log can keep.
    """
    if jsonvalue.check_lossless(chunk):
        raise failed("response/values", what=chunk["type"])
    return chunk
