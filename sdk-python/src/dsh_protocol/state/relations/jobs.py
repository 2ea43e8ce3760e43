"""Jobs of tools that run on in the background: each is registered once and settles once (rules `job/*`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.jsonvalue import equal, is_count
from dsh_protocol.state._values import member

from ._scene import Aspect, Scene

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_REGISTERED = "job/registered"
_SETTLED = "job/settled"
_KEPT = ("owner", "kind", "label", "startedAt", "toolCall")


class Jobs(Aspect):
    """The jobs of a log."""

    checked = entered = frozenset({_REGISTERED, _SETTLED})

    __slots__ = ("_blamed", "_jobs")

    def __init__(self) -> None:
        self._jobs: dict[str, Mapping[str, Any] | None] = {}
        """Per job, what it was registered with, null once it is settled."""
        self._blamed: dict[str, int] = {}
        """Per job, the refused event that said so."""

    def check(self, scene: Scene) -> None:
        """Report what is wrong with a job."""
        data, report = scene.data, scene.report
        id_ = data.get("jobId")
        if not isinstance(id_, str):
            return
        place = ("data", "jobId")
        known, why = id_ in self._jobs, self._blamed.get(id_)
        if scene.type == _REGISTERED:
            if known:
                report.add("job/registered-twice", *place, because=why, job=id_)
            return
        told = self._jobs.get(id_)
        if not known:
            report.add("job/unregistered", *place, because=scene.why_missing(), job=id_)
        elif told is None:
            report.add("job/settled-twice", *place, because=why, job=id_)
        else:
            for name in _KEPT:
                if not equal(told.get(name), data.get(name)):
                    report.add("job/changed", *member(data, name, "data"), member=name, job=id_)
        began, ended = data.get("startedAt"), data.get("finishedAt")
        if is_count(began) and is_count(ended) and ended < began:
            report.add("job/changed", "data", "finishedAt", member="finishedAt", job=id_)

    def enter(self, event: Event, data: Mapping[str, Any], blame: int | None, /) -> None:
        """Register or settle the job."""
        id_ = data.get("jobId")
        if isinstance(id_, str):
            settled = event.type == _SETTLED
            if blame is not None:
                self._blamed[id_] = blame
            self._jobs[id_] = None if settled else {name: data.get(name) for name in _KEPT}
