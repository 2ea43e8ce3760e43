"""Members that the released runtime reads without a look when it continues a session (rule `runtime/payload`).

A schema warning says that they are not as they should be; this one says that the session cannot be continued because of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.dialect import Dialect
from dsh_protocol.state._report import Report
from dsh_protocol.state._values import is_text, member

from ._scene import Aspect, Scene

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Problem: TypeAlias = tuple[str, Any, tuple[str | int, ...]]
"""The name of a member, what it is, and the place of the finding."""

_RULE = "runtime/payload"
_HEADER = "request/header"
_DIRECTORY = "working-directory/change"
_USER = "user/message"
_ATTEMPT = "assistant/attempt"
_SETTLEMENTS = frozenset({_ATTEMPT, "assistant/message"})
_NEEDS_DATA = {3: frozenset({"sandbox/mode", "session/title"})}
_NEEDS_OBJECT = {
    3: frozenset(
        {
            "assistant/attempt",
            "llm/retry",
            "step/end",
            "step/start",
            "tool/call",
            "turn/end",
            "turn/start",
        }
    )
}
_READ = {
    "text": ("text",),
    "reasoning": ("text",),
    "tool-call": ("name", "arguments"),
}
"""Per block type, the members whose length is taken."""


class Runtime(Aspect):
    """The latest request header and the latest working directory, which the next request begins with."""

    any_data = True
    implied = True

    entered = frozenset({_HEADER, _DIRECTORY})

    __slots__ = ("_dialect", "_latest", "_meters", "checked")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        # The runtime of format 4 prices every message as it folds the log.
        self._meters = dialect.tool_result_shape == "tool-role"
        version = dialect.version
        self._latest: dict[str, Report] = {}
        """Per type, what is wrong with the latest event, unless a later one takes its place."""
        self.checked = (
            dialect.surface_types
            | _SETTLEMENTS
            | {_HEADER, _DIRECTORY, "sandbox/mode"}
            | _NEEDS_DATA.get(version, frozenset())
            | _NEEDS_OBJECT.get(version, frozenset())
        )

    def check(self, scene: Scene) -> None:
        """Report what the runtime fails on as it reads the event."""
        data = scene.event.data
        if not isinstance(data, dict):
            objects = _NEEDS_OBJECT.get(self._dialect.version, frozenset())
            if scene.type in objects or (data is None and self._needs_data(scene.type)):
                scene.report.add(_RULE, "data", member="data", found=data)
            return
        for name, found, place in self._problems(scene.type, data):
            scene.report.add(_RULE, *place, member=name, found=found)

    def check_last(self, scene: Scene) -> None:
        """Report what the runtime fails on if it continues behind this event."""
        if scene.type in self.entered:
            for name, found, place in self._late_problems(scene.type, scene.data):
                scene.report.add(_RULE, *place, member=name, found=found)

    def enter(self, event: Event, data: Mapping[str, Any], _blame: int | None, /) -> None:
        """Remember what is wrong with an event that counts only as long as it is the latest."""
        report = Report(self._dialect.version, event.seq, event.line)
        for name, found, place in self._late_problems(event.type, data):
            report.add(_RULE, *place, member=name, found=found)
        self._latest[event.type] = report

    def finish(self) -> list[Report]:
        """What the runtime fails on as it makes the next request."""
        return list(self._latest.values())

    def _needs_data(self, event_type: str) -> bool:
        if event_type in ("sandbox/mode", _DIRECTORY):
            return True
        return event_type in _NEEDS_DATA.get(self._dialect.version, frozenset())

    def _problems(self, event_type: str, data: Mapping[str, Any]) -> list[Problem]:
        problems: list[Problem] = []
        if event_type in self._dialect.surface_types:
            problems = self._block_problems(event_type, data)
        if self._meters and event_type in _SETTLEMENTS:
            problems += _usage_problems(event_type, data)
        if event_type == _HEADER:
            header = data.get("header")
            if isinstance(header, dict) and "tools" in header and header["tools"] is None:
                problems.append(("tools", None, ("data", "header", "tools")))
        return problems

    def _block_problems(self, event_type: str, data: Mapping[str, Any]) -> list[Problem]:
        message = self._dialect.message(event_type, data)
        content = message.get("content") if isinstance(message, dict) else None
        problems: list[Problem] = []
        if not isinstance(content, list) or not (self._meters or _is_human(event_type, data)):
            return problems
        for index, block in enumerate(content):
            if block is None:
                problems.append(("the block", None, (*_content_place(event_type), index)))
            elif self._meters and isinstance(block, dict):
                kind = block.get("type")
                for name in _READ.get(kind, ()) if isinstance(kind, str) else ():
                    if block.get(name) is None:
                        place = member(block, name, *_content_place(event_type), index)
                        problems.append((name, None, place))
        return problems

    def _late_problems(self, event_type: str, data: Mapping[str, Any]) -> Iterator[Problem]:
        if event_type == _DIRECTORY:
            path = data.get("cwd")
            if path is not None and not is_text(path):
                yield "cwd", path, ("data", "cwd")
            return
        header = data.get("header")
        if not isinstance(header, dict):
            return
        config = header.get("config")
        if isinstance(config, dict) and not isinstance(config.get("stop", []), list):
            yield "stop", config["stop"], ("data", "header", "config", "stop")
        tools = header.get("tools")
        if self._meters and tools is not None and not _are_named(tools):
            yield "tools", tools, ("data", "header", "tools")


def _usage_problems(event_type: str, data: Mapping[str, Any]) -> list[Problem]:
    """The usage of a settlement: a message's own, or else the last one of the stream."""
    if event_type != _ATTEMPT and "usage" in data:
        return [] if data["usage"] is not None else [("usage", None, ("data", "usage"))]
    stream = data.get("stream")
    records: list[Any] = stream if isinstance(stream, list) else []
    for index in range(len(records) - 1, -1, -1):
        record = records[index]
        place = ("data", "stream", index)
        if record is None:
            return [("the record", None, place)]
        if not isinstance(record, dict) or record.get("type") != "chunk":
            continue
        chunk = record.get("chunk")
        if chunk is None:
            return [("chunk", None, member(record, "chunk", *place))]
        if isinstance(chunk, dict) and chunk.get("type") == "usage":
            if chunk.get("usage", 0) is None:
                return [("usage", None, (*place, "chunk", "usage"))]
            return []
    return []


def _content_place(event_type: str) -> tuple[str, ...]:
    return ("data", "content") if event_type == _USER else ("data", "message", "content")


def _is_human(event_type: str, data: Mapping[str, Any]) -> bool:
    source = data.get("source")
    return event_type == _USER and isinstance(source, dict) and source.get("kind") == "user"


def _are_named(tools: Any) -> bool:
    return isinstance(tools, list) and all(
        isinstance(tool, dict) and is_text(tool.get("name")) for tool in tools
    )
