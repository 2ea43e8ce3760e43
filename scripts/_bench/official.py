"""The same work in the official library, measured inside the official runtime."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

RELEASE = "0.2.1rc2"
_ROOT = Path(__file__).resolve().parents[2]
_RUNTIME = _ROOT / f".venv-official-{RELEASE}" / "bin" / "dsh"
_PATCH = Path(__file__).parent / "plugin" / "patch.yml"
ABSENT = f"skipped: the official runtime {RELEASE} is not installed (scripts/conformance --install)"


def is_present() -> bool:
    """Whether the runtime is installed."""
    return _runtime().exists()


def open_log(log: Path) -> float:
    """CPU seconds of opening a log in full: read, parse, restore with all checks, session, all messages."""
    return _measure({"BENCH_LOG": str(log)})


def tail_replacements() -> float:
    """CPU seconds of folding 100,000 appends and 1,000 replacements near the end."""
    return _measure({})


def _runtime() -> Path:
    return Path(os.environ.get("DSH_OFFICIAL", _RUNTIME))


def _measure(wanted: dict[str, str]) -> float:
    with tempfile.TemporaryDirectory() as box:
        places = {"HOME": box, "TMPDIR": box, "DSH_HOME": f"{box}/dsh"}
        environment = {"PATH": os.environ["PATH"], "DEEPSEEK_API_KEY": "unused", **places, **wanted}
        command = [str(_runtime()), "--profile", "sdk-minimal", "--patch", str(_PATCH)]
        done = subprocess.run(
            command,
            cwd=box,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    last = done.stdout.strip().rpartition("\n")[2]
    if not last.startswith("{"):
        raise RuntimeError(f"the official runtime measured nothing: {done.stderr[-500:]}")
    return float(json.loads(last)["seconds"])
