"""The byte-exact texts of `spec/wire/texts.yaml`, and the failures that serializers raise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dsh_protocol_data
from dsh_protocol.findings import WireError


def text(text_id: str, **values: object) -> str:
    """The text with this id, its parameters filled in.

    Raises:
        KeyError: no text has this id, or it names a parameter that was not given.
    """
    template: str = _load()["model"][text_id]
    return template.format_map(values)


def failure(failure_id: str, *, path: str = "", **values: object) -> WireError:
    """The failure with this id, ready to be raised; `path` is a JSON Pointer into the options.

    Raises:
        KeyError: no failure has this id, or it names a parameter that was not given.
    """
    entry: Mapping[str, str] = _load()["failures"][failure_id]
    message = entry["message"].format_map(values)
    return WireError(entry["code"], message, fix=entry["remedy"], path=path)


def _load() -> Mapping[str, Any]:
    texts: Mapping[str, Any] = dsh_protocol_data.load("texts")
    return texts
