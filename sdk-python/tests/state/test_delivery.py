"""Delivery markers of the session itself and of the one it was forked from."""

from __future__ import annotations

from typing import Any

import synthetic

from dsh_protocol.findings import Finding
from dsh_protocol.rows import open_log
from dsh_protocol.state import LogState

Row = dict[str, Any]


def marker(seq: int, session: str, version: int = 4) -> Row:
    data = {"sessionId": session, "sessionFormatVersion": version, "throughSeq": 0}
    return synthetic.event(seq, "session-log-deepseek/delivery-accepted", data)


def cut(seq: int) -> Row:
    return synthetic.event(seq, "session/end-seed", {"inherited": True})


def findings_of(rows: list[Row], **header: Any) -> list[Finding]:
    first = synthetic.event(0, "turn/start", {"turn": 1})
    log = open_log(synthetic.log_bytes([first, *rows], **header))
    state = LogState(log.dialect, log.header)
    return state.extend(log.events) + state.finish()


def found(rows: list[Row], **header: Any) -> list[tuple[str, int | None, str]]:
    return [(f.rule, f.seq, f.path) for f in findings_of(rows, **header)]


FORKED = {"isSeeded": True, "parentSession": "parent"}
PLACE = "/data/sessionId"


def test_an_inherited_marker_names_the_parent() -> None:
    assert found([marker(1, "parent"), cut(2), marker(3, "s-1")], **FORKED) == []


def test_an_own_marker_names_the_session() -> None:
    rows = [marker(1, "parent"), cut(2), marker(3, "parent")]
    assert found(rows, **FORKED) == [("delivery/session", 3, PLACE)]


def test_only_the_last_cut_decides_what_is_inherited() -> None:
    assert found([cut(1), marker(2, "parent"), cut(3)], **FORKED) == []


def test_without_a_parent_every_marker_names_the_session() -> None:
    assert found([marker(1, "parent")]) == [("delivery/session", 1, PLACE)]
    assert found([marker(1, "parent"), cut(2)], isSeeded=True) == [("delivery/session", 1, PLACE)]


def test_markers_of_another_format_are_not_looked_at() -> None:
    assert found([marker(1, "", version=3)]) == []


def test_a_session_that_inherits_nothing_has_no_foreign_marker() -> None:
    rows = [marker(1, "parent")]
    assert found(rows, parentSession="parent") == [("delivery/session", 1, PLACE)]
