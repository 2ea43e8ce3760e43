"""Cause and consequence: one defect gives one finding, and what only follows from it says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import synthetic

from dsh_protocol.findings import Finding
from dsh_protocol.rows import open_log
from dsh_protocol.state import LogState

Row = dict[str, Any]
Lines = list[bytes]


def findings_of(lines: Lines, version: int = 4, **header: Any) -> list[Finding]:
    """Everything that the reader and the state find in a log with these rows."""
    log = open_log(b"".join([synthetic.line(synthetic.header(version, **header)), *lines]))
    state = LogState(log.dialect, log.header, rules="session")
    return [*log.findings, *state.extend(log.events), *state.finish()]


def lines_of(rows: list[Row]) -> Lines:
    return [synthetic.line(row) for row in rows]


def causes(findings: list[Finding]) -> list[tuple[str, int | None]]:
    return [(found.rule, found.line) for found in findings if found.because is None]


def consequences(findings: list[Finding]) -> list[tuple[str, int | None, int]]:
    return [(f.rule, f.seq, f.because) for f in findings if f.because is not None]


def long_log() -> list[Row]:
    """The valid session of one turn, and two user messages behind it: seqs 8 and 9."""
    rows = synthetic.events()
    return [*rows, *(message(seq) for seq in (8, 9))]


def message(seq: int) -> Row:
    return synthetic.event(
        seq,
        "user/message",
        synthetic.message("user", "More.", {"kind": "user"}, f"m-{seq}"),
        surfaceOp="append",
    )


DAMAGES: dict[str, tuple[str, int, Callable[[Lines, int], Lines]]] = {
    "a row is lost": ("envelope/seq-gap", 0, lambda r, i: [*r[:i], *r[i + 1 :]]),
    "three rows are lost": ("envelope/seq-gap", 0, lambda r, i: [*r[:i], *r[i + 3 :]]),
    "a row is no JSON": ("json/syntax", 0, lambda r, i: [*r[:i], b"garbage\n", *r[i + 1 :]]),
    "a row is no object": ("envelope/object", 0, lambda r, i: [*r[:i], b"5\n", *r[i + 1 :]]),
    "a blank line": ("storage/blank-row", 0, lambda r, i: [*r[:i], b"\n", *r[i:]]),
    "a row is there twice": ("envelope/seq-repeated", 1, lambda r, i: [*r[:i], r[i], *r[i:]]),
}


@pytest.mark.parametrize("place", range(1, 7))
@pytest.mark.parametrize(("rule", "offset", "damage"), DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_to_rows_is_one_finding(
    rule: str, offset: int, damage: Callable[[Lines, int], Lines], place: int
) -> None:
    lines = damage(lines_of(long_log()), place)
    assert causes(findings_of(lines)) == [(rule, place + offset + 2)]


@pytest.mark.parametrize("seq", [0, 2, 4, 6, 108, -1, "5", None, 5.5])
def test_one_wrong_number_is_one_finding(seq: object) -> None:
    rows = long_log()
    rows[5]["seq"] = seq
    found = findings_of(lines_of(rows))
    assert len(causes(found)) == 1
    assert found[0].line == 7


def test_a_second_writer_is_one_finding() -> None:
    rows = long_log()
    again = [message(seq) for seq in (5, 6, 7)]
    found = findings_of(lines_of([*rows, *again, message(10)]))
    assert causes(found) == [("envelope/seq-repeated", 12)]
    assert consequences(found) == [("envelope/seq-repeated", 6, 5), ("envelope/seq-repeated", 7, 5)]
    assert "first in line 7" in found[0].message


def test_rows_in_the_wrong_order_are_one_finding() -> None:
    rows = long_log()
    rows[5], rows[6] = rows[6], rows[5]
    found = findings_of(lines_of(rows))
    assert causes(found) == [("envelope/seq-gap", 7)]
    assert consequences(found) == [("envelope/seq-repeated", 5, 6)]


def test_what_rests_on_a_refused_event_names_it() -> None:
    rows = long_log()
    rows[8]["surfaceOp"] = {"op": "replace", "startSeq": 3, "endSeq": 3}
    del rows[9]
    rows += [synthetic.replacement(9, 8, 8, [8]), synthetic.replacement(10, 9, 9, [9])]
    found = findings_of(lines_of(rows))
    assert causes(found) == [("surface/range-covered", 10)]
    assert consequences(found) == [
        ("surface/range-on-surface", 9, 8),
        ("surface/range-on-surface", 10, 9),
    ]


def test_nodes_that_a_refused_replacement_left_standing_need_no_citation() -> None:
    rows = [*long_log(), synthetic.replacement(10, 8, 9, [8])]
    rows += [message(11), synthetic.replacement(12, 5, 11, [5, 10, 11])]
    found = findings_of(lines_of(rows))
    assert causes(found) == [("surface/range-covered", 12)]
    assert consequences(found) == [("surface/range-covered", 12, 10)]


def test_a_lost_head_is_missed_once() -> None:
    rows = synthetic.events()
    rows[2]["data"]["message"]["id"] = ""
    prompt = synthetic.message("system", "New.", synthetic.PROMPT_SOURCE[4], "m-9")
    data = {"turn": 1, "step": 1, "message": prompt}
    rows += [synthetic.event(seq, "system/message", data, surfaceOp="append") for seq in (8, 9)]
    found = findings_of(lines_of(rows))
    assert causes(found) == [("message/id", 4)]
    assert consequences(found) == [("surface/head-first", 8, 2), ("surface/head-first", 9, 2)]


def test_a_log_without_a_head_says_so_once() -> None:
    rows = [message(0)]
    prompt = synthetic.message("system", "New.", synthetic.PROMPT_SOURCE[4], "m-9")
    data = {"turn": 1, "step": 1, "message": prompt}
    rows += [synthetic.event(seq, "system/message", data, surfaceOp="append") for seq in (1, 2)]
    found = findings_of(lines_of(rows))
    assert causes(found) == [("surface/head-first", 3)]
    assert consequences(found) == [("surface/head-first", 2, 1)]


def test_a_lost_marker_is_missed_once() -> None:
    rows = synthetic.events()
    rows.append({**synthetic.event(8, "session/end-seed", {"inherited": True}), "x": 1})
    found = findings_of(lines_of(rows), isSeeded=True, parentSession="p")
    assert causes(found) == [("envelope/unknown-member", 10)]
    assert consequences(found) == [("seed/marker-missing", None, 8)]


def test_an_image_of_a_refused_message_is_missed_once() -> None:
    rows = [*long_log(), synthetic.event(10, "image/offload", offload(8))]
    del rows[8]["surfaceOp"]
    found = findings_of(lines_of(rows))
    assert causes(found) == [("surface/op-missing", 10)]
    assert consequences(found) == [("offload/target-on-surface", 10, 8)]


def offload(seq: int) -> Row:
    return {"targets": [{"seq": seq, "imageIndexes": [0]}]}


def test_tools_of_a_refused_header_are_missed_once() -> None:
    rows = synthetic.events()
    rows[4]["data"]["header"]["system"] = "x"
    added = {
        "id": "m-9",
        "role": "developer",
        "source": {"kind": "tool-registry"},
        "content": [{"type": "tool-addition", "toolName": "shell"}],
    }
    data = {"turn": 1, "step": 1, "message": added, "headerSeq": 4}
    rows.append(synthetic.event(8, "developer/message", data, surfaceOp="append"))
    found = findings_of(lines_of(rows))
    assert causes(found) == [("request/system-retired", 6)]
    assert consequences(found) == [("developer/header-seq-target", 8, 4)]


@pytest.mark.parametrize("version", [3, 4])
def test_defects_of_one_event_are_all_found(version: int) -> None:
    rows = synthetic.events(version)
    rows[5]["data"]["message"]["id"] = ""
    rows[5]["data"]["turn"] = -1
    rows[5]["sourceEventSeqs"] = [3]
    rows[5]["extra"] = 1
    found = findings_of(lines_of(rows), version)
    assert sorted(rule for rule, _ in causes(found)) == [
        "envelope/unknown-member",
        "message/id",
        "message/settlement",
        "surface/sources-on-assistant",
    ]
    assert not consequences(found)
