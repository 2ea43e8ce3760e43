"""The prompt service: it holds what plugins contribute and assembles it for one request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Final

from dsh_protocol.findings import PromptError
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.scopes import Events, Layers, Owner

from ._texts import TEXTS, prompt_error
from ._utf16 import sort_key
from .assembly import BARE, AssembleContext, PromptAssembly, PromptText
from .config import PromptConfig
from .contributions import Contribution, PlacedProvider, PromptLayer, evaluated
from .contributor import Contributor
from .orders import section_order
from .tool_order import Tool, check_tool_order, ordered, visible_to_model

ASSEMBLE: Final = "system-prompt/assemble"
"""The waterfall that every assembly passes through: `events.on(ASSEMBLE, listener, owner)` takes part in it."""

CHANGE: Final = "system-prompt/change"
"""The event after every registration and every disposal; it carries nothing."""

PERSONA_PREFIX: Final = "deployment:persona-prefix"
PERSONA_SUFFIX: Final = "deployment:persona-suffix"
_IDENTITY: Final = "harness:identity"


@dataclass(frozen=True, slots=True)
class _Draft:
    """An assembly before its waterfall, with what listeners cannot undo.

    `whole` is the complete section; `suppressed` has all registered contexts where only required ones are let through.
    """

    assembly: PromptAssembly
    whole: PromptText | None
    suppressed: Mapping[str, Contribution] | None

    def enforce(self, result: PromptAssembly) -> PromptAssembly:
        """The value of the waterfall, or a shallow copy of it."""
        if self.whole is None and self.suppressed is None:
            return result
        result = copy(result)
        if self.whole is not None:
            result.sections = [self.whole]
        if self.suppressed is not None:
            registered = self.suppressed
            result.contexts = [each for each in result.contexts if _is_required(each, registered)]
        return result


class PromptService(Contributor):
    """The contributions of all plugins. As a contributor it registers for itself, in the global layer.

    Nothing is kept between assemblies: each one evaluates everything again, and several may run at the same time. The service
    neither reads nor writes a log.

    Raises:
        PromptError: `prompt/tool-order-repeated` or `prompt/tool-order-rest`, the configured order of tools is none.
    """

    __slots__ = ("_tool_order", "events")

    def __init__(self, events: Events | None = None, config: PromptConfig | None = None) -> None:
        self.events = Events() if events is None else events
        config = PromptConfig() if config is None else config
        if config.tool_order is not None:
            check_tool_order(config.tool_order)
        self._tool_order = config.tool_order
        layers = Layers(self.events.scopes, PromptLayer, lambda: self.events.emit(CHANGE))
        super().__init__(layers, Owner("system-prompt"))
        self._register_own(config)

    async def assemble(self, context: AssembleContext = BARE) -> PromptAssembly:
        """Evaluate everything that `context.scope` sees, and pass it through the waterfall `system-prompt/assemble`.

        Providers run synchronously, each once: variables, tools, then the texts in their order. The value of the waterfall is
        the result, except that a complete section is the only section whatever a listener did, and that suppressed runtime
        context has only required contexts. A signal is not looked at: the caller does so afterwards.

        Raises:
            PromptError: `prompt/multiple-complete`, `prompt/tool-name-reserved`, `prompt/tool-order-unknown`,
                `prompt/tools-result` or `prompt/listener-result`.
            Exception: whatever a provider or a listener raised.
        """
        draft = self._draft(context)
        result = await self.events.waterfall(
            ASSEMBLE, draft.assembly, context, context.scope, _checked
        )
        return draft.enforce(result)

    def refresh_context(
        self, assembly: PromptAssembly, context: AssembleContext = BARE
    ) -> PromptAssembly:
        """The assembly with its runtime contexts read again, right before a request; all else stays as it was accepted.

        Contexts that only a listener added keep their accepted texts. What is suppressed by now is left out, and required
        contexts that are missing come back at their place. The assembly that is handed in is not changed.

        Raises:
            Exception: whatever a provider raised.
        """
        registered = self._contexts(context)
        suppressed = _is_suppressed(self._layers.visible(context.scope))
        contexts = [
            registered[entry.name].evaluate("context", context)
            if entry.name in registered
            else entry
            for entry in assembly.contexts
            if not suppressed or _is_required(entry, registered)
        ]
        accepted = {entry.name for entry in assembly.contexts}
        for entry in registered.values():
            if entry.required and entry.name not in accepted:
                place = _place_of(entry, contexts, registered)
                contexts.insert(place, entry.evaluate("context", context))
        result = copy(assembly)
        result.contexts = contexts
        return result

    def _draft(self, context: AssembleContext) -> _Draft:
        visible = self._layers.visible(context.scope)
        suppressed = _is_suppressed(visible)
        # The iteration is live, and what a variable registers is merged below: that is what the official library does.
        variables = {
            name: evaluated(f"provider of prompt variable {name!r}", provider, context)
            for layer in visible
            for name, provider in layer.variables.items()
        }
        sections = self._sections(context)
        contexts = self._contexts(context)
        tools, known = _collected([p for layer in visible for p in layer.providers], context)
        parts = sorted(sections.values(), key=lambda entry: (entry.order, sort_key(entry.name)))
        _require_one_complete(parts)
        facts = sorted(contexts.values(), key=lambda entry: entry.order)
        assembly = PromptAssembly(
            sections=[entry.evaluate("section", context) for entry in parts],
            contexts=[
                entry.evaluate("context", context)
                for entry in facts
                if entry.required or not suppressed
            ],
            tools=ordered(tools, self._tool_order, known),
            variables=variables,
        )
        whole = next((index for index, entry in enumerate(parts) if entry.complete), None)
        return _Draft(
            assembly,
            # A copy: listeners cannot change a complete prompt.
            whole=None if whole is None else copy(assembly.sections[whole]),
            suppressed=contexts if suppressed else None,
        )

    def _register_own(self, config: PromptConfig) -> None:
        if config.include_harness_identity:
            self._own_section(_IDENTITY, "HARNESS_IDENTITY", TEXTS["harness-identity"])
        self._own_section(PERSONA_PREFIX, "DEPLOYMENT_PERSONA_PREFIX", config.persona_prefix)
        self._own_section(PERSONA_SUFFIX, "DEPLOYMENT_PERSONA_SUFFIX", config.persona_suffix)
        if not config.include_runtime_context:
            self.suppress_runtime_context()

    def _own_section(self, name: str, place: str, text: str) -> None:
        self.section(name, order=section_order(place), text=text)

    def _sections(self, context: AssembleContext) -> dict[str, Contribution]:
        return self._layers.merge(context.scope, lambda layer: layer.sections)

    def _contexts(self, context: AssembleContext) -> dict[str, Contribution]:
        return self._layers.merge(context.scope, lambda layer: layer.contexts)


def _is_suppressed(layers: Iterable[PromptLayer]) -> bool:
    return any(not layer.suppressors.is_empty() for layer in layers)


def _collected(
    providers: Iterable[PlacedProvider], context: AssembleContext
) -> tuple[list[Tool], set[str]]:
    """The tools of all providers, and the names that they know."""
    tools: list[Tool] = []
    known: set[str] = set()
    for provider in providers:
        result = provider.evaluate(context)
        seen = [visible_to_model(schema) for schema in result["schemas"]]
        names = result.get("knownNames")
        tools += seen
        known.update([str(tool.get("name")) for tool in seen] if names is None else names)
    return tools, known


def _require_one_complete(drafts: Iterable[Contribution]) -> None:
    complete = [entry for entry in drafts if entry.complete]
    if len(complete) > 1:
        names = ", ".join(dumps(entry.name) for entry in complete)
        raise prompt_error("prompt/multiple-complete", names=names)


def _checked(listener: Callable[..., object], result: object) -> PromptAssembly:
    if isinstance(result, PromptAssembly):
        return result
    name = getattr(listener, "__qualname__", repr(listener))
    raise PromptError(
        "prompt/listener-result",
        f"a listener of {ASSEMBLE} returned {type(result).__name__} instead of an assembly",
        fix=f"Let {name} return what `await further()` gave, or an assembly of its own.",
    )


def _is_required(entry: PromptText, registered: Mapping[str, Contribution]) -> bool:
    return entry.name in registered and registered[entry.name].required


def _place_of(
    entry: Contribution, contexts: list[PromptText], registered: Mapping[str, Contribution]
) -> int:
    """Before the first context that is registered with a greater order; at the end without one."""
    for index, other in enumerate(contexts):
        if other.name in registered and registered[other.name].order > entry.order:
            return index
    return len(contexts)
