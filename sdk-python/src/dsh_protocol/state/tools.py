"""What the model was told about its tools, and when (format 4): declarations at the start of a series, and the updates since.

`toolHistory` of a request is `{tools, updates: [{messageId, additions}]}`: the tools of the header that started the series and,
per developer/message since, the definitions of the tools it added.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.findings import RefusedError
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.rules import refuse

from ._values import Verify, trust
from .developer import ADDITION, changes
from .headers import HEADER

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Json: TypeAlias = dict[str, Any]

DEVELOPER = "developer/message"
_TYPES = frozenset({HEADER, DEVELOPER})


@dataclass(frozen=True, slots=True)
class _Told:
    """The fold after some of the events. Never changed: each event makes a new one."""

    started: bool = False
    declared: dict[str | None, Json] = field(default_factory=dict)
    available: frozenset[str | None] = frozenset()
    active: list[Json] = field(default_factory=list)
    baseline: list[Json] = field(default_factory=list)
    updates: tuple[Json, ...] = ()

    def snapshot(self) -> Json:
        """The history as a request has it. Without updates when the log does not tell how the tools came to be."""
        missing = any(_name(tool) not in self.available for tool in self.active)
        if missing or len(self.active) != len(self.available):
            return {"tools": self.active, "updates": []}
        return {"tools": self.baseline, "updates": list(self.updates)}


class ToolHistory:
    """The tool history of a log, at each of its moments. Folded when it is asked for."""

    __slots__ = ("_events", "_folded", "_headers", "_verify")

    def __init__(self, verify: Verify) -> None:
        self._verify = verify
        self._events: list[Event] = []
        self._folded = [_Told()]
        self._headers: dict[int, list[Json]] = {}

    def __len__(self) -> int:
        """How many events have told about tools: the number that names the present moment."""
        return len(self._events)

    def apply(self, event: Event) -> None:
        """Take a request/header or a developer/message in."""
        self._events.append(event)

    def at(self, moment: int | None = None) -> Json:
        """The history after the first `moment` of the events that tell about tools (null: all of them).

        Raises:
            RefusedError: the data of an event cannot be used, or an added tool is defined nowhere
                (`developer/addition-declared`).
        """
        moment = len(self._events) if moment is None else moment
        while len(self._folded) <= moment:
            event = self._events[len(self._folded) - 1]
            self._verify(event)
            fold = self._header if event.type == HEADER else self._developer
            self._folded.append(fold(self._folded[-1], event))
        return self._folded[moment].snapshot()

    def _header(self, told: _Told, event: Event) -> _Told:
        data = event.data
        tools = data["header"].get("tools")
        tools = tools if isinstance(tools, list) else []
        self._headers[event.seq] = tools
        declared = {_name(tool): tool for tool in tools}
        restarts = data.get("reason") == "series" or bool(data.get("startsSeries"))
        if told.started and not restarts and not _redeclares(told.declared, tools):
            return _Told(True, told.declared, told.available, tools, told.baseline, told.updates)
        return _Told(True, declared, frozenset(declared), tools, tools)

    def _developer(self, told: _Told, event: Event) -> _Told:
        message = event.data["message"]
        declared, available = dict(told.declared), set(told.available)
        additions = []
        for index, block in changes(message):
            if block["type"] == ADDITION:
                tool = self._definition(event, index, block["toolName"])
                additions.append(tool)
                declared[block["toolName"]] = tool
                available.add(block["toolName"])
            else:
                available.discard(block["toolName"])
        update = {"messageId": message["id"], "additions": additions}
        return _Told(
            told.started,
            declared,
            frozenset(available),
            told.active,
            told.baseline,
            (*told.updates, update),
        )

    def _definition(self, event: Event, index: int, name: str) -> Json:
        header_seq = event.data.get("headerSeq")
        for tool in self._headers.get(header_seq, ()):
            if _name(tool) == name:
                return tool
        finding = refuse(
            "developer/addition-declared",
            seq=event.seq,
            line=event.line,
            path=f"/data/message/content/{index}",
            header=header_seq,
            name=name,
        )
        raise RefusedError(finding.message, [finding])


def tool_history(events: Iterable[Event]) -> Json:
    """The tool history after these events, `{tools, updates}`.

    Raises:
        RefusedError: `developer/addition-declared`, when an added tool is defined nowhere.
    """
    history = ToolHistory(trust)
    for event in events:
        if event.type in _TYPES:
            history.apply(event)
    return history.at()


def _redeclares(declared: dict[str | None, Json], tools: list[Json]) -> bool:
    """Whether a known name got another definition: what the model was told about it no longer holds."""
    for tool in tools:
        before = declared.get(_name(tool))
        if before is not None and before is not tool and dumps(before) != dumps(tool):
            return True
    return False


def _name(tool: Any) -> str | None:
    name = tool.get("name") if isinstance(tool, dict) else None
    return name if isinstance(name, str) else None
