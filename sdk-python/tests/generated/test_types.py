"""What a type checker says of code that uses the generated types."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = """\
from dsh_protocol_models.session.{version}.events import KnownSessionEvent
from dsh_protocol_models.session.{version}.requests import EpochHeader


def turn_of(event: KnownSessionEvent) -> int:
    return event.data.turn if event.type == "turn/start" else 0


def prompt_of(header: EpochHeader) -> str:
    model: str = header.config.model
    return model + str(header.system)
"""
PYTHON_ERROR_LINE = 11

TYPESCRIPT = """\
import type { EpochHeader, KnownSessionEvent } from "./session-%s.js";

export function turnOf(event: KnownSessionEvent): number {
  return event.type === "turn/start" ? event.data.turn : 0;
}

export function promptOf(header: EpochHeader): string {
  const model: string = header.config.model;
  return model + String(header.system);
}
"""
TYPESCRIPT_ERROR = "(9,32): error TS2339: Property 'system' does not exist on type 'EpochHeader'."


def test_mypy_refuses_the_system_member_of_a_header(tmp_path: Path, root: Path) -> None:
    versions = ("v3", "v4")
    for version in versions:
        (tmp_path / f"{version}.py").write_text(PYTHON.format(version=version), encoding="utf-8")
    command = [
        *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"),
        f"--cache-dir={root / '.mypy_cache' / 'snippets'}",
        *(f"{version}.py" for version in versions),
    ]
    environment = {**os.environ, "MYPYPATH": str(root / "generated" / "python")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert sorted(done.stdout.splitlines()) == [
        f'{version}.py:{PYTHON_ERROR_LINE}: error: "EpochHeader" has no attribute "system"'
        "  [attr-defined]"
        for version in versions
    ]
    assert done.returncode == 1


@pytest.mark.usefixtures("node")
def test_tsc_refuses_the_system_member_of_a_header(tmp_path: Path, root: Path) -> None:
    versions = ("v3", "v4")
    for version in versions:
        types = root / "generated" / "typescript" / f"session-{version}.ts"
        (tmp_path / types.name).write_bytes(types.read_bytes())
        (tmp_path / f"{version}.ts").write_text(TYPESCRIPT % version, encoding="utf-8")
    compiler = root / "scripts" / "typescript" / "node_modules" / ".bin" / "tsc"
    options = ["--strict", "--noEmit", "--pretty", "false", "--target", "es2022"]
    modules = ["--module", "nodenext", "--types", ""]
    files = [f"{version}.ts" for version in versions]
    command = [str(compiler), *options, *modules, *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == [f"{version}.ts{TYPESCRIPT_ERROR}" for version in versions]
    assert done.returncode != 0
