"""Request headers: the call configuration and the tools of the requests that follow (rules `request/*`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.jsonvalue import JsonValue, dumps, equal

from ._report import Report
from ._values import Verify, is_text, member

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Json: TypeAlias = dict[str, Any]

HEADER = "request/header"
_MARKERS = ("reasoningEffort", "maxTokens")
_COMPARED = ("provider", "model", "reasoningEffort", "temperature", "maxTokens", "stop")
_REASONS = frozenset({"initial", "resume", "change", "series"})
_RETIRED_REASON = "fallback"
_HEADER_PLACE = ("data", "header")


class Headers:
    """The request headers of a log."""

    __slots__ = ("_canonical", "_verify", "by_seq", "latest")

    def __init__(self, verify: Verify) -> None:
        self._verify = verify
        self._canonical: dict[int, Json] = {}
        self.by_seq: dict[int, Event] = {}
        self.latest: Event | None = None
        """The request/header event in force; null before the first."""

    def apply(self, event: Event) -> None:
        """Take the header of this event into force."""
        self.by_seq[event.seq] = event
        self.latest = event

    def current(self) -> Json | None:
        """The canonical header in force; null before the first.

        Raises:
            RefusedError: the event has no header that can be used.
        """
        return None if self.latest is None else self.canonical(self.latest)

    def canonical(self, event: Event) -> Json:
        """The canonical header of a request/header event of this log.

        Raises:
            RefusedError: the event has no header that can be used.
        """
        header = self._canonical.get(event.seq)
        if header is None:
            self._verify(event)
            header = self._canonical[event.seq] = canonical_header(event.data["header"])
        return header


def canonical_header(header: Mapping[str, Any]) -> Json:
    """A header with nothing in it that says nothing: `{config, adapterDefaults?, tools?}`, in this order."""
    result: Json = {"config": header["config"]} if "config" in header else {}
    defaults = header.get("adapterDefaults")
    if isinstance(defaults, dict) and any(defaults.get(name) is True for name in _MARKERS):
        result["adapterDefaults"] = defaults
    tools = header.get("tools")
    if isinstance(tools, list) and tools:
        result["tools"] = tools
    return result


def header_equals(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """Whether two canonical headers ask for the same calls.

    Of the configuration the six declared members count. Tools are compared as JSON text, in order, so that the order of
    members counts in them, at every depth.
    """
    if left is right:
        return True
    configs = (left.get("config", {}), right.get("config", {}))
    if not all(_same(*configs, name) for name in _COMPARED):
        return False
    defaults = (left.get("adapterDefaults", {}), right.get("adapterDefaults", {}))
    if not all(_same(*defaults, name) for name in _MARKERS):
        return False
    tools = (left.get("tools", []), right.get("tools", []))
    if tools[0] is tools[1]:
        return True
    return len(tools[0]) == len(tools[1]) and all(
        dumps(one) == dumps(other) for one, other in zip(*tools, strict=True)
    )


def fold_header(events: Iterable[Event], start: Json | None = None) -> Json | None:
    """The canonical header in force after these events; `start` is what was in force before them."""
    latest = None
    for event in events:
        if event.type == HEADER:
            latest = event
    return start if latest is None else canonical_header(latest.data["header"])


def check(report: Report, data: Mapping[str, Any]) -> None:
    """Look at the data of a request/header."""
    header = data.get("header")
    if not isinstance(header, dict):
        report.add("request/header-object", *member(data, "header", "data"))
    else:
        _check_header(report, header)
    reason = data.get("reason")
    if reason == _RETIRED_REASON:
        report.add("request/reason-retired", "data", "reason")
    elif not isinstance(reason, str) or reason not in _REASONS:
        report.add("request/reason", *member(data, "reason", "data"), found=reason)
    if data.get("startsSeries", True) is not True:
        report.add("request/starts-series", "data", "startsSeries", found=data["startsSeries"])


def _check_header(report: Report, header: Mapping[str, Any]) -> None:
    if "system" in header:
        report.add("request/system-retired", *_HEADER_PLACE, "system")
    _check_tools(report, header.get("tools"))
    config = header.get("config")
    if not isinstance(config, dict):
        report.add("request/config-object", *member(header, "config", *_HEADER_PLACE))
        return
    _check_config(report, config)
    if "adapterDefaults" in header:
        _check_defaults(report, header["adapterDefaults"], config)


def _check_config(report: Report, config: Mapping[str, Any]) -> None:
    place = (*_HEADER_PLACE, "config")
    for name in ("provider", "model"):
        if not is_text(config.get(name)):
            report.add("request/config", *member(config, name, *place), member=name)
    if not is_text(config.get("reasoningEffort", "-")):
        report.add("request/config", *place, "reasoningEffort", member="reasoningEffort")


def _check_defaults(report: Report, defaults: JsonValue, config: Mapping[str, Any]) -> None:
    place = (*_HEADER_PLACE, "adapterDefaults")
    if not isinstance(defaults, dict):
        report.add("request/adapter-defaults", *place, found=defaults)
        return
    if not defaults:
        report.add("request/adapter-defaults-empty", *place)
    for name, marker in defaults.items():
        if marker is not True or name not in _MARKERS or name not in config:
            report.add("request/adapter-defaults", *place, name, found={name: marker})


def _check_tools(report: Report, tools: Any) -> None:
    if not isinstance(tools, list):
        return
    place = (*_HEADER_PLACE, "tools")
    if not tools:
        report.add("request/tools-empty", *place)
    for index, tool in enumerate(tools):
        if isinstance(tool, dict) and tool.get("deferLoading", True) is not True:
            where = (*place, index, "deferLoading")
            name, found = tool.get("name"), tool["deferLoading"]
            report.add("request/defer-loading", *where, name=name, found=found)


def _same(left: Mapping[str, Any], right: Mapping[str, Any], name: str) -> bool:
    if name not in left or name not in right:
        return name not in left and name not in right
    return equal(left[name], right[name])
