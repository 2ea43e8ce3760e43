"""What the ops with steps about prompts and tools share: owners, scopes, functions that a case describes, and answers."""

from __future__ import annotations

import copy
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from dsh_protocol.abort import AbortController, AbortSignal
from dsh_protocol.findings import ProtocolError
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.prompt import (
    AssembleContext,
    Contributor,
    PromptAssembly,
    PromptConfig,
    PromptService,
)
from dsh_protocol.scopes import Disposer, Events, Owner, ScopeBinding
from dsh_protocol.tools import ToolRegistry

from ._answers import Json

_PRODUCES = ("value", "context", "throws", "counts", "undefined")
_OWN_CONTEXT = ("scope", "signal", "agent")


class Thrown(Exception):
    """What a function of a case throws."""


@dataclass(eq=False)
class Key:
    """The object that stands for a scope, and for the agent where there is one."""

    name: str


class World:
    """The services of one case, and all that its steps have made.

    `steps` has a function for each step, from the world and the step to a value.
    """

    def __init__(self, steps: Mapping[str, Step], *, with_tools: bool = False) -> None:
        self._steps = steps
        self._with_tools = with_tools
        self.registry: ToolRegistry | None = None
        self.controller = AbortController()
        self.bindings: dict[str, ScopeBinding] = {}
        self.assemblies: dict[str, PromptAssembly] = {}
        self._owners: dict[str, Owner] = {}
        self._keys: dict[str, Key] = {}
        self._undo: dict[str, Disposer] = {}
        self._notes: list[str] = []

    def answers(self, given: Json) -> Json:
        """The answers to all steps of a case."""
        return anyio.run(self._answers, given["steps"])

    async def _answers(self, steps: list[Json]) -> Json:
        if steps[0]["do"] != "start":
            self.start({})
        return {"steps": [await self._answer(step) for step in steps]}

    async def _answer(self, step: Json) -> Json:
        try:
            value = self.act(step)
            return {"ok": await value if isinstance(value, Awaitable) else value}
        except (ProtocolError, Thrown) as error:
            return refusal(error)

    def act(self, step: Json) -> Any:
        """Do a step; some have to be awaited."""
        return self._steps[step["do"]](self, step)

    def start(self, config: Json) -> None:
        """Start the services."""
        self.events = Events()
        self.service = PromptService(self.events, PromptConfig.from_json(config))
        self.host = Owner("host")
        if self._with_tools:
            self.registry = ToolRegistry(self.events)
            self.service.tools(self.registry.provider)

    # ---- Owners and scopes -----------------------------------------------------------------------

    def owner(self, name: str | None) -> Owner:
        """The owner of this name; without one, the plugin that runs the case."""
        return self.host if name is None else self._owners[name]

    def contributor(self, step: Json) -> Contributor:
        """The prompt service as the owner of a step uses it."""
        return self.service.of(self.owner(step.get("owner")))

    def add_owner(self, name: str, scope: Key | None = None) -> None:
        """A plugin, or the owner of a scope."""
        self._owners[name] = Owner(name, scope=scope)

    def key(self, name: str | None) -> Key | None:
        """The key of a scope."""
        return None if name is None else self._keys.setdefault(name, Key(name))

    def keep(self, step: Json, dispose: Disposer) -> None:
        """Keep the disposer of a registration that has a name."""
        if "as" in step:
            self._undo[step["as"]] = dispose

    def dispose(self, name: str) -> None:
        """Call the disposer of a registration; nothing where it was refused."""
        if name in self._undo:
            self._undo[name]()

    # ---- Notes -----------------------------------------------------------------------------------

    def note(self, label: str | None) -> None:
        """Note that something was called."""
        if label is not None:
            self._notes.append(label)

    def take_notes(self) -> list[str]:
        """The notes since the last time."""
        notes, self._notes = self._notes, []
        return notes

    # ---- Contexts and functions ------------------------------------------------------------------

    def context(self, given: Json | None) -> AssembleContext:
        """The context of an assembly."""
        members = given or {}
        others = {name: value for name, value in members.items() if name not in _OWN_CONTEXT}
        return AssembleContext(
            scope=self.key(members.get("scope")),
            signal=signal_of(members.get("signal")),
            extensions=others,
        )

    def function(self, given: Any) -> Any:
        """A function for what a case says that a function does; anything else stands for itself."""
        if not is_producer(given):
            return given
        called = 0

        def produce(context: Any = None, *_: Any) -> Any:
            nonlocal called
            called += 1
            self.note(given.get("as"))
            if called == 1:
                for step in given.get("first", ()):
                    self.act(step)
            return _produced(given, context, called)

        return produce


Step = Callable[[World, Json], Any]


def is_producer(given: Any) -> bool:
    """Whether this describes a function."""
    return isinstance(given, dict) and not given.keys().isdisjoint(_PRODUCES)


def _produced(given: Json, context: Any, called: int) -> Any:
    if "throws" in given:
        raise Thrown(given["throws"])
    if "counts" in given:
        return f"{given['counts']}{called}"
    if "context" in given:
        value = _member(context, given["context"])
        return given.get("else") if value is None else value
    return copy.deepcopy(given.get("value"))


def _member(context: AssembleContext, name: str) -> Any:
    return shown(getattr(context, name) if name in _OWN_CONTEXT else context.extensions.get(name))


def shown(value: Any) -> Any:
    """A member of a context as answers have it."""
    if isinstance(value, Key):
        return value.name
    if isinstance(value, AbortSignal):
        return "aborted" if value.aborted else "open"
    return value


def signal_of(state: str | None) -> AbortSignal | None:
    """A signal that is `open` or `aborted`."""
    if state is None:
        return None
    controller = AbortController()
    if state == "aborted":
        controller.abort({"kind": "user"})
    return controller.signal


def refusal(error: ProtocolError | Thrown) -> Json:
    """The refused answer of a step."""
    if isinstance(error, Thrown):
        return {"refused": {"code": "THROWN", "path": "", "text": str(error)}}
    if error.code.isupper():
        return {"refused": {"code": error.code, "path": error.path}}
    place = {"rule": error.code, "seq": None, "path": error.path}
    return {"refused": {**place, "text": error.message}}


def json_text(value: Any) -> str:
    """The JSON text of a value, whose members stand in their order."""
    return dumps(value)


def plain(value: Any) -> Any:
    """A copy that nothing later can change, of plain lists and objects."""
    return json.loads(dumps(value))
