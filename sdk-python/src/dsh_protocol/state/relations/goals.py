"""The goal of a session: at most one, changed by revisions and pursued in rounds (rules `goal/*`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.jsonvalue import equal, is_count
from dsh_protocol.state._values import is_text, member

from ._scene import Aspect, Scene, same

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_CHANGE = "goal/change"
_MESSAGE = "user/message"
_CREATE = "create"
_CLEAR = "clear"
_EDIT = "edit"
_DEFINITION = ("objective", "maxGoalRounds")
_PHASES = {
    "pause": (("active",), "paused"),
    "resume": (("active", "paused", "blocked"), "active"),
    "complete": (("active", "paused", "blocked"), "complete"),
    "block": (("active",), "blocked"),
}
"""Per operation, the phases that it leads from and the one that it leads to."""
_OPERATIONS = frozenset({_CREATE, _EDIT, *_PHASES})
_GOAL = ("data", "goal")


class _Goal:
    """A goal as its latest change left it."""

    __slots__ = ("created", "rounds", "told", "updated")

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.told: Mapping[str, Any] = data["goal"]
        self.rounds = data.get("roundsStarted")
        self.created = data.get("createdAt")
        self.updated = data.get("updatedAt")


class Goals(Aspect):
    """The goal of a session, and the ids that goals have had."""

    checked = entered = frozenset({_CHANGE, _MESSAGE})

    __slots__ = ("_doubt", "_goal", "_ids")

    def __init__(self) -> None:
        self._goal: _Goal | None = None
        self._ids: set[str] = set()
        self._doubt: int | None = None
        """The event because of which the goal is not known for sure."""

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a change of the goal, or with a round."""
        if scene.type == _MESSAGE:
            source = scene.data.get("source")
            if isinstance(source, dict) and source.get("kind") == "goal":
                self._check_round(scene, source)
            return
        data = scene.data
        operation = data.get("operation")
        if not _is_whole(data):
            return
        if operation == _CREATE:
            self._check_create(scene)
        elif self._goal is None:
            place, why = member(data, "operation", "data"), scene.why_missing(self._doubt)
            scene.report.add("goal/none", *place, because=why, operation=operation)
        elif operation == _CLEAR:
            self._check_clear(scene, self._goal)
        else:
            self._check_change(scene, self._goal, str(operation))
        _check_times(scene)

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Take the goal that the event leaves."""
        if event.type == _MESSAGE:
            source = data.get("source")
            if isinstance(source, dict) and source.get("kind") == "goal" and self._goal:
                self._goal.rounds = source.get("round")
            return
        if not _is_whole(data):
            self.lose(event.seq if blame is None else blame)
            return
        self._doubt = None
        if data.get("operation") == _CLEAR:
            self._goal = None
            return
        self._goal = _Goal(data)
        self._ids.add(data["goal"]["id"])

    def lose(self, blame: int, /) -> None:
        """Rows are missing that may have been changes of the goal."""
        if self._doubt is None:
            self._doubt = blame

    def _check_create(self, scene: Scene) -> None:
        told, why = scene.data["goal"], scene.why(self._doubt)
        wrong: list[tuple[str, Any, tuple[str, ...]]] = []
        if told.get("revision") != 1:
            wrong.append(("revision", told.get("revision"), _GOAL))
        if told.get("phase") != "active":
            wrong.append(("phase", told.get("phase"), _GOAL))
        if scene.data.get("roundsStarted") != 0:
            wrong.append(("roundsStarted", scene.data.get("roundsStarted"), ("data",)))
        if told["id"] in self._ids or (
            self._goal is not None and self._goal.told.get("phase") != "complete"
        ):
            wrong.append(("id", told["id"], _GOAL))
        for name, found, place in wrong:
            because = why if name == "id" else None
            scene.report.add("goal/create", *place, name, because=because, member=name, found=found)

    def _check_clear(self, scene: Scene, goal: _Goal) -> None:
        cleared = scene.data["cleared"]
        self._check_revision(scene, goal, cleared, ("data", "cleared"))
        self._check_time(scene, goal, "clearedAt")

    def _check_change(self, scene: Scene, goal: _Goal, operation: str) -> None:
        data, why = scene.data, scene.why(self._doubt)
        told = data["goal"]
        self._check_revision(scene, goal, told, _GOAL)
        for name, kept in (("createdAt", goal.created), ("roundsStarted", goal.rounds)):
            if not same(data.get(name), kept):
                self._add_kept(scene, name, kept)
        self._check_time(scene, goal, "updatedAt")
        fixed = ("phase", "blockedReason") if operation == _EDIT else _DEFINITION
        for name in fixed:
            if not equal(told.get(name), goal.told.get(name)):
                place = member(told, name, *_GOAL)
                scene.report.add(
                    "goal/definition", *place, because=why, operation=operation, member=name
                )
        if operation != _EDIT:
            self._check_phase(scene, goal, operation)

    def _check_phase(self, scene: Scene, goal: _Goal, operation: str) -> None:
        told = scene.data["goal"]
        before, after = goal.told.get("phase"), told.get("phase")
        allowed, leads_to = _PHASES[operation]
        limit = told.get("maxGoalRounds")
        spent = (
            operation == "resume"
            and is_count(limit)
            and is_count(goal.rounds)
            and goal.rounds >= limit
        )
        if after != leads_to or before not in allowed or spent:
            place, why = member(told, "phase", *_GOAL), scene.why(self._doubt)
            scene.report.add(
                "goal/phase", *place, because=why, operation=operation, before=before, after=after
            )

    def _check_revision(
        self, scene: Scene, goal: _Goal, told: Mapping[str, Any], place: tuple[str, ...]
    ) -> None:
        revision = goal.told.get("revision")
        following = revision + 1 if isinstance(revision, int) else None
        for name, expected in (("id", goal.told.get("id")), ("revision", following)):
            found = told.get(name)
            if not same(found, expected):
                where, why = member(told, name, *place), scene.why(self._doubt)
                scene.report.add(
                    "goal/revision",
                    *where,
                    because=why,
                    member=name,
                    found=found,
                    known=expected,
                )

    def _check_time(self, scene: Scene, goal: _Goal, name: str) -> None:
        found, before = scene.data.get(name), goal.updated
        if is_count(found) and is_count(before) and found < before:
            self._add_kept(scene, name, before)

    def _add_kept(self, scene: Scene, name: str, expected: Any) -> None:
        place, why = member(scene.data, name, "data"), scene.why(self._doubt)
        found = scene.data.get(name)
        scene.report.add("goal/kept", *place, because=why, member=name, found=found, known=expected)

    def _check_round(self, scene: Scene, source: Mapping[str, Any]) -> None:
        goal = self._goal
        why = scene.why(self._doubt) if goal is not None else scene.why_missing(self._doubt)
        told: Mapping[str, Any] = {} if goal is None else goal.told
        rounds = goal.rounds if goal is not None and isinstance(goal.rounds, int) else 0
        limit = told.get("maxGoalRounds")
        expected: dict[str, Any] = {"goalId": told.get("id"), "revision": told.get("revision")}
        if goal is None or told.get("phase") != "active":
            expected = {"goalId": None}
        elif rounds + 1 > (limit if isinstance(limit, int) else rounds + 1):
            expected["round"] = None
        else:
            expected["round"] = rounds + 1
        for name, value in expected.items():
            found = source.get(name)
            if value is None or not same(found, value):
                place = member(source, name, "data", "source")
                scene.report.add(
                    "goal/round", *place, because=why, member=name, found=found, known=value
                )


def _is_whole(data: Mapping[str, Any]) -> bool:
    """Whether a change says what it leaves; the schema has the rest of its shape."""
    operation = data.get("operation")
    if operation == _CLEAR:
        return isinstance(data.get("cleared"), dict)
    if not isinstance(operation, str) or operation not in _OPERATIONS:
        return False
    goal = data.get("goal")
    return isinstance(goal, dict) and is_text(goal.get("id"))


def _check_times(scene: Scene) -> None:
    created, updated = scene.data.get("createdAt"), scene.data.get("updatedAt")
    if is_count(created) and is_count(updated) and updated < created:
        scene.report.add("goal/times", "data", "updatedAt", found=updated, known=created)
