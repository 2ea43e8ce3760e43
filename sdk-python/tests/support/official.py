"""The official runtime as an oracle for tests: its conformance adapter, where the release is installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dsh_protocol.conformance.process import Adapter

ROOT = Path(__file__).parents[3]
RUN = ROOT / "conformance" / "adapters" / "official-runtime" / "run"
DSH = ROOT / ".venv-official-0.2.1rc2" / "bin" / "dsh"
_LIMIT = 60.0


class Official:
    """Answers of the official library, one op at a time."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self._number = 0

    def answer(self, op: str, given: dict[str, Any]) -> dict[str, Any]:
        """The answer to an op of format 4: a dict with `ok`, `refused` or, for ops with steps, `steps`."""
        self._number += 1
        message = {"cmd": "run", "number": self._number, "op": op, "format": 4, "input": given}
        reply = self._adapter.ask(message, limit=_LIMIT)
        assert reply["number"] == self._number
        assert "error" not in reply, reply
        return reply


@contextmanager
def official_runtime() -> Iterator[Official]:
    """The official runtime, running; skips the test where it is not installed."""
    if not DSH.exists():
        pytest.skip("official release 0.2.1rc2 is not installed (scripts/conformance --install)")
    adapter = Adapter([str(RUN)])
    try:
        adapter.ask({"cmd": "start", "protocol": 1}, limit=_LIMIT)
        yield Official(adapter)
    finally:
        adapter.kill()
