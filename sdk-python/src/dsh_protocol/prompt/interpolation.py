"""References to variables in prompt texts: `{{name}}`. There is no way to escape one, but a text may be kept as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from dsh_protocol.findings import PromptError

from ._texts import listed, prompt_error, quoted
from ._utf16 import head

Kind = Literal["section", "context"]

VARIABLE_NAME = re.compile(r"[a-z][a-z0-9_]*")
_GROUP = re.compile(r"\{\{([^{}]*)\}\}")
_SLICE_UNITS = 16


def interpolate(text: str, variables: Mapping[str, str | None], *, kind: Kind, name: str) -> str:
    """The text with every reference replaced by the value of its variable; values are not scanned again.

    `kind` and `name` say in errors what the text belongs to. A double opening brace is literal text only where no double
    closing brace follows it anywhere.

    Raises:
        PromptError: `prompt/reference-malformed`, `prompt/reference-name`, `prompt/reference-unknown` or
            `prompt/reference-no-value`.
    """
    place = {"kind": kind, "input": quoted(name)}
    parts: list[str] = []
    last = 0
    while (start := text.find("{{", last)) >= 0:
        group = _GROUP.match(text, start)
        if group is not None:
            parts += text[last:start], _value(group[1], variables, place)
            last = group.end()
        elif text.find("}}", start + 2) >= 0:
            raise _malformed(text[start:], place)
        else:
            # Nothing can close it: the rest is literal.
            break
    parts.append(text[last:])
    return "".join(parts)


def _value(name: str, variables: Mapping[str, str | None], place: dict[str, str]) -> str:
    shown = quoted(f"{{{{{name}}}}}")
    if VARIABLE_NAME.fullmatch(name) is None:
        raise prompt_error("prompt/reference-name", name=shown, **place)
    if name not in variables:
        raise prompt_error("prompt/reference-unknown", name=shown, known=listed(variables), **place)
    value = variables[name]
    if value is None:
        raise prompt_error("prompt/reference-no-value", name=shown, **place)
    if not isinstance(value, str):
        raise PromptError(
            "prompt/variable-value",
            f"prompt variable {shown} is no string ({place['kind']} {place['input']})",
            fix="Return a string from its provider, or None for no value; a provider is no coroutine.",
        )
    return value


def _malformed(rest: str, place: dict[str, str]) -> PromptError:
    shown = quoted(f"{head(rest, _SLICE_UNITS)}…")
    return prompt_error("prompt/reference-malformed", slice=shown, **place)
