"""The constants of `spec/prompt/texts.yaml`, and how an error quotes a text."""

from __future__ import annotations

from typing import Any

import dsh_protocol_data
from dsh_protocol.findings import PromptError
from dsh_protocol.rules import code_of, exact

TEXTS: dict[str, str] = dsh_protocol_data.load("prompt_texts")


def quoted(text: object) -> str:
    """A text in double quotes, as the official errors have it: nothing in it is escaped."""
    return f'"{text}"'


def listed(names: Any) -> str:
    """Names as the official errors list them."""
    return ", ".join(names) or "(none)"


def prompt_error(rule_id: str, *, path: str = "", **params: str) -> PromptError:
    """The error that says an assembly or its rendering breaks a rule, with the exact text of the rule."""
    message, fix = exact(rule_id, **params)
    return PromptError(code_of(rule_id), message, fix=fix, path=path)
