"""Results that a fork writes for calls that never started: they have an exact shape (rule `tool/fork-repair`).

The released reader looks at each such row by itself, as it is stored, also when it drops the row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import dsh_protocol_data
from dsh_protocol.jsonvalue import MAX_SAFE_INTEGER

from ._report import Report
from ._values import member
from .envelope import APPEND, is_citing, own_seq

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Place: TypeAlias = tuple[str | int, ...]

PREFIX = "forked-tool-result-"
_CONSTANTS: Mapping[str, Any] = dsh_protocol_data.load("session_texts")["results"]["not-started"]
ERROR: Mapping[str, str] = _CONSTANTS["error"]
"""The error of a result for a call that never started."""
TEXT: str = _CONSTANTS["texts"]["interrupted"]
"""The text of a result for a call that an interruption kept from starting."""
_NUMBER = re.compile(r"(0|[1-9][0-9]*)", re.ASCII)
_OPERATION = "surfaceOp"
_SOURCES = "sourceEventSeqs"
_MESSAGE: Place = ("data", "message")


def check(report: Report, event: Event) -> None:
    """Report the first part of a fork's repair that is not as it has to be.

    That it is an error at all is another rule's matter (`message/result-error`).
    """
    data = event.data
    error, message = data.get("error"), data.get("message")
    if not isinstance(error, dict) or not isinstance(message, dict):
        return
    id_ = message.get("id")
    if error.get("code") != ERROR["code"] or not isinstance(id_, str):
        return
    if id_.startswith(PREFIX) and report.holds("tool/fork-repair"):
        for wrong, place in _problems(event, error, message, id_):
            report.add("tool/fork-repair", *place, member=wrong)
            return


def numbered(id_: Any, prefix: str) -> int | None:
    """The number behind the prefix of an id, null when the id is not made so."""
    if not isinstance(id_, str) or not id_.startswith(prefix):
        return None
    digits = id_[len(prefix) :]
    # Longer texts cannot be safe integers, and Python limits what it converts.
    if len(digits) > 16 or _NUMBER.fullmatch(digits) is None or int(digits) > MAX_SAFE_INTEGER:
        return None
    return int(digits)


def is_text(content: Any, expected: str | None) -> bool:
    """Whether content is one text block, with this text (null: any)."""
    block = content[0] if isinstance(content, list) and len(content) == 1 else None
    if not isinstance(block, dict) or block.get("type") != "text":
        return False
    text = block.get("text")
    return isinstance(text, str) if expected is None else text == expected


def _problems(
    event: Event, error: Mapping[str, Any], message: Mapping[str, Any], id_: str
) -> Iterator[tuple[str, Place]]:
    source = message.get("source")
    call = source.get("callId") if isinstance(source, dict) else None
    number = numbered(id_, f"{PREFIX}{call}-")
    yield from _misplaced(event, number)
    if error.get("name") != ERROR["name"]:
        yield "error.name", member(error, "name", "data", "error")
    if not is_text(message.get("content"), None):
        yield "content", (*_MESSAGE, "content")


def _misplaced(event: Event, number: int | None) -> Iterator[tuple[str, Place]]:
    """What does not go together of the number in the id, the place of the row and its citations as stored."""
    seq, row = own_seq(event), event.value
    operation = row.get(_OPERATION)
    if operation == APPEND:
        if number is None or number != seq:
            yield "id", (*_MESSAGE, "id")
        if is_citing(event):
            yield _SOURCES, member(row, _SOURCES)
    elif isinstance(operation, dict) and operation.get("op") == "replace":
        if number is None or seq is None or number >= seq:
            yield "id", (*_MESSAGE, "id")
        if event.encoded_seqs != [number]:
            yield _SOURCES, member(row, _SOURCES)
    else:
        yield _OPERATION, member(row, _OPERATION)
