"""`scripts/check_schemas` notices an example that is not what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dsh_protocol_data
from _check_schemas.__main__ import EXAMPLES, check_coverage, check_example, check_schema
from _check_schemas.places import BundleValidator

V4 = BundleValidator(dsh_protocol_data.load("schemas/session-v4"))
FOLDER = EXAMPLES / "session" / "v4" / "turn.start"
VALID = {
    "about": "The first turn.",
    "valid": True,
    "value": {"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": 1}},
}
INVALID = {
    "about": "Turns count from 1.",
    "valid": False,
    "value": {"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": 0}},
    "refusal": {"keyword": "minimum", "path": "/data/turn"},
}
TWO_DEFECTS = {"type": "turn/start", "seq": -1, "time": 1, "data": {"turn": 0}}


def problems(example: Any) -> list[str]:
    return list(check_example(FOLDER / "toy.json", example, V4))


@pytest.mark.parametrize("example", [VALID, INVALID], ids=["valid", "invalid"])
def test_what_is_right_passes(example: dict[str, Any]) -> None:
    assert problems(example) == []


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({**VALID, "value": INVALID["value"]}, "refused: minimum at '/data/turn'"),
        ({**INVALID, "value": VALID["value"]}, "found nothing"),
        ({**INVALID, "refusal": {"keyword": "type", "path": "/data/turn"}}, "found minimum at"),
        ({**INVALID, "refusal": {"keyword": "minimum", "path": "/data"}}, "found minimum at"),
        ({**INVALID, "value": TWO_DEFECTS}, "minimum at '/seq'"),
        ({**INVALID, "valid": True}, "is not valid under any of the given schemas"),
        ({**VALID, "definition": "session/v4/Nothing"}, "no definition Nothing"),
        ({**VALID, "note": 1}, "'note' was unexpected"),
        ({"valid": True, "value": {}}, "'about' is a required property"),
    ],
)
def test_what_is_wrong_is_named(wrong: dict[str, Any], said: str) -> None:
    found = problems(wrong)
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize("missing", ["minimal", "maximal", "turn-zero"])
def test_each_event_type_has_its_three_examples(missing: str) -> None:
    names = {"minimal", "maximal", "turn-zero"} - {missing}
    found = [text for text in check_coverage([FOLDER / f"{n}.json" for n in names]) if "v4" in text]
    assert any("v4/turn.start" in text for text in found)
    assert any("v4/turn.end" in text for text in found)


def test_a_file_that_is_no_schema_is_named() -> None:
    assert list(check_schema(EXAMPLES.parent / "README.md"))
    assert not list(check_schema(EXAMPLES.parent / "session" / "v4" / "turns.json"))


def test_nothing_to_check_is_an_error(checkout: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "_check_schemas"],
        cwd=checkout,
        env={"PYTHONPATH": str(checkout / "scripts")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "0 valid and 0 invalid examples" in done.stdout
