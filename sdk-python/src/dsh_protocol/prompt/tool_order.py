"""The tools of an assembly: what of a schema is kept, and in which order the tools are sent."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from dsh_protocol.findings import PromptError

from ._texts import TEXTS, listed, prompt_error, quoted
from ._utf16 import sort_key

UNLISTED_TOOLS: Final = TEXTS["unlisted-tools"]
"""The entry of a tool order that stands for all tools that it does not list."""

_ALLOWED = ("name", "description", "parameters")

Tool = dict[str, Any]


def visible_to_model(schema: Mapping[str, Any]) -> Tool:
    """What the model is told of a tool: `name`, `description`, `parameters` and a true `deferLoading`, in this order.

    `parameters` is copied and otherwise left as it is.

    Raises:
        PromptError: `tools/parameters-lossless`, the parameters hold something that is no JSON.
    """
    tool = {key: schema[key] for key in _ALLOWED if key in schema}
    if "parameters" in tool:
        try:
            tool["parameters"] = _copied(tool["parameters"])
        except (TypeError, RecursionError):
            shown = quoted(tool.get("name"))
            raise prompt_error(
                "tools/parameters-lossless", path="/parameters", name=shown
            ) from None
    if schema.get("deferLoading") is True:
        tool["deferLoading"] = True
    return tool


def _copied(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_copied(entry) for entry in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _copied(entry) for key, entry in value.items()}
    raise TypeError(type(value).__name__)


def check_tool_order(order: Sequence[str]) -> None:
    """Do nothing when this can be an order of tools.

    Raises:
        PromptError: `prompt/tool-order-repeated` or `prompt/tool-order-rest`.
    """
    for index, name in enumerate(order):
        if name in order[:index]:
            raise prompt_error(
                "prompt/tool-order-repeated", path=f"/toolOrder/{index}", name=quoted(name)
            )
    if UNLISTED_TOOLS not in order:
        raise prompt_error("prompt/tool-order-rest", path="/toolOrder", name=quoted(UNLISTED_TOOLS))


def ordered(
    tools: Sequence[Tool], order: Sequence[str] | None, known: Collection[str]
) -> list[Tool]:
    """The tools in the order in which they are sent; tools of one name stay in the order in which they were collected.

    Without an order all tools are sorted by the code units of their names. With one, each listed name stands for the tools of
    that name (there may be none: a hidden tool is known all the same), and the rest entry for all others, sorted.

    Raises:
        PromptError: `prompt/tool-name-reserved`, or `prompt/tool-order-unknown` for names that no provider knows.
    """
    if any(_name(tool) == UNLISTED_TOOLS for tool in tools):
        raise prompt_error("prompt/tool-name-reserved", name=quoted(UNLISTED_TOOLS))
    by_name = sorted(tools, key=lambda tool: sort_key(_name(tool)))
    if order is None:
        return by_name
    unknown = [name for name in order if name != UNLISTED_TOOLS and name not in known]
    if unknown:
        raise _unknown(unknown, known)
    result: list[Tool] = []
    for name in order:
        if name == UNLISTED_TOOLS:
            result += [tool for tool in by_name if _name(tool) not in order]
        else:
            result += [tool for tool in tools if _name(tool) == name]
    return result


def _name(tool: Tool) -> str:
    return str(tool.get("name", "undefined"))


def _unknown(unknown: Sequence[str], known: Collection[str]) -> PromptError:
    noun = "tool" if len(unknown) == 1 else "tools"
    names = f"{noun} {', '.join(map(quoted, unknown))}"
    return prompt_error(
        "prompt/tool-order-unknown",
        path="/toolOrder",
        names=names,
        known=listed(sorted(known, key=sort_key)),
    )
