"""The catalog of a session's own subagents (rules `catalog/*`).

What a session inherited is not looked at; but how much that is shows only when the last inherited marker is in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.jsonvalue import is_count
from dsh_protocol.state._report import Report
from dsh_protocol.state._values import member
from dsh_protocol.state.seeds import END_SEED, is_inherited_marker

from ._scene import Aspect, Scene

if TYPE_CHECKING:
    from dsh_protocol.rows import Event, Header

_ENTRY = "subagent/catalog"
_MODES = ("continuable", "one-shot", "external", "unknown")
_EXTERNAL_VERSION = 2


class Catalog(Aspect):
    """The children that have an entry of the session's own."""

    checked = frozenset({_ENTRY})
    entered = frozenset({_ENTRY, END_SEED})

    __slots__ = ("_children", "_is_seeded", "_late", "_version")

    def __init__(self, version: int, header: Header | None) -> None:
        self._version = version
        self._is_seeded = header is not None and header.is_seeded
        self._children: dict[str, int] = {}
        self._late: list[Report] = []
        """In a seeded session, what is wrong with entries unless a marker is still to come."""

    def check(self, scene: Scene) -> None:
        """Report what is wrong with an entry of a session that inherited nothing."""
        if not self._is_seeded:
            self._check_entry(scene.report, scene.data)

    def check_last(self, scene: Scene) -> None:
        """Report what is wrong with an entry of a session that has its marker already."""
        if scene.type == _ENTRY and self._is_seeded:
            self._check_entry(scene.report, scene.data)

    def enter(self, event: Event, data: Mapping[str, Any], _blame: int | None, /) -> None:
        """Remember the child, or forget those whose entries were inherited."""
        if event.type == END_SEED:
            if is_inherited_marker(data):
                self._children.clear()
                self._late.clear()
            return
        if self._is_seeded:
            report = Report(self._version, event.seq, event.line)
            self._check_entry(report, data)
            if report.findings:
                self._late.append(report)
        child = data.get("childId")
        if isinstance(child, str):
            self._children.setdefault(child, event.seq)

    def finish(self) -> list[Report]:
        """What is wrong with the entries of a seeded session."""
        return self._late

    def _check_entry(self, report: Report, data: Mapping[str, Any]) -> None:
        for name in _problems(data):
            report.add(
                "catalog/fact", *member(data, name, "data"), member=name, found=data.get(name)
            )
        child = data.get("childId")
        if isinstance(child, str) and child in self._children:
            report.add("catalog/repeated", "data", "childId", child=child)


def _problems(data: Mapping[str, Any]) -> Iterator[str]:
    """The members of an entry that are not as they have to be."""
    version, mode = data.get("version"), data.get("mode")
    known = is_count(version) and version in (0, 1, _EXTERNAL_VERSION)
    if not known:
        yield "version"
    if not isinstance(data.get("childId"), str):
        yield "childId"
    if not is_count(data.get("childCreatedAt")):
        yield "childCreatedAt"
    if not isinstance(mode, str) or mode not in _MODES:
        yield "mode"
    elif known and (version == _EXTERNAL_VERSION) != (mode == "external"):
        yield "version"
    elif mode == "unknown" and version == 0:
        yield "mode"
    if ("label" in data or mode == "continuable") and not isinstance(data.get("label"), str):
        yield "label"
