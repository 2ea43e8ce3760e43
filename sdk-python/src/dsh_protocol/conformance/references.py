"""Parts of a case that stand in another file of the corpus: `{"$file": path, ...}`.

An adapter never sees a reference; the harness fills it in before it asks.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any

from .errors import CorpusError

Json = dict[str, Any]

MARK = "$file"


class References:
    """Fills in references to files below one folder."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._read = cache(self._path_bytes)

    def resolve(self, value: Any) -> Any:
        """The value with every reference in it filled in.

        Raises:
            CorpusError: `corpus/reference`: a file, a line or a member is not there.
        """
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        if not isinstance(value, dict):
            return value
        if MARK in value:
            return self._fill(value)
        return {name: self.resolve(item) for name, item in value.items()}

    def _fill(self, reference: Json) -> Any:
        try:
            data = self._read(reference[MARK])
            if reference.get("as") == "base64":
                return base64.b64encode(data).decode("ascii")
            return _part(data.decode("utf-8"), reference)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise CorpusError("corpus/reference", f"{json.dumps(reference)}: {error}") from None

    def _path_bytes(self, name: str) -> bytes:
        path = (self._root / name).resolve()
        if not path.is_relative_to(self._root):
            raise CorpusError("corpus/reference", f"{name} is outside the corpus")
        return path.read_bytes()


def _part(text: str, reference: Json) -> Any:
    is_json = reference.get("as") == "json"
    if "lines" in reference:
        lines = text.split("\n")[slice(*reference["lines"])]
        return [json.loads(line) for line in lines] if is_json else lines
    if reference.get("as") == "lines":
        return text.split("\n")[:-1]
    if "line" in reference:
        text = text.split("\n")[reference["line"]]
    if "member" in reference:
        text = json.loads(text)[reference["member"]]
    if "without" in reference:
        text = without_members(text, reference["without"])
    return json.loads(text) if is_json else text


def without_members(text: str, names: list[str]) -> str:
    """The compact text of a JSON object without some members, the others as they stand."""
    decoder = json.JSONDecoder()
    kept: list[str] = []
    at = 1
    while text[at] != "}":
        start = at
        key, at = decoder.raw_decode(text, at)
        _, at = decoder.raw_decode(text, at + 1)
        if key not in names:
            kept.append(text[start:at])
        at += text[at] == ","
    return "{" + ",".join(kept) + "}"
