"""A team that the session leads: its members, its tasks and the messages between members (rules `team/*`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.state._values import is_text, member

from ._scene import Aspect, Scene, same, same_number

if TYPE_CHECKING:
    from dsh_protocol.rows import Event, Header

_MEMBER = "team/member"
_TASK = "team/task"
_QUEUED = "team/message/queued"
_DELIVERED = "team/message/delivered"
_KEPT = ("name", "provider", "context")
_FIRST_PHASE = "provisioning"
_DELETED = "deleted"
_MAX_STEPS = 1_000_000
"""The steps from task to task that the search for circles in one log may take."""


class _Message:
    """A queued message."""

    __slots__ = ("blame", "delivered", "target")

    def __init__(self, target: Any, blame: int | None) -> None:
        self.target = target
        self.delivered = False
        self.blame = blame


class Teams(Aspect):
    """The team of the session. Events of another team are none of its business: a fork inherits those of its parent."""

    checked = entered = frozenset({_MEMBER, _TASK, _QUEUED, _DELIVERED})

    __slots__ = ("_members", "_messages", "_names", "_steps", "_tasks", "_team", "_waiting")

    def __init__(self, header: Header | None) -> None:
        self._team = None if header is None else header.id
        self._members: dict[str, Mapping[str, Any]] = {}
        self._names: dict[str, str] = {}
        self._tasks: dict[str, Mapping[str, Any]] = {}
        self._waiting: dict[str, set[str]] = {}
        """Per task, those that it blocks, or once did."""
        self._messages: dict[str, _Message] = {}
        self._steps = 0

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a change of the team."""
        data = scene.data
        if not self._is_own(data):
            return
        if scene.type == _DELIVERED:
            self._check_delivered(scene)
            return
        told = _told(scene.type, data)
        if told is None:
            return
        if scene.type == _MEMBER:
            self._check_member(scene, told)
        elif scene.type == _TASK:
            self._check_task(scene, told)
        elif told["id"] in self._messages:
            why = self._messages[told["id"]].blame
            place = ("data", "message", "id")
            scene.report.add("team/message-repeated", *place, because=why, id=told["id"])

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Take what the event says of a member, a task or a message."""
        if not self._is_own(data):
            return
        if event.type == _DELIVERED:
            id_ = data.get("messageId")
            if isinstance(id_, str):
                made = _Message(data.get("targetId"), event.seq)
                self._messages.setdefault(id_, made).delivered = True
            return
        told = _told(event.type, data)
        if told is None:
            return
        if event.type == _MEMBER:
            self._members[told["id"]] = told
            if isinstance(told.get("name"), str):
                self._names.setdefault(told["name"], told["id"])
        elif event.type == _TASK:
            self._tasks[told["id"]] = told
            for _, blocker in _blockers(told):
                self._waiting.setdefault(blocker, set()).add(told["id"])
        else:
            self._messages.setdefault(told["id"], _Message(told.get("targetId"), blame))

    def _is_own(self, data: Mapping[str, Any]) -> bool:
        return self._team is not None and data.get("teamId") == self._team

    def _check_member(self, scene: Scene, told: Mapping[str, Any]) -> None:
        report, place = scene.report, ("data", "member")
        before = self._members.get(told["id"])
        name = told.get("name")
        if isinstance(name, str) and self._names.get(name, told["id"]) != told["id"]:
            report.add("team/member-name", *place, "name", name=name)
        phase = told.get("phase")
        if before is None:
            if phase != _FIRST_PHASE:
                why, where = scene.why_missing(), member(told, "phase", *place)
                report.add("team/member-phase", *where, because=why, before=None, after=phase)
            return
        for kept in _KEPT:
            if not same(told.get(kept), before.get(kept)):
                report.add("team/member-changed", *member(told, kept, *place), member=kept)
        if before.get("phase") != _FIRST_PHASE or phase == _FIRST_PHASE:
            where, was = member(told, "phase", *place), before.get("phase")
            report.add("team/member-phase", *where, before=was, after=phase)

    def _check_task(self, scene: Scene, told: Mapping[str, Any]) -> None:
        before = self._tasks.get(told["id"])
        revision = 0 if before is None else before.get("revision")
        expected = revision + 1 if isinstance(revision, int) else None
        found = told.get("revision")
        if not same_number(found, expected):
            place = member(told, "revision", "data", "task")
            scene.report.add(
                "team/task-revision",
                *place,
                because=scene.why_missing(),
                task=told["id"],
                found=found,
                known=expected,
            )
        if told.get("status") == _DELETED:
            self._check_deleted(scene, told["id"])
            return
        seen: set[Any] = set()
        for index, blocker in _blockers(told):
            detail = self._problem(told["id"], blocker, seen)
            if detail is not None:
                scene.report.add(
                    "team/task-blockers",
                    *("data", "task", "blockedBy", index),
                    because=scene.why_missing() if blocker not in self._tasks else None,
                    task=told["id"],
                    blocker=blocker,
                    detail=detail,
                )
            seen.add(blocker)

    def _check_deleted(self, scene: Scene, deleted: str) -> None:
        """Whether a task still waits for the one that is deleted."""
        for id_ in sorted(self._waiting.get(deleted, ())):
            task = self._tasks[id_]
            if id_ == deleted or task.get("status") == _DELETED:
                continue
            if any(blocker == deleted for _, blocker in _blockers(task)):
                place, detail = ("data", "task", "status"), "the blocker is deleted"
                scene.report.add(
                    "team/task-blockers", *place, task=id_, blocker=deleted, detail=detail
                )

    def _problem(self, task: str, blocker: str, seen: set[Any]) -> str | None:
        if blocker == task:
            return "it is the task itself"
        if blocker in seen:
            return "it is named twice"
        other = self._tasks.get(blocker)
        if other is None or other.get("status") == _DELETED:
            return "it does not exist, or is deleted"
        return "it waits for the task" if self._waits(blocker, task) else None

    def _waits(self, start: str, goal: str) -> bool:
        """Whether a task waits for another, directly or not. In a log that asks for too many steps, nobody knows."""
        seen, left = {start}, [start]
        while left and self._steps < _MAX_STEPS:
            self._steps += 1
            task = self._tasks.get(left.pop())
            if task is None or task.get("status") == _DELETED:
                continue
            for _, blocker in _blockers(task):
                if blocker == goal:
                    return True
                if blocker not in seen:
                    seen.add(blocker)
                    left.append(blocker)
        return False

    def _check_delivered(self, scene: Scene) -> None:
        data = scene.data
        id_, target = data.get("messageId"), data.get("targetId")
        message = self._messages.get(id_) if isinstance(id_, str) else None
        if message is None:
            place = member(data, "messageId", "data")
            why = scene.why_missing()
            scene.report.add("team/message-unqueued", *place, because=why, id=id_)
        elif not same(message.target, target):
            place = member(data, "targetId", "data")
            expected = message.target
            scene.report.add("team/message-target", *place, found=target, known=expected)
        elif message.delivered:
            place, why = ("data", "messageId"), message.blame
            scene.report.add("team/message-delivered-twice", *place, because=why, id=id_)


def _told(event_type: str, data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """What an event says, null when it does not say about what; the schema has the rest of its shape."""
    name = "message" if event_type == _QUEUED else event_type.removeprefix("team/")
    told = data.get(name)
    return told if isinstance(told, dict) and is_text(told.get("id")) else None


def _blockers(task: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    blockers = task.get("blockedBy")
    for index, blocker in enumerate(blockers if isinstance(blockers, list) else ()):
        if isinstance(blocker, str):
            yield index, blocker
