"""Whether a settlement event says what the stream that it keeps amounts to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from dsh_protocol.findings import Finding
from dsh_protocol.jsonvalue import equal
from dsh_protocol.rules import is_active, refuse

from ._assembly import Assembler
from ._shapes import StreamError, check_record

SETTLEMENTS = frozenset({"assistant/message", "assistant/attempt"})
"""The types of the events that end a request and keep its stream."""
_STRINGS = {str}


class Settlement(Protocol):
    """What is looked at of an event."""

    @property
    def type(self) -> str:
        """The event type."""

    @property
    def seq(self) -> int:
        """The number of the event."""

    @property
    def line(self) -> int | None:
        """The line of the event; null when it was not read from a log."""

    @property
    def data(self) -> Any:
        """The payload."""


def settlement_findings(event: Settlement) -> list[Finding]:
    """Where a settlement event differs from the stream that it keeps.

    An assistant/message is compared in content, usage and replay state, unless its stream is empty;
    of an assistant/attempt only the stream is looked at. All are warnings: released readers do not
    look.
    """
    data = event.data
    stream = data.get("stream") if isinstance(data, dict) else None
    if event.type not in SETTLEMENTS or not isinstance(stream, list):
        return []
    try:
        broken = _differences(data, _assembler(stream))
    except StreamError as error:
        broken = []
        if is_active(error.code):
            path = f"/data/stream{_place_in_record(error)}"
            place = (event.seq, event.line, path)
            return [Finding(error.code, "warning", *place, error.message, error.fix)]
    return [
        refuse(rule_id, seq=event.seq, line=event.line, path=path)
        for rule_id, path in broken
        if is_active(rule_id)
    ]


def _place_in_record(error: StreamError) -> str:
    """The place of an error in a stream of records, whose chunks are one level deeper."""
    if error.code != "stream/chunk":
        return error.path
    _, record, *inside = error.path.split("/")
    return "/".join(["", record, "chunk", *inside])


def _assembler(stream: list[Any]) -> Assembler:
    assembler = Assembler()
    for index, record in enumerate(stream):
        check_record(record, index)
        assembler.push_record(record)
    return assembler


def _differences(data: Mapping[str, Any], assembler: Assembler) -> list[tuple[str, str]]:
    """The rules that a settlement with this stream breaks, each with its place."""
    message = data.get("message")
    if not isinstance(message, dict) or not data["stream"]:
        return []
    made = assembler.assembled()
    content = made.content
    if data.get("interrupted") is True:
        content = assembler.assembled(interrupted=True).content
    broken = []
    if not _is_same(message.get("content"), content):
        broken.append(("stream/content", "/data/message/content"))
    if not _has(data, "usage", made.usage):
        broken.append(("stream/usage", "/data/usage" if "usage" in data else "/data"))
    source = message.get("source")
    if isinstance(source, dict) and not _has(source, "replayState", made.replay_state):
        place = "/data/message/source"
        inside = f"{place}/replayState" if "replayState" in source else place
        broken.append(("stream/replay-state", inside))
    return broken


def _has(holder: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether a member has this value (null: is absent)."""
    if name not in holder:
        return value is None
    return value is not None and equal(holder[name], value)


def _is_same(stored: Any, content: list[Any]) -> bool:
    """`equal`, quicker for blocks of strings: only other values can be equal for Python alone."""
    if stored != content:
        return equal(stored, content)
    plain = all(set(map(type, block.values())) <= _STRINGS for block in content)
    return plain or equal(stored, content)
