"""The recordings of the official runtime: which logs there are, and the exact bodies that were sent for them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "conformance" / "recordings"
SHARED = Path(os.environ.get("DSH_PROTOCOL_SHARED", ROOT.parent / "shared")) / "recordings"
"""Where all recordings lie, the few included that may not be shipped; absent on most machines."""
_SESSION_LOG = ',"dsh_session_log":'
_PACKAGES = ',"dsh_plugin_packages":'


@dataclass(frozen=True)
class Recorded:
    """One log of a scenario with the `loop` bodies that were sent for it, in order."""

    name: str
    log: Path
    attachments: Path
    bodies: tuple[str, ...]

    @property
    def route(self) -> dict[str, Any]:
        """What that run knew of its route and no log says: where the model was told the images are."""
        return {"attachmentRoot": f"/srv/demo/{self.name.split('/')[1]}/home/attachments"}


def recorded(formats: tuple[str, ...] = ("v3", "v4")) -> list[Recorded]:
    """Every recorded log, from the shared folder where it is present, else the shipped ones."""
    root = SHARED if SHARED.is_dir() else SHIPPED
    return [entry for name in formats for entry in _scenarios(root, name)]


def _scenarios(root: Path, name: str) -> Iterator[Recorded]:
    for wire in sorted((root / name).glob("*/wire.jsonl")):
        rows = [json.loads(line) for line in wire.read_bytes().split(b"\n") if line]
        for log in sorted(wire.parent.glob("sessions/*/*/session*.jsonl*")):
            session = log.parent.name
            bodies = (r["body"] for r in rows if r["session"] == session and r["purpose"] == "loop")
            scenario = f"{name}/{wire.parent.name}"
            yield Recorded(scenario, log, wire.parent / "attachments", tuple(bodies))


def without_extensions(body: str) -> str:
    """The recorded text with its two extension members cut off the end."""
    for mark in (_SESSION_LOG, _PACKAGES):
        at = body.find(mark)
        if at >= 0:
            return body[:at] + "}"
    return body


def session_log_text(body: str) -> str | None:
    """The recorded text of the member `dsh_session_log`, null when it was not sent."""
    at = body.find(_SESSION_LOG)
    return None if at < 0 else body[at + len(_SESSION_LOG) : body.rfind(_PACKAGES)]
