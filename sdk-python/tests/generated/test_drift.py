"""`scripts/generate --check` notices every way in which `generated/` is not what `spec/` gives."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MODELS = "generated/python/dsh_protocol_models/session/v4/turns.py"
TYPES = "generated/typescript/session-v4.ts"


def check(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the check in a copy. Without a PATH there is no Node.js."""
    return subprocess.run(
        [sys.executable, "-m", "_generate", "--check"],
        cwd=checkout,
        env={"PATH": "", "PYTHONPATH": str(checkout / "scripts"), **environment},
        capture_output=True,
        text=True,
    )


def test_the_committed_files_are_current_even_without_node(checkout: Path) -> None:
    done = check(checkout)
    assert done.returncode == 0, done.stderr
    assert "TypeScript skipped: Node.js (node and npm) is not on PATH" in done.stdout


@pytest.mark.parametrize("required", [{"REQUIRE_TYPESCRIPT": "1"}, {"CI": "true"}])
def test_a_missing_node_is_an_error_where_it_is_required(
    checkout: Path, required: dict[str, str]
) -> None:
    done = check(checkout, **required)
    assert done.returncode == 1
    assert "TypeScript is required here" in done.stderr


def edit_by_hand(checkout: Path) -> None:
    with (checkout / MODELS).open("a", encoding="utf-8") as file:
        file.write("# patched\n")


def add_a_file(checkout: Path) -> None:
    (checkout / "generated" / "python" / "dsh_protocol_models" / "extra.py").touch()


def remove_a_file(checkout: Path) -> None:
    (checkout / "generated" / "python" / "dsh_protocol_data" / "rules.json").unlink()


def change_a_schema(checkout: Path) -> None:
    path = checkout / "spec" / "session" / "common" / "turns.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("Closed.", "Now so. Closed.", 1), encoding="utf-8")


def change_a_rule(checkout: Path) -> None:
    path = checkout / "spec" / "rules" / "session.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("remedy: ", "remedy: First of all. ", 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (edit_by_hand, f"{MODELS}: "),
        (add_a_file, "dsh_protocol_models/extra.py: nothing generates this file"),
        (remove_a_file, "dsh_protocol_data/rules.json: missing"),
        (change_a_schema, "session/common/turns.py: line "),
        (change_a_rule, "dsh_protocol_data/rules.json: line "),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_drift_is_an_error_that_names_the_file(
    checkout: Path, spoil: Callable[[Path], None], said: str
) -> None:
    spoil(checkout)
    done = check(checkout)
    assert done.returncode == 1
    assert said in done.stderr


@pytest.mark.usefixtures("node")
def test_drift_in_the_types_is_an_error(checkout: Path) -> None:
    path = checkout / TYPES
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    done = check(checkout, PATH=os.environ["PATH"])
    assert done.returncode == 1
    assert f"{TYPES}: " in done.stderr
