"""Retries of failed requests: numbered chains, one per turn, step, provider and policy (rules `retry/*`)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.jsonvalue import is_count
from dsh_protocol.state._values import is_text, member

from ._scene import MISSING, Aspect, Scene, key, same, same_number
from .turns import Turns

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_RETRY = "llm/retry"
_STARTED = "llm/retry-started"
_HEADER = "request/header"
_CHAIN = ("turn", "step", "provider", "policyKey")

Chain: TypeAlias = tuple[Hashable, ...]


class _Latest:
    """The latest retry of a chain."""

    __slots__ = ("blame", "id", "number")

    def __init__(self, id_: Any, number: Any, blame: int | None) -> None:
        self.id = id_
        self.number = number
        self.blame = blame


class _Scheduled:
    """A retry that may start."""

    __slots__ = ("blame", "started", "step", "turn")

    def __init__(self, turn: Any, step: Any, blame: int | None) -> None:
        self.turn = turn
        self.step = step
        self.started = False
        self.blame = blame


class Retries(Aspect):
    """The retries of a log, and the provider that the latest request header names."""

    checked = frozenset({_RETRY, _STARTED})
    entered = checked | {_HEADER}

    __slots__ = ("_chains", "_doubt", "_ids", "_provider", "_scheduled", "_strays", "_turns")

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._chains: dict[Chain, _Latest] = {}
        self._ids: dict[Hashable, Chain] = {}
        """The chain that uses an id."""
        self._scheduled: dict[tuple[Hashable, Hashable], _Scheduled] = {}
        self._strays: dict[Hashable, int] = {}
        """Per id, the refused start of a retry that nobody had scheduled."""
        self._provider: Any = MISSING
        self._doubt: int | None = None
        """The lost row that may have been a later header."""

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a retry."""
        if self._check_members(scene):
            return
        if scene.type == _STARTED:
            self._check_started(scene)
            return
        if self._check_step(scene) and self._check_provider(scene):
            self._check_chain(scene)
        limit, number = scene.data.get("maxRetries"), scene.data.get("retry")
        if is_count(limit) and is_count(number) and number > limit:
            scene.report.add("retry/limit", "data", "retry", found=number, limit=limit)

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Take a provider, a retry or a start into account."""
        if event.type == _HEADER:
            self._provider, self._doubt = _provider(data), None
            return
        id_, number = data.get("retryId", MISSING), data.get("retry", MISSING)
        place = (key(id_), key(number))
        if blame is not None and event.type == _STARTED and place not in self._scheduled:
            self._strays[key(id_)] = blame
        if blame is not None and event.type == _RETRY and self._turns.doubt is None:
            # Its turn and step may be what was wrong with it.
            data = {**data, **dict(zip(("turn", "step"), self._coordinates(), strict=True))}
        turn, step = data.get("turn", MISSING), data.get("step", MISSING)
        scheduled = self._scheduled.setdefault(place, _Scheduled(turn, step, blame))
        if event.type == _STARTED:
            scheduled.started = True
            return
        chain = _chain(data)
        self._chains[chain] = _Latest(id_, number, blame)
        self._ids.setdefault(key(id_), chain)

    def lose(self, blame: int, /) -> None:
        """Rows are missing that may have been a header; other losses explain themselves."""
        self._doubt = blame

    @staticmethod
    def _check_members(scene: Scene) -> bool:
        if not scene.report.holds("retry/member"):
            return False
        data = scene.data
        wrong = [] if is_text(data.get("retryId")) else ["retryId"]
        if not is_count(data.get("retry")):
            wrong.append("retry")
        for name in wrong:
            place, found = member(data, name, "data"), data.get(name)
            scene.report.add("retry/member", *place, member=name, found=found)
        return bool(wrong)

    def _coordinates(self) -> tuple[int | None, int]:
        """The turn and the step that a retry now belongs to."""
        turns = self._turns
        return turns.turn, turns.last_step if turns.step is None else turns.step

    def _check_step(self, scene: Scene) -> bool:
        data = scene.data
        open_turn, open_step = self._coordinates()
        turn, step = data.get("turn"), data.get("step")
        if same_number(turn, open_turn) and same_number(step, open_step):
            return True
        name = "step" if same_number(turn, open_turn) else "turn"
        place = () if open_turn is None else member(data, name, "data")
        scene.report.add(
            "retry/step",
            *place,
            because=scene.why(self._turns.doubt),
            turn=turn,
            step=step,
            open_turn=open_turn,
            open_step=open_step,
        )
        return False

    def _check_provider(self, scene: Scene) -> bool:
        found = scene.data.get("provider", MISSING)
        if same(found, self._provider):
            return True
        place, why = member(scene.data, "provider", "data"), scene.why(self._doubt)
        known = None if self._provider is MISSING else self._provider
        found = scene.data.get("provider")
        scene.report.add("retry/provider", *place, because=why, found=found, known=known)
        return False

    def _check_chain(self, scene: Scene) -> None:
        data, report = scene.data, scene.report
        chain = _chain(data)
        latest = self._chains.get(chain)
        id_, number = data.get("retryId", MISSING), data.get("retry")
        expected = 1 if latest is None else _next(latest.number)
        if not same_number(number, expected):
            place = member(data, "retry", "data")
            doubt = self._strays.get(key(id_)) if latest is None else latest.blame
            why = scene.why_missing(doubt)
            report.add("retry/number", *place, because=why, found=number, known=expected)
        place, shown = member(data, "retryId", "data"), data.get("retryId")
        if latest is None and key(id_) in self._ids:
            report.add("retry/id-reused", *place, found=shown)
        elif latest is not None and not same(latest.id, id_):
            why, first = latest.blame, None if latest.id is MISSING else latest.id
            report.add("retry/chain-id", *place, because=why, found=shown, known=first)

    def _check_started(self, scene: Scene) -> None:
        data = scene.data
        id_, number = data.get("retryId", MISSING), data.get("retry", MISSING)
        scheduled = self._scheduled.get((key(id_), key(number)))
        shown = {"id": data.get("retryId"), "retry": data.get("retry")}
        if scheduled is None:
            place = member(data, "retryId", "data")
            scene.report.add("retry/unscheduled", *place, because=scene.why_missing(), **shown)
            return
        for name, expected in (("turn", scheduled.turn), ("step", scheduled.step)):
            if not same(data.get(name, MISSING), expected):
                scene.report.add(
                    "retry/started-step",
                    *member(data, name, "data"),
                    because=scheduled.blame,
                    turn=None if scheduled.turn is MISSING else scheduled.turn,
                    step=None if scheduled.step is MISSING else scheduled.step,
                )
                return
        if scheduled.started:
            why = scheduled.blame
            scene.report.add("retry/started-twice", "data", "retry", because=why, **shown)


def _chain(data: Mapping[str, Any]) -> Chain:
    return tuple(key(data.get(name, MISSING)) for name in _CHAIN)


def _next(number: Any) -> int | None:
    return number + 1 if isinstance(number, int) else None


def _provider(data: Mapping[str, Any]) -> Any:
    header = data.get("header")
    config = header.get("config") if isinstance(header, dict) else None
    return config.get("provider", MISSING) if isinstance(config, dict) else MISSING
