"""Which tools there are, which of them a scope sees, and what the model gets to see of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NotRequired, Protocol, TypeAlias, TypedDict

from dsh_protocol.findings import RegistrationError
from dsh_protocol.rules import Words, show
from dsh_protocol.scopes import (
    Anonymous,
    Disposer,
    Events,
    Layers,
    Named,
    Owner,
    calling_place,
    registration_error,
)

from ._pipeline import Approver, Guard, Pipeline, Stage
from ._results import ToolResult
from ._timeouts import Next, within_timeout
from .definitions import ToolDefinition, ToolOutput
from .errors import JsonSchemaError
from .execution import ToolCall, ToolExecution
from .subset import assert_supported

RUN_CODE: Final = "run_code"
"""The name that programs which call tools go by; no tool may have it."""

ToolEvent: TypeAlias = Literal[
    "tools/pre-execute", "tools/execute", "tools/post-execute", "tools/result"
]


class Scoped(Protocol):
    """Something that is done for a scope, such as a prompt assembly."""

    @property
    def scope(self) -> object | None:
        """The key of the scope; None for what is global only."""


class ProviderResult(TypedDict):
    """The tools for one prompt assembly: what the model sees, and the names of all tools before restrictions."""

    schemas: Sequence[Mapping[str, Any]]
    knownNames: NotRequired[Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Restriction:
    allow: frozenset[str] | None
    deny: frozenset[str]

    def admits(self, name: str) -> bool:
        return (self.allow is None or name in self.allow) and name not in self.deny


class _Layer:
    __slots__ = ("restrictions", "tools")

    def __init__(self) -> None:
        self.tools: Named[ToolDefinition] = Named()
        self.restrictions: Anonymous[_Restriction] = Anonymous()

    def is_empty(self) -> bool:
        return self.tools.is_empty() and self.restrictions.is_empty()

    def admits(self, name: str) -> bool:
        return all(restriction.admits(name) for restriction in self.restrictions)


class _Guards:
    __slots__ = ("guards",)

    def __init__(self) -> None:
        self.guards: Anonymous[Guard] = Anonymous()

    def is_empty(self) -> bool:
        return self.guards.is_empty()


class Tools:
    """The tools as one owner registers them: globally, or in the scope of the owner.

    Every method gives back a disposer; what is registered goes with the owner at the latest.
    """

    __slots__ = ("_registry", "owner")

    def __init__(self, registry: ToolRegistry, owner: Owner) -> None:
        self._registry = registry
        self.owner = owner

    def register(self, tool: ToolDefinition) -> Disposer:
        """Add a tool. In a scope it takes the place of an inherited one of the same name.

        Raises:
            RegistrationError: `tools/output-missing`, `tools/timeout`, `tools/name-reserved`, `tools/duplicate-name` (with
                `first`), `tools/no-tool`, `INACTIVE_EFFECT`.
            JsonSchemaError: `tools/schema-subset`, the output schema has something that is not enforced.
        """
        return self._registry._register(tool, self.owner)

    def restrict(
        self, *, allow: Collection[str] | None = None, deny: Collection[str] | None = None
    ) -> Disposer:
        """Hide tools that the owner's scope inherits: all that `allow` does not list, and all that `deny` lists.

        All restrictions along the chain of a scope count. The scope's own tools stay visible. A restriction that allows
        hides what is registered later, too; one that only denies does not.

        Raises:
            RegistrationError: `tools/restrict-scope`, `tools/restrict-empty`, `tools/restrict-reserved`,
                `tools/restrict-unknown` (a misspelled name, or one of the scope's own),
                `tools/restrict-type`, `INACTIVE_EFFECT`.
        """
        return self._registry._restrict(allow, deny, self.owner)

    def guard(self, guard: Guard) -> Disposer:
        """Ask `guard(execution)` about every call after all policies; a text that it returns denies the call, whoever
        allowed it.

        Raises:
            RegistrationError: `INACTIVE_EFFECT`.
        """
        return self._registry._guard(guard, self.owner)

    def on(
        self, event: ToolEvent, listener: Any, *, prepend: bool = False, is_global: bool = False
    ) -> Disposer:
        """Listen to calls of the owner's scope and below it.

        `tools/pre-execute`: `(execution, next)` gives a decision; `tools/execute`: `(execution, next)` gives a result;
        `tools/post-execute`: `(execution, result, next)` gives a decision; `tools/result`: `(execution, result)`, a plain
        function.

        Raises:
            RegistrationError: `INACTIVE_EFFECT`.
        """
        return self._registry.events.on(
            event, listener, self.owner, prepend=prepend, is_global=is_global
        )


class ToolRegistry(Tools):
    """The tools of a process, by scope; its own methods register for all scopes.

    `approver` is asked where a policy wants a person to decide; without one such calls are denied.
    """

    __slots__ = ("_guards", "_layers", "_pipeline", "approver", "events")

    def __init__(self, events: Events | None = None) -> None:
        super().__init__(self, Owner("tools"))
        self.events = events = Events() if events is None else events
        self.approver: Approver | None = None
        self._layers = Layers(events.scopes, _Layer, lambda: events.emit("tools/change"))
        self._guards = Layers(events.scopes, _Guards, lambda: None)
        self._pipeline = Pipeline(self, events)
        self.on("tools/execute", self._within_timeout)

    def of(self, owner: Owner) -> Tools:
        """The registry as this owner uses it."""
        return Tools(self, owner)

    # ---- What a scope sees -----------------------------------------------------------------------

    def get(self, name: str, scope: object | None = None) -> ToolDefinition | None:
        """The tool of this name that a scope sees; None for a hidden one as well."""
        return self._visible(scope).get(name)

    def schemas(self, scope: object | None = None) -> list[dict[str, Any]]:
        """What the model sees of the tools of a scope: `name`, `description`, `parameters`, `deferLoading`; inherited ones
        first.

        Raises:
            RegistrationError: `tools/parameters-lossless`.
        """
        return [tool.model_schema() for tool in self._visible(scope).values()]

    def known_names(self, scope: object | None = None) -> list[str]:
        """The names of all tools that a scope sees or that are hidden from it."""
        own = self._own_layer(scope)
        return list(self._inherited(scope) | (dict(own.tools.items()) if own else {}))

    def provider(self, context: Scoped) -> ProviderResult:
        """The tools of the scope of one prompt assembly: hand this method to `PromptService.tools`.

        Raises:
            RegistrationError: `tools/parameters-lossless`.
        """
        names = self.known_names(context.scope)
        return {"schemas": self.schemas(context.scope), "knownNames": names}

    def _visible(self, scope: object | None) -> dict[str, ToolDefinition]:
        layers = self._layers.inherited(scope)
        visible = {
            name: tool
            for name, tool in self._inherited(scope).items()
            if all(layer.admits(name) for layer in layers)
        }
        own = self._own_layer(scope)
        return visible | (dict(own.tools.items()) if own else {})

    def _inherited(self, scope: object | None) -> dict[str, ToolDefinition]:
        own = self._own_layer(scope)
        layers = [layer for layer in self._layers.visible(scope) if layer is not own]
        return {name: tool for layer in layers for name, tool in layer.tools.items()}

    def _own_layer(self, scope: object | None) -> _Layer | None:
        return None if scope is None else self._layers.of(scope)

    def guards_of(self, scope: object | None) -> Sequence[Guard]:
        """The guards of a scope: the global ones, then those of its farthest ancestor, its own last."""
        return [guard for layer in self._guards.visible(scope) for guard in layer.guards]

    # ---- Calls -----------------------------------------------------------------------------------

    def execution_mode(self, call: ToolCall) -> Literal["parallel", "exclusive"]:
        """Whether a call may overlap with others of its step; never for a tool that is unknown, hidden, or fails to say."""
        tool = self.get(call.name, call.agent)
        if tool is None or tool.is_concurrency_safe is None:
            return "exclusive"
        try:
            return "parallel" if tool.is_concurrency_safe(call.arguments) is True else "exclusive"
        except Exception:
            return "exclusive"

    async def execute(self, call: ToolCall) -> ToolResult:
        """Run a call from the arguments to the result. What a tool or a listener raises is a result as well.

        When `call.signal` comes, a body that runs is cancelled at its next await (a plain function in a thread is waited
        for). When the surrounding task is cancelled, that goes through.
        """
        return await self._pipeline.execute(call)

    async def prepare(self, call: ToolCall) -> Stage:
        """The first step of `execute`, for a loop that schedules calls itself: policies and guards."""
        return await self._pipeline.prepare(call)

    async def dispatch(self, execution: ToolExecution) -> Stage:
        """The second step: wrappers and body."""
        return await self._pipeline.dispatch(execution)

    async def settle(self, stage: Stage) -> ToolResult:
        """The last step, for a stage that has a result: policies about it, the tool's last word, observers."""
        assert stage.result is not None
        if stage.kind == "post":
            return await self._pipeline.finalize(stage.execution, stage.result)
        return self._pipeline.finish(stage.execution, stage.result)

    async def _within_timeout(self, execution: ToolExecution, further: Next) -> ToolResult:
        return await within_timeout(self.get(execution.name, execution.agent), execution, further)

    # ---- Registrations ---------------------------------------------------------------------------

    def _register(self, tool: ToolDefinition, owner: Owner) -> Disposer:
        _require_reachable(owner)
        _check(tool)
        place = calling_place(owner)

        def insert(layer: _Layer) -> Disposer:
            if tool.name in layer.tools:
                first = layer.tools.place(tool.name)
                raise registration_error(
                    "tools/duplicate-name", path="/name", first=first, name=tool.name
                )
            return layer.tools.insert(tool.name, tool, place)

        return self._layers.register(owner, insert)

    def _restrict(
        self, allow: Collection[str] | None, deny: Collection[str] | None, owner: Owner
    ) -> Disposer:
        _require_reachable(owner)
        if owner.scope is None:
            raise registration_error("tools/restrict-scope")
        if allow is None and deny is None:
            raise registration_error("tools/restrict-empty")
        if isinstance(allow, str) or isinstance(deny, str):
            raise RegistrationError(
                "tools/restrict-type",
                "a restriction was given one text and not a list of names",
                fix="Put the name into a list.",
            )
        names = [*(allow or ()), *(deny or ())]
        if RUN_CODE in names:
            raise registration_error("tools/restrict-reserved", name=RUN_CODE)
        inherited = self._inherited(owner.scope)
        unknown = [name for name in names if name not in inherited]
        if unknown:
            raise registration_error("tools/restrict-unknown", names=_listed(unknown))
        restriction = _Restriction(
            None if allow is None else frozenset(allow), frozenset(deny or ())
        )
        return self._layers.register(owner, lambda layer: layer.restrictions.append(restriction))

    def _guard(self, guard: Guard, owner: Owner) -> Disposer:
        return self._guards.register(owner, lambda layer: layer.guards.append(guard))


def _require_reachable(owner: Owner) -> None:
    """As officially: a plugin that is gone cannot even ask, a scope that is gone hears first what else is wrong."""
    if owner.scope is None:
        owner.require_active()


def _check(tool: ToolDefinition) -> None:
    given: object = tool
    if not isinstance(given, ToolDefinition):
        raise RegistrationError(
            "tools/no-tool",
            f"{given!r} is no tool",
            fix="Make one of a function with `tool`, or give a ToolDefinition.",
        )
    output: object = tool.output
    if not (isinstance(output, ToolOutput) and callable(output.render)):
        raise registration_error("tools/output-missing", name=tool.name)
    try:
        assert_supported(output.schema)
    except JsonSchemaError as error:
        error.path = "/output/schema"
        raise
    if tool.timeout_ms is not None and not _is_timeout(tool.timeout_ms):
        raise registration_error("tools/timeout", path="/timeoutMs", name=tool.name)
    if tool.name == RUN_CODE:
        raise registration_error("tools/name-reserved", path="/name", name=RUN_CODE)


def _is_timeout(given: object) -> bool:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return math.isfinite(given) and given > 0


def _listed(names: Iterable[str]) -> Words:
    return Words(", ".join(show(name) for name in names))
