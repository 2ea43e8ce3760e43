"""The settings of the prompt service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from dsh_protocol.findings import RegistrationError
from dsh_protocol.rules import code_of, refuse

_FLAGS = {
    "include_harness_identity": "includeHarnessIdentity",
    "include_runtime_context": "includeRuntimeContext",
}
_PERSONAS = {"persona_prefix": "personaPrefix", "persona_suffix": "personaSuffix"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptConfig:
    """What a prompt service registers by itself, and how it orders tools.

    `include_harness_identity`: the section `harness:identity`. `include_runtime_context`: off, runtime context is suppressed
    everywhere. `persona_prefix`, `persona_suffix`: the texts of the two sections `deployment:persona-…`. `tool_order`: names of
    tools with the entry `<unlisted-tools>` for the others; None (not the empty list) sorts all tools by name.

    Raises:
        RegistrationError: `prompt/config`, a setting has another type; its wire name is the `path`.
    """

    include_harness_identity: bool = True
    include_runtime_context: bool = True
    persona_prefix: str = ""
    persona_suffix: str = ""
    tool_order: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for name, wire in _FLAGS.items():
            _require(isinstance(getattr(self, name), bool), f"/{wire}")
        for name, wire in _PERSONAS.items():
            _require(isinstance(getattr(self, name), str), f"/{wire}")
        if self.tool_order is not None:
            _require(isinstance(self.tool_order, list | tuple), "/toolOrder")
            object.__setattr__(self, "tool_order", tuple(self.tool_order))
            for index, name in enumerate(self.tool_order):
                _require(isinstance(name, str), f"/toolOrder/{index}")

    @classmethod
    def from_json(cls, settings: Mapping[str, Any]) -> Self:
        """The settings by their wire names; unknown ones are ignored, and null is the default (but not for toolOrder).

        Raises:
            RegistrationError: `prompt/config`, as for the class.
        """
        wires = _FLAGS | _PERSONAS
        given = {
            name: settings[wire] for name, wire in wires.items() if settings.get(wire) is not None
        }
        if "toolOrder" in settings:
            order = settings["toolOrder"]
            _require(isinstance(order, list | tuple), "/toolOrder")
            given["tool_order"] = tuple(order)
        return cls(**given)


def _require(holds: bool, path: str) -> None:
    if not holds:
        finding = refuse("prompt/config", path=path, name=path[1:])
        raise RegistrationError(
            code_of("prompt/config"), finding.message, fix=finding.fix, path=path
        )
