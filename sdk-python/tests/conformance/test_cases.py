"""Every conformance case, answered by this package."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ops import run
from suites import cases


def _rendered(value: Any) -> str:
    return json.dumps(value, sort_keys=True, indent=1)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_case(case: dict[str, Any]) -> None:
    expected = dict(case["expect"])
    if isinstance(expected.get("refused"), list):
        expected["refused"] = sorted(expected["refused"], key=json.dumps)
    for version in case["formats"]:
        answer = run(case, version)
        if "refused" in expected and "warned" not in expected:
            answer.pop("warned", None)
        assert _rendered(answer) == _rendered(expected), case["title"]
