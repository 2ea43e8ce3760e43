"""Titles of a session: which messages they were made from (rules `title/*`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.dialect import Dialect
from dsh_protocol.state._report import Report
from dsh_protocol.state._values import count, member

from ._scene import Aspect, Scene

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_TITLE = "session/title"
_REQUEST = "session/title-llm-request"
_MESSAGE = "user/message"
_LIST = "messageSeqs"


class Titles(Aspect):
    """The messages of human users, which titles may cite."""

    checked = frozenset({_TITLE, _REQUEST})
    entered = frozenset({_MESSAGE, _TITLE, _REQUEST})

    __slots__ = ("_ahead", "_dialect", "_human", "_lost")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._human: set[int] = set()
        self._ahead: list[tuple[Event, list[Any]]] = []
        """Titles that cite later events, which may turn out to be messages of human users (format 3)."""
        self._lost: int | None = None
        """The event that says that rows are missing, which may have been such messages."""

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a title or with the request for one."""
        cited = scene.data.get(_LIST)
        if not isinstance(cited, list):
            place = member(scene.data, _LIST, "data")
            scene.report.add("title/list", *place, type=scene.type)
            return
        self._check_cited(scene, cited)
        if scene.type == _TITLE:
            _check_user(scene, cited)
        else:
            self._check_request(scene, cited)

    def check_last(self, scene: Scene) -> None:
        """Report what a title cites of what is still to come."""
        cited = scene.data.get(_LIST)
        if scene.type in self.checked and isinstance(cited, list) and self._dialect.looks_ahead:
            self._report_later(scene.report, cited, scene.seq)

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Remember a message of a human user, or a title that cites what is still to come."""
        if event.type == _MESSAGE:
            source = data.get("source")
            if isinstance(source, dict) and source.get("kind") == "user":
                self._human.add(event.seq)
        elif self._dialect.looks_ahead and blame in (None, event.seq):
            cited = data.get(_LIST)
            if isinstance(cited, list) and any(_later(cited, event.seq)):
                self._ahead.append((event, cited))

    def lose(self, blame: int, /) -> None:
        """Rows are missing that may have been messages of human users."""
        if self._lost is None:
            self._lost = blame

    def finish(self) -> list[Report]:
        """What titles cite of the events behind them: at best a message that is not earlier."""
        reports = []
        for event, cited in self._ahead:
            report = Report(self._dialect.version, event.seq, event.line)
            self._report_later(report, cited, event.seq)
            reports.append(report)
        return reports

    def _report_later(self, report: Report, cited: list[Any], own: int) -> None:
        for place, seq in _later(cited, own):
            if seq in self._human:
                report.add("title/earlier", *place, found=seq)
            else:
                report.add("title/message", *place, because=self._lost, found=seq)

    def _check_cited(self, scene: Scene, cited: list[Any]) -> None:
        seen: set[int] = set()
        looks_ahead = self._dialect.looks_ahead
        for index, value in enumerate(cited):
            place = ("data", _LIST, index)
            seq = count(value)
            if seq is None or (looks_ahead and seq == scene.seq):
                scene.report.add("title/message", *place, found=value)
            elif seq >= scene.seq:
                # Where later events count, `finish` says what it is.
                if not looks_ahead:
                    scene.report.add("title/earlier", *place, found=value)
            elif seq not in self._human:
                why = scene.losses.blame(seq, (_MESSAGE,))
                scene.report.add("title/message", *place, because=why, found=seq)
            elif seq in seen:
                scene.report.add("title/repeated", *place, found=seq)
            else:
                seen.add(seq)

    def _check_request(self, scene: Scene, cited: list[Any]) -> None:
        problem = self._problem(scene, cited)
        known = scene.reported("data", "messages") or any(
            found.rule == "message/object" for found in scene.report.findings
        )
        if problem is not None and not known:
            detail, place = problem
            scene.report.add("title/request", *place, detail=detail)

    def _problem(self, scene: Scene, cited: list[Any]) -> tuple[str, tuple[str | int, ...]] | None:
        """The first thing that keeps a request from being one text of the title service."""
        data = scene.data
        # Only format 4 has the rule about repeated citations and this one about none at all.
        if not cited and scene.report.holds("title/repeated"):
            return "it cites no message", ("data", _LIST)
        messages = data.get("messages")
        if not isinstance(messages, list) or len(messages) != 1:
            return "there must be one message", member(data, "messages", "data")
        message, place = messages[0], ("data", "messages", 0)
        if not isinstance(message, dict):
            return "the message must be an object", place
        if message.get("role") != "user":
            return "the message must have role user", member(message, "role", *place)
        source = message.get("source")
        if not isinstance(source, dict) or not self._dialect.is_title_request(source):
            return "the message has another source", member(message, "source", *place)
        content = message.get("content")
        block = content[0] if isinstance(content, list) and len(content) == 1 else None
        if not isinstance(block, dict) or block.get("type") != "text":
            where = member(message, "content", *place)
            return "the message must have one text block", where
        return None


def _later(cited: list[Any], own: int) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """The places of a list that cite an event behind this one, with what they cite."""
    for index, value in enumerate(cited):
        seq = count(value)
        if seq is not None and seq > own:
            yield ("data", _LIST, index), seq


def _check_user(scene: Scene, cited: list[Any]) -> None:
    source = scene.data.get("source")
    kind = source.get("kind") if isinstance(source, dict) else None
    if not isinstance(source, dict) or (kind == "user") == bool(cited):
        place = (
            ("data", _LIST) if isinstance(source, dict) else member(scene.data, "source", "data")
        )
        scene.report.add("title/user", *place, source=kind, count=len(cited))
