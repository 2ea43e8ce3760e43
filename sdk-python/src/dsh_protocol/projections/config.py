"""The call configuration of a request before anybody changes it, and after its adapter has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from .header import SeriesMemory

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """What an agent was told to use; an empty provider or model has to come from elsewhere before the request."""

    provider: str = ""
    model: str = ""
    reasoning_effort: str | None = None
    max_tokens: int | None = None


def seed_config(options: CallOptions, header: Json | None, memory: SeriesMemory) -> Json:
    """The configuration that a request starts from; `header` is the canonical header in force.

    Rules `loop/config-first` and `loop/config-later`.
    The first request of a loop takes the options. A reasoning effort that they leave open is the one in force when that was
    chosen for the same provider and model, and not by an adapter. Later requests repeat the configuration in force, without
    what an adapter filled in.
    """
    if memory.header_logged and header is not None:
        defaults = header.get("adapterDefaults", {})
        return {key: value for key, value in header["config"].items() if not defaults.get(key)}
    config: Json = {"provider": options.provider, "model": options.model}
    effort = options.reasoning_effort
    if effort is None:
        effort = _effort_in_force(options, header)
    if effort is not None:
        config["reasoningEffort"] = effort
    if options.max_tokens is not None:
        config["maxTokens"] = options.max_tokens
    return config


def with_defaults(
    config: Json, *, max_tokens: int | None = None, reasoning_effort: str | None = None
) -> tuple[Json, dict[str, bool]]:
    """The configuration with an adapter's defaults behind what it has, and the flags that say which were filled in.

    A default that the adapter does not have is null. Rule `loop/config-defaults`.
    """
    filled, defaults = dict(config), {}
    if reasoning_effort is not None and "reasoningEffort" not in config:
        defaults["reasoningEffort"] = True
    if max_tokens is not None and "maxTokens" not in config:
        filled["maxTokens"] = max_tokens
        defaults["maxTokens"] = True
    if "reasoningEffort" in defaults:
        filled["reasoningEffort"] = reasoning_effort
    return filled, defaults


def _effort_in_force(options: CallOptions, header: Json | None) -> Any:
    if header is None or header.get("adapterDefaults", {}).get("reasoningEffort") is True:
        return None
    config = header["config"]
    is_same = (config.get("provider"), config.get("model")) == (options.provider, options.model)
    return config.get("reasoningEffort") if is_same else None
