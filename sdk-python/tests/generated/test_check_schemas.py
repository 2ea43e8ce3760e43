"""`scripts/check_schemas` notices an example that is not what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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


def check(checkout: Path, **examples: Any) -> subprocess.CompletedProcess[str]:
    folder = checkout / "spec" / "examples" / "session" / "v4" / "turn.start"
    folder.mkdir(parents=True)
    for name, example in examples.items():
        (folder / f"{name}.json").write_text(json.dumps(example), encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "_check_schemas"],
        cwd=checkout,
        env={"PYTHONPATH": str(checkout / "scripts")},
        capture_output=True,
        text=True,
    )


def test_what_is_right_passes_and_is_counted(checkout: Path) -> None:
    done = check(checkout, valid=VALID, invalid=INVALID)
    assert done.returncode == 0, done.stderr
    assert "1 valid and 1 invalid examples" in done.stdout


@pytest.mark.parametrize("only", [VALID, INVALID, None], ids=["valid", "invalid", "none"])
def test_nothing_to_check_is_an_error(checkout: Path, only: dict[str, Any] | None) -> None:
    assert check(checkout, **({"only": only} if only else {})).returncode == 1


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({**VALID, "value": INVALID["value"]}, "refused: minimum at '/data/turn'"),
        ({**INVALID, "value": VALID["value"]}, "found nothing"),
        ({**INVALID, "refusal": {"keyword": "type", "path": "/data/turn"}}, "found minimum at"),
        ({**INVALID, "refusal": {"keyword": "minimum", "path": "/data"}}, "found minimum at"),
        ({**INVALID, "valid": True}, "a refusal exactly when it is invalid"),
        ({**VALID, "note": 1}, "no other members"),
        ({"value": {}}, "an example has about, valid and value"),
        (
            {**INVALID, "value": {"type": "turn/start", "seq": -1, "time": 1, "data": {"turn": 0}}},
            "minimum at '/seq'",
        ),
    ],
)
def test_a_wrong_example_is_named(checkout: Path, wrong: dict[str, Any], said: str) -> None:
    done = check(checkout, valid=VALID, invalid=INVALID, wrong=wrong)
    assert done.returncode == 1
    assert "turn.start/wrong.json: " in done.stderr
    assert said in done.stderr


def test_a_file_that_is_no_schema_is_named(checkout: Path) -> None:
    path = checkout / "spec" / "session" / "common" / "turns.json"
    path.write_text(
        path.read_text(encoding="utf-8").replace('"object"', '"obj"', 1), encoding="utf-8"
    )
    done = check(checkout, valid=VALID, invalid=INVALID)
    assert done.returncode == 1
    assert "spec/session/common/turns.json: 'obj' is not valid" in done.stderr
