"""The budgets of the design: what each figure may be, and what it should be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """The most that a figure may be, and the aim beyond that; `unit` is what it counts."""

    what: str
    limit: float
    aim: float
    unit: str

    def line(self, figure: float | None, why: str = "") -> str:
        """The figure, and whether it is within the budget; null when it could not be taken, for which `why` has the reason."""
        if figure is None:
            return f"  {self.what:52} {why}"
        verdict = "aim met" if figure <= self.aim else "met" if figure <= self.limit else "NOT MET"
        bounds = f"budget {self.limit:g}, aim {self.aim:g}"
        return f"  {self.what:52} {figure:8.2f} {self.unit:18} {bounds:24} {verdict}"


_OFFICIAL = "x official open"
OPEN_ALL = Budget("open, fold, all messages", 0.40, 0.25, _OFFICIAL)
OPEN_LAST = Budget("open, fold, the last request", 0.20, 0.10, _OFFICIAL)
CHECK = Budget("full check", 0.60, 0.35, _OFFICIAL)
APPEND = Budget("append + next request, 100,000 to 10,000 nodes", 1.3, 1.05, "x")
REPLACE = Budget("replacement + next request, 100,000 to 10,000 nodes", 2, 1.1, "x")
TAIL = Budget("1,000 replacements near the end of 100,000 nodes", 1.0, 0.3, "x official fold")
MEMORY = Budget("memory of an opened log", 5.7, 3.5, "x file")
PROCESS = Budget("check of a small log, whole process", 300, 150, "ms CPU")
