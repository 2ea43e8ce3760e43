"""A conformance case, as an example of a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """A conformance case. `value` is the case as its suite has it; `conformance/README.md` describes the members."""

    value: dict[str, Any]

    @property
    def id(self) -> str:
        """The id of the case, which never changes."""
        return str(self.value["id"])

    @property
    def title(self) -> str:
        """What the input is."""
        return str(self.value["title"])

    @property
    def places(self) -> tuple[tuple[str, int | None, str], ...]:
        """The rule, the event and the JSON Pointer of everything that the case breaks, in all of its steps."""
        expect = self.value["expect"]
        answers = [expect, *expect.get("steps", ())]
        told = [answer.get(name, []) for answer in answers for name in ("refused", "warned")]
        found = [place for one in told for place in (one if isinstance(one, list) else [one])]
        return tuple(
            (place["rule"], place.get("seq"), place["path"]) for place in found if "rule" in place
        )

    @property
    def rows(self) -> tuple[Any, ...]:
        """The header and the events of a log in the form of values or lines, `()` for any other input."""
        given = self.value["input"]
        if "events" in given:
            return (given["header"], *given["events"])
        return tuple(given.get("lines", ()))

    @property
    def tail(self) -> str:
        """What stands behind the last line feed of a log in the form of lines."""
        return str(self.value["input"].get("tail", ""))
