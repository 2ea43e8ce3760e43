"""Many sessions on one event loop, each streaming from an endpoint on the loopback interface and storing its log.

Every log is read back and compared with what the endpoint sent and with the frames that its reader saw.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import anyio

from dsh_protocol import check_file, open_log, tool
from dsh_protocol.llm import Endpoint
from dsh_protocol.loop import (
    Agent,
    AgentOptions,
    AgentParts,
    Committed,
    Frame,
    StoreJournal,
    StreamChunk,
    StreamEnd,
    StreamStart,
)
from dsh_protocol.projections import CallOptions
from dsh_protocol.prompt import PromptConfig, PromptService
from dsh_protocol.rows import Event
from dsh_protocol.session import Session
from dsh_protocol.store import Store
from dsh_protocol.streams import expand
from dsh_protocol.tools import ToolRegistry

from .cases import peak
from .endpoint import DELTAS, TOOL, call_id, calls_tool, words
from .storage import NoSync

Json: TypeAlias = dict[str, Any]

TURNS = 2
_PROVIDER = "deepseek-official"
_STEP = ("assistant/message", "step/end")
_CALL = ("assistant/message", "tool/call", "tool/result", "step/end")


@dataclass(frozen=True, slots=True)
class Load:
    """What a run took: seconds, and bytes of memory at most, beyond what the process had before."""

    sessions: int
    events: int
    frames: int
    at_once: int
    """The most answers that were on their way at a time."""
    log_bytes: int
    seconds: float
    cpu_seconds: float
    memory: int
    peak: int

    def lines(self) -> Iterator[str]:
        """The figures in words."""
        each = self.memory / self.sessions
        rate, shown = self.events / self.seconds, self.frames / self.seconds
        yield (
            f"{self.sessions} sessions of {TURNS} turns, {self.at_once} answers at a time: {self.seconds:.1f} s "
            f"({self.cpu_seconds:.1f} s of CPU)"
        )
        yield f"{self.events} events ({rate:.0f}/s) and {self.frames} frames ({shown:.0f}/s), none lost or out of order"
        yield (
            f"peak RSS {self.peak / 1e6:.0f} MB, {each / 1e3:.0f} kB more per session, "
            f"whose log has {self.log_bytes / self.sessions / 1e3:.0f} kB"
        )


class Joined:
    """The chunks of an answer, adjacent deltas of one block as one, as a reader that falls behind gets them."""

    def __init__(self, chunks: Iterable[Json] = ()) -> None:
        self.chunks: list[Json] = []
        self.index = -1
        for chunk in chunks:
            self.add(chunk, self.index + 1)

    def add(self, chunk: Json, index: int) -> None:
        """Add a chunk with the number that it has."""
        assert index > self.index, f"chunk {index} came behind {self.index}"
        self.index = index
        last = self.chunks[-1] if self.chunks else {}
        if "text" in chunk and (last.get("type"), last.get("index")) == (
            chunk["type"],
            chunk["index"],
        ):
            chunk = {**last, "text": last["text"] + chunk["text"]}
            self.chunks.pop()
        self.chunks.append(chunk)


@dataclass(slots=True)
class Seen:
    """What the reader of one session saw."""

    session: Session
    path: Path
    events: list[Event] = field(default_factory=list)
    answers: list[Joined] = field(default_factory=list)
    ends: list[StreamEnd] = field(default_factory=list)
    frames: int = 0


class Gauge:
    """How many answers are on their way, and the most that there were."""

    def __init__(self) -> None:
        self.now = self.most = 0

    def add(self, number: int) -> None:
        """Count answers that begin (1) or end (-1)."""
        self.now += number
        self.most = max(self.most, self.now)


def run(root: Path, sessions: int, *, backend: str = "asyncio") -> Load:
    """Run so many sessions at a time, and compare all that came of them.

    Raises:
        AssertionError: something was lost, or is out of order.
    """
    _run(root / "first", 1, backend)
    before, started, cpu = peak(), time.monotonic(), time.process_time()
    seen, gauge = _run(root / "all", sessions, backend)
    seconds, cpu, most = time.monotonic() - started, time.process_time() - cpu, peak()
    for each in seen:
        _compare(each)
    assert gauge.most == sessions, f"only {gauge.most} answers were on their way at a time"
    return Load(
        sessions=sessions,
        events=sum(len(each.events) for each in seen),
        frames=sum(each.frames for each in seen),
        at_once=gauge.most,
        log_bytes=sum(each.path.stat().st_size for each in seen),
        seconds=seconds,
        cpu_seconds=cpu,
        memory=most - before,
        peak=most,
    )


def _run(root: Path, sessions: int, backend: str) -> tuple[list[Seen], Gauge]:
    gauge = Gauge()
    with _served(sessions) as port:
        seen = anyio.run(_converse_all, root, sessions, port, gauge, backend=backend)
    return seen, gauge


@contextmanager
def _served(sessions: int) -> Iterator[int]:
    command = [sys.executable, str(Path(__file__).with_name("endpoint.py")), str(sessions)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


# ---- The sessions ----------------------------------------------------------------------------------


@tool(name=TOOL, concurrency_safe=True)
async def _look() -> str:
    """Look."""
    await anyio.sleep(0)
    return "seen"


async def _converse_all(root: Path, sessions: int, port: int, gauge: Gauge) -> list[Seen]:
    store = Store(root, "none", files=NoSync())
    seen: list[Seen] = []
    model = Endpoint(api_key="none", base_url=f"http://127.0.0.1:{port}")
    async with model, anyio.create_task_group() as group:
        for number in range(sessions):
            group.start_soon(_converse, store, f"s-{number}", model, gauge, seen)
    return seen


async def _converse(
    store: Store, name: str, model: Endpoint, gauge: Gauge, seen: list[Seen]
) -> None:
    session = Session.create(id=name)
    with store.create(session.header) as writer:
        mine = Seen(session, writer.path)
        seen.append(mine)
        options = AgentOptions(call=CallOptions(provider=_PROVIDER, model="deepseek-flash"))
        async with Agent(session, _parts(session, model, writer), options) as agent:
            for turn in range(TURNS):
                async for frame in agent.stream(f"prompt {turn}"):
                    _take(mine, frame, gauge)


def _parts(session: Session, model: Endpoint, writer: Any) -> AgentParts:
    prompt = PromptService(config=PromptConfig(include_harness_identity=False))
    tools = ToolRegistry(prompt.events)
    tools.register(_look)
    prompt.tools(tools.provider)
    return AgentParts(
        model=model, prompt=prompt, tools=tools, journal=StoreJournal(session, writer)
    )


def _take(mine: Seen, frame: Frame, gauge: Gauge) -> None:
    mine.frames += 1
    if isinstance(frame, Committed):
        mine.events.append(frame.event)
    elif isinstance(frame, StreamStart):
        mine.answers.append(Joined())
        gauge.add(1)
    elif isinstance(frame, StreamChunk):
        mine.answers[-1].add(frame.chunk, frame.index)
    elif isinstance(frame, StreamEnd):
        mine.ends.append(frame)
        gauge.add(-1)


# ---- What came of them -----------------------------------------------------------------------------


def _compare(seen: Seen) -> None:
    """Compare the stored log with the endpoint, and the frames with the stored log."""
    name = seen.session.header.id
    report = check_file(seen.path)
    assert not report.findings, report.findings[:3]
    stored = open_log(seen.path).events
    assert [event.seq for event in stored] == list(range(len(stored)))
    rows = [event.row_bytes() for event in stored]
    assert [event.row_bytes() for event in seen.events] == rows, f"{name}: frames and log differ"
    answers = [event for event in stored if event.type == "assistant/message"]
    assert len(answers) == len(seen.ends) == 2 * TURNS, f"{name}: {len(answers)} answers"
    for number, event in enumerate(answers):
        assert _texts(event.data) == _sent(name, number), f"{name}: answer {number} differs"
        _compare_frames(seen, number + 1, event)
    types = [event.type for event in stored]
    for event in answers:
        follow = _CALL if calls_tool(answers.index(event)) else _STEP
        assert tuple(types[event.seq : event.seq + len(follow)]) == follow, f"{name}: {types}"


def _texts(data: Mapping[str, Any]) -> list[str]:
    """The text of each block of an answer, the id for a call."""
    return [block.get("text", block.get("id")) for block in data["message"]["content"]]


def _sent(session: str, number: int) -> list[str]:
    sent = ["".join(words(session, number, kind)) for kind in ("thinking", "text")]
    return [*sent, call_id(session, number)] if calls_tool(number) else sent


def _compare_frames(seen: Seen, revision: int, event: Event) -> None:
    """The chunks that a reader saw are those of the stored stream, deltas of one block taken together."""
    frames, end = seen.answers[revision - 1], seen.ends[revision - 1]
    stored = [chunk for _, chunk in expand(event.data["stream"])]
    assert len(stored) > 2 * DELTAS
    assert (end.revision, end.index, end.seq) == (revision, len(stored), event.seq)
    assert frames.index == len(stored) - 1
    assert frames.chunks == Joined(stored).chunks


if __name__ == "__main__":
    for line in run(Path(sys.argv[1]), int(sys.argv[2])).lines():
        print(f"  {line}")
