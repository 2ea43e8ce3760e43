"""Results that a restart or a fork writes for calls that never started: what a log asks of them (rule `tool/repair-shape`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dsh_protocol.dialect import Dialect
from dsh_protocol.state import forked
from dsh_protocol.state._values import member

from ._scene import Scene

_INTERRUPTED = "interrupted-tool-result-"
_SOURCES = "sourceEventSeqs"
_MESSAGE: forked.Place = ("data", "message")


def is_claimed(data: Mapping[str, Any]) -> bool:
    """Whether a result says that its call never started."""
    error = data.get("error")
    return isinstance(error, dict) and error.get("code") == forked.ERROR["code"]


def check(scene: Scene, dialect: Dialect, call: Any, because: int | None) -> None:
    """Report the first part of a repair that is not as it has to be.

    That it is an error at all is another rule's matter (`message/result-error`), and so is the exact shape of a fork's.
    """
    if any(found.rule == "tool/fork-repair" for found in scene.report.findings):
        return
    for wrong, place in _problems(scene, dialect, call):
        if not scene.reported(*place):
            scene.report.add("tool/repair-shape", *place, because=because, member=wrong)
        return


def _problems(scene: Scene, dialect: Dialect, call: Any) -> Iterator[tuple[str, forked.Place]]:
    data = scene.data
    error, message = data["error"], data["message"]
    if error.get("name") != forked.ERROR["name"]:
        yield "error.name", member(error, "name", "data", "error")
    if _SOURCES in scene.event.value:
        yield _SOURCES, (_SOURCES,)
    id_ = message.get("id")
    if _knows_forks(dialect) and isinstance(id_, str) and id_.startswith(f"{forked.PREFIX}{call}-"):
        return
    if forked.numbered(id_, f"{_INTERRUPTED}{call}-") is None:
        yield "id", member(message, "id", *_MESSAGE)
    if not forked.is_text(dialect.tool_content(message), forked.TEXT):
        yield "content", (*_MESSAGE, "content")


def _knows_forks(dialect: Dialect) -> bool:
    return dialect.tool_result_shape == "tool-role"
