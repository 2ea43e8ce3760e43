"""Which header, tool changes and route a request writes into the log before it is sent.

These are pure functions: `PreparedCall` says what is about to be sent, `LogFacts` what the
log says at this moment, `SeriesMemory` what one loop instance remembers of its previous request. `decide_header` gives the
events that are due, and the memory to go on with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from dsh_protocol.dialect import Dialect
from dsh_protocol.jsonvalue import equal
from dsh_protocol.session import Session
from dsh_protocol.state import Surface, canonical_header, header_equals

Json: TypeAlias = dict[str, Any]
HeaderReason: TypeAlias = Literal["initial", "resume", "change", "series"]

_ROUTE_MEMBERS = ("provider", "model", "contextWindow", "systemPromptUpdate")


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedCall:
    """A request as its adapter has prepared it, and what the adapter declares about the route.

    `config` is the resolved call configuration (`provider`, `model`, ...), `adapter_defaults` has a true flag for each member
    of it that the adapter filled in. Without an adapter there is the configuration alone.
    """

    config: Json
    tools: Sequence[Json] = ()
    adapter_defaults: Mapping[str, bool] = field(default_factory=dict)
    context_window: int | None = None
    system_prompt_update: str | None = None
    tool_update: str | None = None

    @property
    def header(self) -> Json:
        """The canonical request header of this call (rule `loop/header-canonical`)."""
        header: Json = {"config": self.config, "adapterDefaults": dict(self.adapter_defaults)}
        return canonical_header({**header, "tools": list(self.tools)})

    @property
    def route(self) -> Json:
        """The data of a request/context for this call."""
        route: Json = {"provider": self.config["provider"], "model": self.config["model"]}
        if self.context_window is not None:
            route["contextWindow"] = self.context_window
        if self.system_prompt_update is not None:
            route["systemPromptUpdate"] = self.system_prompt_update
        return route


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What a log says at one moment, the events of a parent included.

    `generation` counts the changes of the surface that begin a series; `header` is the canonical header and `context` the
    request/context in force, null before the first.
    """

    generation: int
    header: Json | None
    context: Json | None

    @classmethod
    def of(cls, session: Session) -> LogFacts:
        """The facts of a session as it stands.

        Raises:
            RefusedError: at level `append`, when the header in force is one that readers refuse.
        """
        generation = series_generation(session.surface, session.dialect)
        return cls(generation, session.request_header, session.context)


@dataclass(frozen=True, slots=True)
class SeriesMemory:
    """What a loop instance remembers: whether it logged a header, and the surface's generation at its last request.

    Rule `loop/series-memory`. Before the first request it is the generation at which the loop was attached to its session.
    """

    generation: int
    header_logged: bool = False

    @classmethod
    def attach(cls, session: Session) -> SeriesMemory:
        """The memory of a loop that begins to write this session, new or resumed."""
        return cls(series_generation(session.surface, session.dialect))

    def starts_series(self, facts: LogFacts, requested: bool) -> bool:
        """Whether a request begins a series, as its header says it (rule `loop/series-starts`).

        `requested`: it is the first attempt of a step whose pre-step decision asked for a new series.
        """
        return requested or facts.generation != self.generation

    def prompt_starts_series(
        self, facts: LogFacts, call: PreparedCall, requested: bool, dialect: Dialect
    ) -> bool:
        """Whether a request begins a series for the projection of the system prompt: changed tools may do that, too.

        They do unless the route takes tool updates inside the history, which format 3 does not know (rule `loop/series-tools`).
        """
        if self.starts_series(facts, requested):
            return True
        takes_updates = dialect.has_tool_updates and call.tool_update is not None
        return not takes_updates and tools_changed(facts.header, call.tools)


@dataclass(frozen=True, slots=True)
class HeaderDecision:
    """The events that are due, in this order, and what to remember afterwards.

    `header` is the data of a request/header, `route` that of a request/context, null when none is due. `added` and
    `removed` are the tool names of a developer message between them, which is due when one of them is not empty; with
    additions its `headerSeq` is the number of that request/header.
    """

    header: Json | None
    added: tuple[str, ...]
    removed: tuple[str, ...]
    route: Json | None
    memory: SeriesMemory

    @property
    def reason(self) -> HeaderReason | None:
        """Why a header is logged, null when none is."""
        return None if self.header is None else self.header["reason"]


def series_generation(surface: Surface, dialect: Dialect) -> int:
    """How often the surface has changed so that no request goes on from there: `LogFacts.generation`.

    Rule `loop/series-generation`.
    """
    return surface.content_generation if dialect.projects_messages else surface.replace_generation


def tools_changed(header: Json | None, tools: Sequence[Json]) -> bool:
    """Whether these are other tools than those of the header in force; false before the first header."""
    if header is None:
        return False
    return not header_equals({"tools": header.get("tools", [])}, {"tools": list(tools)})


def decide_header(
    call: PreparedCall,
    facts: LogFacts,
    memory: SeriesMemory,
    dialect: Dialect,
    *,
    starts_request_series: bool = False,
) -> HeaderDecision:
    """What a request writes into the log once its system prompt and its user messages are in.

    `facts` are those of this moment, after the prompt. `starts_request_series` as the argument `requested` of
    `SeriesMemory.starts_series`. Rules `loop/header-reason`, `loop/header-starts-series` (before format 4
    `loop/header-starts-change`), `loop/tools-told` and `loop/route-logged`.
    """
    header = call.header
    starts_series = memory.starts_series(facts, starts_request_series)
    reason = _reason(header, facts, memory, starts_series)
    added, removed = _tool_changes(facts.header, call.tools, reason, dialect)
    return HeaderDecision(
        header=None if reason is None else _logged(header, reason, starts_series, dialect),
        added=added,
        removed=removed,
        route=None if _is_same_route(facts.context, call.route) else call.route,
        memory=SeriesMemory(facts.generation, header_logged=True),
    )


def _reason(
    header: Json, facts: LogFacts, memory: SeriesMemory, starts_series: bool
) -> HeaderReason | None:
    if not memory.header_logged:
        return "initial" if facts.header is None else "resume"
    if facts.header is None or not header_equals(facts.header, header):
        return "change"
    return "series" if starts_series else None


def _logged(header: Json, reason: HeaderReason, starts_series: bool, dialect: Dialect) -> Json:
    data: Json = {"header": header, "reason": reason}
    # The reason `series` says it by itself; format 3 says it of changes only.
    says_so = reason == "change" or (dialect.marks_first_series and reason != "series")
    if starts_series and says_so:
        data["startsSeries"] = True
    return data


def _tool_changes(
    before: Json | None, tools: Sequence[Json], reason: HeaderReason | None, dialect: Dialect
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not dialect.has_tool_updates or before is None or reason not in ("resume", "change"):
        return (), ()
    known = [tool["name"] for tool in before.get("tools", [])]
    now = [tool["name"] for tool in tools]
    added = tuple(name for name in now if name not in set(known))
    return added, tuple(name for name in known if name not in set(now))


def _is_same_route(before: Json | None, route: Json) -> bool:
    if before is None:
        return False
    pairs = [(before.get(name), route.get(name)) for name in _ROUTE_MEMBERS]
    return all(equal(one, other) for one, other in pairs)
