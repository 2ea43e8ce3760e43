"""The demonstration: rebuild every request of the shipped recordings from the log alone, and prove it byte for byte.

`dsh-protocol requests PATH --index K` prints the same bytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from dsh_protocol.rebuild import request_body
from dsh_protocol.requests import iter_requests
from dsh_protocol.rows import open_log
from dsh_protocol.wire import DirectoryAttachments

RECORDINGS = Path("conformance/recordings")
SHOWN = RECORDINGS / "v4/in-history"
EXTENSIONS = ("dsh_session_log", "dsh_plugin_packages")


@dataclass(frozen=True)
class Scenario:
    """One recorded run: its folder, the log of its one session, the bodies that the runtime sent for it."""

    folder: Path
    log: Path
    bodies: list[str]


def main() -> int:
    """Run the demonstration; the exit code is 1 when any request differs."""
    _show("What is in a log: check it", "check", str(SHOWN))
    _show("What the model was asked, request by request", "requests", str(SHOWN))
    _title("Each request rebuilt from the log alone, compared with the bytes that were sent")
    rebuilt = equal = 0
    for scenario in _scenarios():
        bodies = _rebuilt(scenario)
        same = sum(ours == sent for ours, sent in zip(bodies, scenario.bodies, strict=True))
        rebuilt += len(bodies)
        equal += same
        print(f"  {scenario.folder!s:55} {same:3} of {len(bodies)} equal", flush=True)
    print(f"\n{rebuilt} requests rebuilt from their logs, {equal} equal byte for byte.")
    return 0 if rebuilt and rebuilt == equal else 1


def _scenarios() -> list[Scenario]:
    """Every shipped recording with one session."""
    found = []
    for wire in sorted(RECORDINGS.glob("v*/*/wire.jsonl")):
        rows = [json.loads(line) for line in wire.read_bytes().split(b"\n") if line]
        bodies = [_without_extensions(row["body"]) for row in rows if row["purpose"] == "loop"]
        (log,) = wire.parent.glob("sessions/*/*/session*.jsonl*")
        found.append(Scenario(wire.parent, log, bodies))
    return found


def _rebuilt(scenario: Scenario) -> list[str]:
    """The bodies of all own requests of a log, from the log alone (and its attachment store)."""
    store, declared = scenario.folder / "attachments", scenario.folder / "route.json"
    attachments = DirectoryAttachments(store) if store.is_dir() else None
    route = json.loads(declared.read_bytes()) if declared.is_file() else None
    log = open_log(scenario.log)
    own = (request for request in iter_requests(log) if request.index is not None)
    return [request_body(log, request, route=route, attachments=attachments) for request in own]


def _without_extensions(body: str) -> str:
    """The recorded text without the members that are no model input, cut out of the text as it stands."""
    decoder = json.JSONDecoder()
    kept: list[str] = []
    at = 1
    while body[at] != "}":
        start = at
        key, at = decoder.raw_decode(body, at)
        _, at = decoder.raw_decode(body, at + 1)
        if key not in EXTENSIONS:
            kept.append(body[start:at])
        at += body[at] == ","
    return "{" + ",".join(kept) + "}"


def _show(title: str, *arguments: str) -> None:
    _title(title)
    print(f"$ dsh-protocol {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "dsh_protocol", *arguments], check=True)


def _title(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
