"""Results that a restart or a fork writes for calls that never started: they have an exact shape (rules `tool/repair-shape` and
`tool/fork-repair`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import dsh_protocol_data
from dsh_protocol.dialect import Dialect
from dsh_protocol.jsonvalue import MAX_SAFE_INTEGER
from dsh_protocol.state._values import member

from ._scene import Scene

Place: TypeAlias = tuple[str | int, ...]

_CONSTANTS: Mapping[str, Any] = dsh_protocol_data.load("session_texts")["results"]["not-started"]
NOT_STARTED: str = _CONSTANTS["texts"]["interrupted"]
"""The text of a result for a call that an interruption kept from starting."""
_ERROR: Mapping[str, str] = _CONSTANTS["error"]
_INTERRUPTED = "interrupted-tool-result-"
_FORKED = "forked-tool-result-"
_NUMBER = re.compile(r"(0|[1-9][0-9]*)", re.ASCII)
_SOURCES = "sourceEventSeqs"
_MESSAGE: Place = ("data", "message")


def is_claimed(data: Mapping[str, Any]) -> bool:
    """Whether a result says that its call never started."""
    error = data.get("error")
    return isinstance(error, dict) and error.get("code") == _ERROR["code"]


def check(scene: Scene, dialect: Dialect, call: Any, because: int | None) -> None:
    """Report the first part of a repair that is not as it has to be."""
    if any(found.rule in _REPORTED for found in scene.report.findings):
        return
    for wrong, place in _problems(scene, dialect, call):
        scene.report.add("tool/repair-shape", *place, because=because, member=wrong)
        return


def check_fork(scene: Scene) -> None:
    """Report the first part of a fork's repair that is not as it has to be."""
    data = scene.data
    error, message = data.get("error"), data.get("message")
    if not isinstance(error, dict) or not isinstance(message, dict):
        return
    id_ = message.get("id")
    if error.get("code") != _ERROR["code"] or not isinstance(id_, str):
        return
    if not id_.startswith(_FORKED) or not scene.report.holds("tool/fork-repair"):
        return
    for wrong, place in _fork_problems(scene, error, message, id_):
        if not scene.reported(*place):
            scene.report.add("tool/fork-repair", *place, member=wrong)
        return


def _problems(scene: Scene, dialect: Dialect, call: Any) -> Iterator[tuple[str, Place]]:
    data = scene.data
    error, message = data["error"], data["message"]
    if error.get("name") != _ERROR["name"]:
        yield "error.name", member(error, "name", "data", "error")
    if _SOURCES in scene.event.value:
        yield _SOURCES, (_SOURCES,)
    if dialect.tool_is_error(message) is not True:
        yield "isError", _MESSAGE
    id_ = message.get("id")
    if _knows_forks(dialect) and isinstance(id_, str) and id_.startswith(f"{_FORKED}{call}-"):
        return
    if _numbered(id_, f"{_INTERRUPTED}{call}-") is None:
        yield "id", member(message, "id", *_MESSAGE)
    if not _is_text(dialect.tool_content(message), NOT_STARTED):
        yield "content", (*_MESSAGE, "content")


def _fork_problems(
    scene: Scene, error: Mapping[str, Any], message: Mapping[str, Any], id_: str
) -> Iterator[tuple[str, Place]]:
    source = message.get("source")
    call = source.get("callId") if isinstance(source, dict) else None
    number = _numbered(id_, f"{_FORKED}{call}-")
    cited = scene.event.source_event_seqs
    if isinstance(scene.event.surface_op, dict):
        if number is None or number >= scene.seq:
            yield "id", (*_MESSAGE, "id")
        if cited != [number]:
            yield _SOURCES, member(scene.event.value, _SOURCES)
    else:
        if number != scene.seq:
            yield "id", (*_MESSAGE, "id")
        if _SOURCES in scene.event.value:
            yield _SOURCES, (_SOURCES,)
    if error.get("name") != _ERROR["name"]:
        yield "error.name", member(error, "name", "data", "error")
    if message.get("isError") is not True:
        yield "isError", member(message, "isError", *_MESSAGE)
    if not _is_text(message.get("content"), None):
        yield "content", (*_MESSAGE, "content")


def _numbered(id_: Any, prefix: str) -> int | None:
    """The number behind the prefix of an id, null when the id is not made so."""
    if not isinstance(id_, str) or not id_.startswith(prefix):
        return None
    digits = id_[len(prefix) :]
    # Longer texts cannot be safe integers, and Python limits what it converts.
    if len(digits) > 16 or _NUMBER.fullmatch(digits) is None or int(digits) > MAX_SAFE_INTEGER:
        return None
    return int(digits)


def _is_text(content: Any, expected: str | None) -> bool:
    """Whether content is one text block, with this text (null: any)."""
    block = content[0] if isinstance(content, list) and len(content) == 1 else None
    if not isinstance(block, dict) or block.get("type") != "text":
        return False
    text = block.get("text")
    return isinstance(text, str) if expected is None else text == expected


def _knows_forks(dialect: Dialect) -> bool:
    return dialect.tool_result_shape == "tool-role"


_REPORTED = frozenset({"message/result-error", "message/is-error", "tool/fork-repair"})
"""Rules that speak of the same part of a repair."""
