"""Logs written here are opened and continued by the official runtime, and what it then sends follows from the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from boxes import NEXT, Box, require_sound
from official_runtime import OfficialRuntime, RuntimeFailed, executable
from recorded import session_log_text, without_extensions
from scripted_model import Asked, ScriptedModel, says
from written_logs import PLUGIN, SHAPES, Author, Shape, plain

from dsh_protocol.check import check_file
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.rebuild import session_log_member
from dsh_protocol.requests import ModelRequest, iter_requests
from dsh_protocol.rows import Event, Log, open_log
from dsh_protocol.session import Session
from dsh_protocol.store import StoreError

pytestmark = pytest.mark.official

_DEPTH = ',"delegationDepth":0'


@pytest.fixture
def box(tmp_path: Path) -> Box:
    executable()
    return Box(tmp_path)


def next_request(log: Log) -> tuple[Log, ModelRequest]:
    """The request that a log which ends here leads to: that of an answer which would come next."""
    data = {"turn": 0, "step": 0, "stream": []}
    answer = {"type": "assistant/attempt", "seq": len(log.events), "time": 0, "data": data}
    rows = [log.header.raw, *encoded(log.events), json.dumps(answer).encode()]
    grown = open_log(b"".join(row + b"\n" for row in rows))
    return grown, list(iter_requests(grown))[-1]


def own_requests(log: Log) -> list[ModelRequest]:
    """The requests of the session itself."""
    return [request for request in iter_requests(log) if not request.inherited]


def encoded(events: list[Event]) -> list[bytes]:
    return [event.row_bytes() for event in events]


@pytest.mark.parametrize("name", SHAPES)
def test_the_official_runtime_goes_on(box: Box, name: str) -> None:
    shape = SHAPES[name]
    session = box.write(shape)
    before = open_log(box.path)
    assert check_file(box.path).verdicts["resumable"]

    asked = box.run(shape)
    bodies = [without_extensions(request.body) for request in asked]
    for text in shape.has:
        assert text in bodies[0]
    for text in shape.lacks:
        assert text not in bodies[0]
    assert NEXT in bodies[-1]

    # The log as it stood at each request, and the log as it stands now.
    assert [box.body(*next_request(log)) for log in box.stood] == bodies
    after = open_log(box.path)
    requests = own_requests(after)[len(own_requests(before)) :]
    assert [box.body(after, request) for request in requests] == bodies

    require_continued(session, after)
    require_log_sent(after, requests, asked, unmarked=ends_with_marker(session))
    require_sound(box.path)


def ends_with_marker(session: Session) -> bool:
    return session.next_seq > 0 and session.events[-1].type == "session/end-seed"


def require_continued(session: Session, after: Log) -> None:
    """What was written is there byte for byte, and the runtime added what a resume here adds."""
    resumed = Session.resume(open_log(stored(session)))
    written = encoded(list(session.events))
    closers = encoded(list(resumed.events[session.next_seq : resumed.next_seq]))
    found = encoded(after.events[: resumed.next_seq])
    if not ends_with_marker(session):
        # The marker has the time of the resume.
        assert after.events[len(found) - 1].type == "session/end-seed"
        assert after.events[len(found) - 1].data == {}
        del closers[-1], found[-1]
    assert found == written + closers


def stored(session: Session) -> bytes:
    return b"".join(row + b"\n" for row in [session.header.raw, *encoded(list(session.events))])


def require_log_sent(
    after: Log, requests: list[ModelRequest], asked: list[Asked], *, unmarked: bool
) -> None:
    """The log that was sent along follows from the log, too.

    One thing does not: whether a log that ended with a marker was reopened, because then no other one is written.
    """
    members = [dumps(session_log_member(after, request)) for request in requests]
    sent = [session_log_text(request.body) or "null" for request in asked]
    if unmarked:
        assert _DEPTH in sent[0]
        sent = [text.replace(_DEPTH, "", 1) for text in sent]
    assert members == sent


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_both_go_on_with_what_the_other_has_written(box: Box, compression: str) -> None:
    """Written here, continued there, continued here, and continued there again."""
    shape = Shape(plain, compression=compression)  # type: ignore[arg-type]
    box.write(shape)
    box.run(shape)
    with box.store(shape).open_writer("s-1") as writer:
        session = Session.resume(writer.read())
        author = Author(box.home, box.folder / "workspace", shape.model, session)
        author.exchange("Asked here.", "Answered here.")
        writer.append(session.events[session.first_new_seq :])
    require_sound(box.path)
    (last,) = box.run(shape)
    for text in ("Again, in 中文 😀.", "Continued.", "Asked here.", "Answered here."):
        assert text in without_extensions(last.body)
    assert box.body(*next_request(box.stood[-1])) == without_extensions(last.body)
    after = open_log(box.path)
    assert box.body(after, own_requests(after)[-1]) == without_extensions(last.body)
    require_sound(box.path)


def test_the_lock_of_the_official_runtime_is_respected(box: Box) -> None:
    """While the runtime has a session open, nobody writes to it here; and the other way round."""
    shape = Shape(plain)
    box.write(shape)
    with (
        ScriptedModel([says("Hello.")]) as model,
        OfficialRuntime(box.folder, model.url, patches=(PLUGIN / "patch.yml",)) as runtime,
    ):
        runtime.initialize(shape.model)
        with (
            box.store(shape).open_writer("s-1"),
            pytest.raises(RuntimeFailed, match="already owned"),
        ):
            runtime.resume("s-1")
        runtime.resume("s-1")
        with pytest.raises(StoreError, match="another writer holds"):
            box.store(shape).open_writer("s-1")
        runtime.shutdown()
    box.store(shape).open_writer("s-1").close()
