"""Recorded requests, and a fold of the log that is independent of the package's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dsh_protocol import jsonvalue

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "conformance" / "recordings"
SHARED = Path(os.environ.get("DSH_PROTOCOL_SHARED", ROOT.parent / "shared")) / "recordings"
# These hold prompts and tool descriptions written by others, and are not shipped.
NOT_SHIPPED = ("v3/image", "v4/image", "v4/subagent")

LOG_MARK = ',"dsh_session_log":'
PACKAGES_MARK = ',"dsh_plugin_packages":'


@dataclass(frozen=True)
class Log:
    """A stored log: header and logical events."""

    header: Json
    events: list[Json]

    @property
    def inherited(self) -> int:
        """How many events come from the parent."""
        marks = [
            e["seq"]
            for e in self.events
            if e["type"] == "session/end-seed" and e["data"].get("inherited")
        ]
        return marks[-1] if self.header["isSeeded"] else 0

    def settlements(self) -> list[int]:
        """The own settlements, oldest first."""
        kinds = ("assistant/message", "assistant/attempt")
        return [e["seq"] for e in self.events[self.inherited :] if e["type"] in kinds]


@dataclass
class RecordedRequest:
    """One request of the loop: what was sent, and the log it came from."""

    scenario: str
    index: int
    text: str
    log: Log
    settlement: int
    attachments: Path
    _folded: Json = field(default_factory=dict)

    @property
    def version(self) -> int:
        """The session format."""
        return int(self.log.header["version"])

    @property
    def prefix(self) -> list[Json]:
        """The events before the settlement."""
        return self.log.events[: self.settlement]

    @property
    def body(self) -> str:
        """The recorded text without the extension members, which stand at its end."""
        ends = [i for i in map(self.text.find, (LOG_MARK, PACKAGES_MARK)) if i >= 0]
        return self.text[: min(ends)] + "}" if ends else self.text

    @property
    def session_log(self) -> str | None:
        """The recorded text of the member `dsh_session_log`."""
        start = self.text.find(LOG_MARK)
        if start < 0:
            return None
        return self.text[start + len(LOG_MARK) : self.text.rfind(PACKAGES_MARK)]

    @property
    def context(self) -> Json | None:
        """The latest request/context before the settlement."""
        found = [e["data"] for e in self.prefix if e["type"] == "request/context"]
        return found[-1] if found else None

    def options(self) -> Json:
        """The request's options, folded from the log."""
        header = [e for e in self.prefix if e["type"] == "request/header"][-1]["data"]["header"]
        options = {**header["config"], "messages": surface_messages(self.prefix)}
        if header.get("tools"):
            options["tools"] = header["tools"]
        if self.version == 4:
            options["toolHistory"] = tool_history(self.prefix)
        return {**options, "sessionId": self.log.header["id"]}

    def route(self) -> Json:
        """What an operator has to say besides the log: where the model was told the images are."""
        return {"attachmentRoot": f"/srv/demo/{self.scenario.split('/')[1]}/home/attachments"}


def surface_messages(events: Sequence[Json]) -> list[Json]:
    """The messages of the surface after these events: a plain list, searched from the front."""
    nodes: list[Json] = []
    for event in events:
        operation = event.get("surfaceOp")
        if operation == "append":
            nodes.append(event)
        elif operation is not None:
            seqs = [node["seq"] for node in nodes]
            start, end = seqs.index(operation["startSeq"]), seqs.index(operation["endSeq"])
            nodes[start : end + 1] = [event]
    return [message for message in map(_message, nodes) if message is not None]


def _message(event: Json) -> Json | None:
    data: Json = event["data"]
    if event["type"] == "user/message":
        return data
    message: Json = data["message"]
    return message if message["content"] or event["type"] == "tool/result" else None


def tool_history(events: Sequence[Json]) -> Json:
    """The tools at the start of the series, and the changes since."""
    headers: dict[int, list[Json]] = {}
    base: list[Json] = []
    updates: list[Json] = []
    known: dict[str, Json] = {}
    available: set[str] = set()
    for event in events:
        data = event["data"]
        if event["type"] == "request/header":
            tools = data["header"].get("tools", [])
            restarts = not headers or data["reason"] == "series" or data.get("startsSeries")
            redefined = any(known.get(tool["name"], tool) != tool for tool in tools)
            headers[event["seq"]] = tools
            if restarts or redefined:
                base, updates = tools, []
                known = {tool["name"]: tool for tool in tools}
                available = set(known)
        elif event["type"] == "developer/message":
            blocks = data["message"]["content"]
            names = [b["toolName"] for b in blocks if b["type"] == "tool-addition"]
            gone = {b["toolName"] for b in blocks if b["type"] == "tool-removal"}
            tools = headers[data["headerSeq"]] if names else []
            additions = [tool for name in names for tool in tools if tool["name"] == name]
            known |= {tool["name"]: tool for tool in additions}
            available = (available | set(names)) - gone
            updates.append({"messageId": data["message"]["id"], "additions": additions})
    active = list(headers.values())[-1] if headers else []
    if {tool["name"] for tool in active} != available:
        return {"tools": active, "updates": []}
    return {"tools": base, "updates": updates}


@cache
def read_log(path: Path) -> Log:
    """A stored log, plain or compressed."""
    data = path.read_bytes()
    if path.suffix == ".zstd":
        data = zstd.decompress(data)
    header, *events = (jsonvalue.loads(line) for line in data.splitlines())
    assert isinstance(header, dict)
    return Log(header, [_logical(event) for event in events])


def _logical(event: Any) -> Json:
    seqs = event.get("sourceEventSeqs")
    if seqs is not None:
        flat = [[s] if isinstance(s, int) else range(s[0], s[1] + 1) for s in seqs]
        event["sourceEventSeqs"] = [seq for part in flat for seq in part]
    return dict(event)


def recorded_requests(folder: Path, scenario: str) -> Iterator[RecordedRequest]:
    """Every loop request of one scenario, in the order it was sent."""
    logs = {
        path.parent.name: read_log(path)
        for path in sorted((folder / scenario).glob("sessions/*/*/session.*"))
    }
    counts: dict[str, int] = {}
    lines = (folder / scenario / "wire.jsonl").read_text(encoding="utf-8").split("\n")
    for row in map(jsonvalue.loads, filter(None, lines)):
        assert isinstance(row, dict)
        if row["purpose"] != "loop":
            continue
        session = str(row["session"])
        index = counts.setdefault(session, 0)
        counts[session] += 1
        log = logs[session]
        yield RecordedRequest(
            scenario,
            index,
            str(row["body"]),
            log,
            log.settlements()[index],
            folder / scenario / "attachments",
        )


def shipped_scenarios() -> list[str]:
    """The scenarios that are part of this repository."""
    return sorted(f"{p.parent.name}/{p.name}" for p in SHIPPED.glob("v[34]/*") if p.is_dir())


def all_requests() -> list[Any]:
    """Every request there is here; a scenario that is not gives one skipped parameter."""
    found: list[Any] = []
    for folder, scenarios in ((SHIPPED, shipped_scenarios()), (SHARED, list(NOT_SHIPPED))):
        for scenario in scenarios:
            if not (folder / scenario).is_dir():
                reason = f"the recording {scenario} is not shipped"
                found.append(pytest.param(None, marks=pytest.mark.skip(reason), id=scenario))
                continue
            for request in recorded_requests(folder, scenario):
                session = request.log.header["id"][:8]
                found.append(pytest.param(request, id=f"{scenario}-{session}-{request.index}"))
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each recorded request."""
    if "recorded" in metafunc.fixturenames:
        metafunc.parametrize("recorded", all_requests())
