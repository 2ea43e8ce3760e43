"""The one exception of the generator."""

from __future__ import annotations

from collections.abc import Sequence


class GenerateError(Exception):
    """The sources or the tools do not allow a result; `problems` has one line for each reason."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems: Sequence[str] = problems
