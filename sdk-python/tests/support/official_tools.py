"""The official library, asked about tools: schemas, values, and calls inside listeners. Needs a release installed; see
`scripts/conformance --install`."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self

from dsh_protocol.jsonvalue import loads

ROOT = Path(__file__).parents[3]
RELEASE = "0.2.1rc2"
MISSING = f"the official runtime {RELEASE} is not installed (scripts/conformance --install)"


def runtime() -> Path:
    """Where the runtime is, or would be."""
    named = os.environ.get("DSH_OFFICIAL")
    return Path(named) if named else ROOT / f".venv-official-{RELEASE}" / "bin" / "dsh"


class Official:
    """The runtime as a process that answers questions, one after the other."""

    def __init__(self) -> None:
        self._box = tempfile.TemporaryDirectory()
        box = Path(self._box.name)
        plugin = Path(__file__).with_name("official_tools.mjs")
        patch = box / "patch.yml"
        patch.write_text(f"- insert: [{{ id: official-tools, name: {json.dumps(str(plugin))} }}]\n")
        self._process = subprocess.Popen(
            [runtime(), "--profile", "sdk-minimal", "--patch", patch],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=box,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(box),
                "TMPDIR": str(box),
                "DSH_HOME": str(box / "dsh"),
                "DEEPSEEK_API_KEY": "unused",
            },
        )
        assert self._line() == "ready"

    def ask(self, ask: str, **question: Any) -> Any:
        """The answer to one question: `{"answer"}`, or `{"code", "violations", "message"}` of an error."""
        assert self._process.stdin is not None
        text = json.dumps({"ask": ask, **question}).replace("Infinity", "1e999")
        self._process.stdin.write(text.encode() + b"\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the official runtime has ended"
        return loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=20)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._box.cleanup()
