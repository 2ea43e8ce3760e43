"""Sessions to write to: a clock that counts, ids that count, and one valid turn."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from dsh_protocol.session import Session, SessionOptions

Json = dict[str, Any]

CONFIG = {"provider": "p", "model": "m"}
CALL = {"type": "tool-call", "id": "c1", "name": "shell", "arguments": "{}"}


def options(**changes: Any) -> SessionOptions:
    """Time counts up from 1000, and ids are id-0, id-1 and so on."""
    times, ids = count(1000), count()
    return SessionOptions(
        **{"clock": lambda: next(times), "new_id": lambda: f"id-{next(ids)}", **changes}
    )


def new_session(version: int = 4, *, id: str = "s-1", cwd: str = "/w", **changes: Any) -> Session:
    """A session without events."""
    return Session.create(version, id=id, cwd=cwd, options=options(**changes))


def begin(session: Session) -> None:
    """Open turn 1 and step 1, and put the prompt, an input and a request there: seqs 0 to 4."""
    session.append("turn/start", {"turn": 1})
    session.append("step/start", {"turn": 1, "step": 1})
    session.append_message(session.make.system_message("Be brief."))
    session.append_message(session.make.user_message("Hi."))
    session.append("request/header", {"header": {"config": CONFIG}, "reason": "initial"})


def call_tool(session: Session) -> None:
    """Have the model call a tool, and start it: seqs 5 and 6 behind `begin`."""
    session.append_message(session.make.assistant_message([CALL], **CONFIG))
    call = {"callId": CALL["id"], "name": CALL["name"], "arguments": CALL["arguments"]}
    session.append("tool/call", {"turn": 1, "step": 1, **call})


def end(session: Session) -> None:
    """End the step and the turn."""
    session.append("step/end", {"turn": 1, "step": 1})
    session.append("turn/end", {"turn": 1, "reason": {"kind": "completed"}})


def one_turn(version: int = 4, **changes: Any) -> Session:
    """A session with one turn in which a tool is used: 10 events, whose surface is 2, 3, 5, 7."""
    session = new_session(version, **changes)
    begin(session)
    call_tool(session)
    session.append_message(session.make.tool_result("c1", "done"))
    end(session)
    return session


def stored(session: Session) -> bytes:
    """The session as the bytes of a plain log."""
    rows = [session.header.raw, *(event.row_bytes() for event in session.events)]
    return b"".join(row + b"\n" for row in rows)


def state_of(session: Session) -> Json:
    """Everything that a reader of the session sees, to compare."""
    return {
        "rows": stored(session),
        "surface": session.surface.to_json(),
        "messages": list(session.messages()),
        "header": session.request_header,
        "context": session.context,
        "history": session.tool_history,
        "next": session.next_seq,
        "own": len(session.own_events()),
        "open": (session.open_turn, session.open_step, session.pending_calls),
    }


def unchanged_by(session: Session, act: Callable[[], object]) -> bool:
    """Whether the session looks the same after something was done."""
    before = state_of(session)
    act()
    return state_of(session) == before
