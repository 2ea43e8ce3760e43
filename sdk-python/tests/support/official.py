"""The official library, asked through `conformance/adapters/official-runtime`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[3]
ADAPTERS = ROOT / "conformance" / "adapters"
_TIMEOUT = 120


def installed() -> Path | None:
    """The command of the official runtime, null where `scripts/official_runtime` did not run."""
    folder = Path(os.environ.get("DSH_PROTOCOL_OFFICIAL", ROOT / ".venv-official"))
    command = folder / "bin" / "dsh"
    return command if command.is_file() else None


def ask(command: Path, home: Path, requests: Iterable[Json]) -> tuple[Json, list[Json]]:
    """The adapter's hello and its answers in order; `home` is an empty folder that it may write to."""
    lines = [json.dumps(request) + "\n" for request in requests]
    patch = ADAPTERS / "official-runtime" / "patch.yml"
    done = subprocess.run(
        [command, "--profile", "sdk-minimal", "--patch", patch],
        input="".join(lines).encode(),
        env={
            "PATH": os.defpath,
            "HOME": str(home),
            "DSH_HOME": str(home),
            "DEEPSEEK_API_KEY": "unused",
        },
        cwd=home,
        capture_output=True,
        timeout=_TIMEOUT,
        check=False,
    )
    # Not splitlines: a value may hold other line separators.
    hello, *answers = [json.loads(line) for line in done.stdout.split(b"\n") if line]
    assert len(answers) == len(lines), done.stderr.decode(errors="replace")[-2000:]
    return hello, answers
