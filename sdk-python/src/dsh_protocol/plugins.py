"""Plugins: a name, the services that they need, and a function that registers things, all of which go with the plugin.

A plugin is a module, an object or a class instance with these members:

    name = "my-guidelines"
    inject = ["system_prompt"]

    def apply(ctx):
        ctx.system_prompt.section("my-plugin:guidelines", order=250, text="Prefer commands that can be run.")

It starts as soon as all services in `inject` are there. It stops, and everything that it registered is undone, when one of them
goes or the plugin is disposed of.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from .findings import ProtocolError, RegistrationError
from .scopes import INACTIVE, Disposer, Events, Owner, calling_place

if TYPE_CHECKING:
    from .prompt import Contributor
    from .tools import Tools

ServiceFor: TypeAlias = Callable[[Owner], Any]
"""Gives a service as one owner uses it, such as `PromptService.of`."""

ReportFailure: TypeAlias = Callable[[str, Exception], None]
"""Gets the name of a plugin and what it raised."""

State: TypeAlias = Literal["waiting", "active", "failed", "disposed"]


class MissingServiceError(ProtocolError, AttributeError):
    """A plugin asks for a service that it does not inject, or that is gone."""


class Plugin(Protocol):
    """What can be installed. `inject`, a list of names of services, may be missing."""

    @property
    def name(self) -> str:
        """What errors call it."""
        ...

    def apply(self, ctx: PluginContext, /) -> object:
        """Register things through the context. What it raises undoes what it has registered so far."""
        ...


class PluginHost:
    """Services by name, and the plugins that use them. A context manager: leaving the block disposes of all.

    `report_failure` gets the name of a plugin and what it raised when it was started or stopped because a service came or
    went (default: the logger `dsh_protocol.plugins`).
    """

    __slots__ = ("_installed", "_report_failure", "_services", "events", "owner")

    def __init__(
        self, events: Events | None = None, report_failure: ReportFailure | None = None
    ) -> None:
        self._report_failure = _log_failure if report_failure is None else report_failure
        self.events = Events() if events is None else events
        self.owner = Owner("host")
        self._services: dict[str, tuple[ServiceFor, str]] = {}
        self._installed: list[Installed] = []

    def provide(self, name: str, service_for: ServiceFor, owner: Owner | None = None) -> Disposer:
        """Offer a service, and start the plugins that waited for it. The disposer stops them again.

        What such a plugin raises is reported, and the others get their turn.

        Raises:
            RegistrationError: `plugins/duplicate-service`, or `INACTIVE_EFFECT`.
        """
        owner = self.owner if owner is None else owner
        owner.require_active()
        if name in self._services:
            raise RegistrationError(
                "plugins/duplicate-service",
                f"the service {name!r} is there already",
                fix="Choose another name, or dispose of the first one.",
                first=self._services[name][1],
            )
        entry = (service_for, calling_place(owner))
        self._services[name] = entry
        dispose = owner.effect(lambda: self._withdraw(name))
        self._update(list(self._installed))
        return dispose

    def install(self, plugin: Plugin, owner: Owner | None = None) -> Installed:
        """Add a plugin, and start it if all that it needs is there. The same plugin can be installed again.

        Raises:
            RegistrationError: `INACTIVE_EFFECT`, or `plugins/not-a-plugin`.
            Exception: what the plugin raised when it started; it is not installed then.
        """
        installed = Installed(self, plugin, self.owner if owner is None else owner)
        try:
            installed._update()
        except BaseException:
            installed.dispose()
            raise
        return installed

    def dispose(self) -> None:
        """Dispose of all plugins and services, the latest first."""
        self.owner.dispose()

    def __enter__(self) -> PluginHost:
        return self

    def __exit__(self, *_: object) -> None:
        self.dispose()

    def _withdraw(self, name: str) -> None:
        del self._services[name]
        self._update(self._installed[::-1])

    def _update(self, plugins: list[Installed]) -> None:
        for plugin in plugins:
            try:
                plugin._update()
            except Exception as error:
                self._report_failure(plugin.name, error)


class Installed:
    """One installation of a plugin: whether it runs, and the way to end that."""

    __slots__ = ("_failed", "_host", "_leave", "_owner", "_parent", "_plugin", "inject")

    def __init__(self, host: PluginHost, plugin: Plugin, parent: Owner) -> None:
        if not isinstance(getattr(plugin, "name", None), str) or not callable(
            getattr(plugin, "apply", None)
        ):
            raise RegistrationError(
                "plugins/not-a-plugin",
                f"{plugin!r} is no plugin",
                fix="Give an object or a module with a text `name` and a function `apply(ctx)`.",
            )
        self.inject: Sequence[str] = _injected(plugin)
        self._host = host
        self._plugin = plugin
        self._parent = parent
        self._owner: Owner | None = None
        self._failed = False
        self._leave: Disposer = parent.effect(self._end)
        host._installed.append(self)

    @property
    def name(self) -> str:
        """The name of the plugin."""
        return self._plugin.name

    @property
    def missing(self) -> list[str]:
        """The services that it waits for."""
        return [name for name in self.inject if name not in self._host._services]

    @property
    def state(self) -> State:
        """Whether it waits for a service, runs, did not start although it could, or has been disposed of."""
        if self not in self._host._installed:
            return "disposed"
        if self._owner is not None:
            return "active"
        return "failed" if self._failed else "waiting"

    def dispose(self) -> None:
        """Undo all that the plugin has registered, and forget it. A second call does nothing."""
        self._leave()

    def _update(self) -> None:
        """Start or stop it, as its services are there or not."""
        if self.missing:
            self._failed = False
            self._stop()
        elif self.state == "waiting":
            self._start()

    def _start(self) -> None:
        self._owner = owner = self._parent.child(self.name)
        try:
            result = self._plugin.apply(PluginContext(self._host, owner, self.inject))
            _refuse_coroutine(result, self.name)
        except BaseException as error:
            error.add_note(f"raised when plugin {self.name!r} was started")
            self._failed = True
            self._stop()
            raise

    def _stop(self) -> None:
        owner, self._owner = self._owner, None
        if owner is not None:
            owner.dispose()

    def _end(self) -> None:
        self._host._installed.remove(self)
        self._stop()


class PluginContext:
    """What a plugin sees: the services that it injects, as attributes, and ways to register things of its own.

    Everything that is done through it belongs to `owner` and goes with it.
    """

    if TYPE_CHECKING:
        system_prompt: Contributor
        tools: Tools

    def __init__(self, host: PluginHost, owner: Owner, inject: Sequence[str]) -> None:
        self._host = host
        self._inject = inject
        self.owner = owner

    def __getattr__(self, name: str) -> Any:
        """The service of this name, for this plugin.

        Raises:
            MissingServiceError: `plugins/not-injected`, or `INACTIVE_EFFECT` where the plugin does not run any more.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._inject:
            services = self._host._services
            raise MissingServiceError(
                "plugins/not-injected",
                f"{self.owner} uses the service {name!r} without injecting it",
                fix=f'Add "{name}" to `inject` of the plugin.'
                if name in services
                else f"There is no such service so far, but these: {', '.join(services) or 'none'}.",
            )
        if name not in self._host._services or not self.owner.active:
            raise MissingServiceError(
                INACTIVE,
                f"{self.owner} has stopped and has no service {name!r} any more",
                fix="Keep no context of a plugin that has stopped; `apply` is called again when it starts.",
            )
        service_for, _ = self._host._services[name]
        return service_for(self.owner)

    def scoped(self, key: object) -> PluginContext:
        """This context for one scope: what is registered through it is seen in that scope and below it.

        Raises:
            RegistrationError: `INACTIVE_EFFECT`; `plugins/no-scope`, the key is None, which would mean everybody.
        """
        if key is None:
            raise RegistrationError(
                "plugins/no-scope",
                f"{self.owner} asks for the scope of nothing",
                fix="Give the key of the scope, such as the agent; use the context itself for everybody.",
            )
        return PluginContext(self._host, self.owner.child(self.owner.name, scope=key), self._inject)

    def on(
        self,
        event: str,
        listener: Callable[..., Any],
        *,
        prepend: bool = False,
        is_global: bool = False,
    ) -> Disposer:
        """Listen to an event, as `Events.on` does."""
        return self._host.events.on(
            event, listener, self.owner, prepend=prepend, is_global=is_global
        )

    def effect(self, undo: Callable[[], None]) -> Disposer:
        """Have `undo` called when the plugin stops, or by the disposer."""
        return self.owner.effect(undo)

    def provide(self, name: str, service_for: ServiceFor) -> Disposer:
        """Offer a service to other plugins, as `PluginHost.provide` does."""
        return self._host.provide(name, service_for, self.owner)

    def install(self, plugin: Plugin) -> Installed:
        """Install a plugin that stops with this one at the latest."""
        return self._host.install(plugin, self.owner)


def _injected(plugin: Plugin) -> tuple[str, ...]:
    names: object = getattr(plugin, "inject", ())
    if isinstance(names, str) or not isinstance(names, Collection):
        raise RegistrationError(
            "plugins/not-a-plugin",
            f"`inject` of plugin {plugin.name!r} is no list of names",
            fix='Give a list, such as ["system_prompt"].',
        )
    return tuple(names)


def _refuse_coroutine(result: object, name: str) -> None:
    if not inspect.isawaitable(result):
        return
    if inspect.iscoroutine(result):
        result.close()
    raise RegistrationError(
        "plugins/async-apply",
        f"apply of plugin {name!r} is asynchronous",
        fix="Make it a plain function; start asynchronous work from a listener.",
    )


def _log_failure(name: str, error: Exception) -> None:
    logging.getLogger(__name__).error("plugin %r failed", name, exc_info=error)
