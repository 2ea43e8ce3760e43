"""The conformance suites, as they lie in the repository."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ROOT = Path(__file__).parents[3] / "conformance"


@cache
def suites() -> dict[str, Json]:
    """Every suite file by its name."""
    paths = sorted((ROOT / "suites").glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


@cache
def cases() -> list[Json]:
    """The cases of all suites."""
    return [case for suite in suites().values() for case in suite["cases"]]


def refusals(case: Json) -> list[Json]:
    """What a case expects to be refused: a rule, a seq and a path for each defect; empty if it accepts."""
    refused = case["expect"].get("refused", [])
    return refused if isinstance(refused, list) else [refused]


def breaks(case: Json, rule_id: str) -> bool:
    """Whether the case expects this rule to be broken, as an error or as a warning."""
    warned = case["expect"].get("warned")
    found = [*refusals(case), *([] if warned is None else [warned])]
    return any(finding["rule"] == rule_id for finding in found)
