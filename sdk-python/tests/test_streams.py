"""Streams: to compact records and back, and what they amount to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import recorded
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_protocol.jsonvalue import dumps
from dsh_protocol.rows import Event, open_log
from dsh_protocol.streams import (
    Assembler,
    StreamError,
    accumulate,
    assemble,
    check_record,
    expand,
    settlement_findings,
)

Json = dict[str, Any]

DATA = Path(__file__).parent / "data" / "official_streams.json"
OFFICIAL: list[Json] = json.loads(DATA.read_text(encoding="utf-8"))
"""Streams, well-formed and not, and what the official library (0.2.1-rc.2) answered."""

COUNT = st.integers(0, 3)
TEXT = st.text(st.sampled_from("ab \u2003\ufeff\ud83d\ude00é{"), max_size=3)
NAME = st.sampled_from(["c1", "c2", ""])
BLOCK = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, TEXT),
    st.builds(lambda text: {"type": "reasoning", "text": text}, TEXT),
    st.builds(lambda id_: {"type": "tool-call", "id": id_, "name": "n", "arguments": "{}"}, NAME),
)
REASON = st.sampled_from(["stop", "tool-calls", "max-tokens"]).map(lambda kind: {"kind": kind})
CHUNK = st.one_of(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text-delta", "reasoning-delta"]), "index": COUNT, "text": TEXT}
    ),
    st.fixed_dictionaries(
        {"type": st.just("tool-call-delta"), "index": COUNT, "id": NAME, "argumentsDelta": TEXT},
        optional={"name": NAME},
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("block-start"),
            "index": COUNT,
            "blockType": st.sampled_from(["text", "reasoning", "tool-call"]),
        }
    ),
    st.fixed_dictionaries({"type": st.just("block-end"), "index": COUNT, "block": BLOCK}),
    st.fixed_dictionaries(
        {"type": st.just("usage"), "usage": st.fixed_dictionaries({"inputTokens": COUNT})}
    ),
    st.fixed_dictionaries(
        {"type": st.just("finish"), "reason": REASON},
        optional={"replayState": st.builds(lambda n: {"response": 1, "blocks": [0] * n}, COUNT)},
    ),
)
SAFE = 2**53 - 1
TIMED = st.lists(st.tuples(st.integers(-SAFE, SAFE) | st.integers(0, 50), CHUNK), max_size=12)


@settings(max_examples=400)
@given(TIMED)
def test_a_stream_survives_its_compact_form(chunks: list[tuple[int, Json]]) -> None:
    records = accumulate(chunks)
    assert expand(records) == chunks
    assert accumulate(expand(records)) == records


@settings(max_examples=400)
@given(TIMED)
def test_records_assemble_as_their_chunks_do(chunks: list[tuple[int, Json]]) -> None:
    assembler = Assembler()
    for record in accumulate(chunks):
        assembler.push_record(record)
    plain = [chunk for _, chunk in chunks]
    for interrupted in (False, True):
        assert assembler.assembled(interrupted=interrupted) == assemble(
            plain, interrupted=interrupted
        )


def text(value: Any) -> str:
    return dumps(value)


def official(op: str) -> list[Json]:
    cases = [case for case in OFFICIAL if case["op"] == op]
    assert len(cases) > 40
    return cases


@pytest.mark.parametrize("case", official("accumulate"))
def test_accumulating_as_the_official_library(case: Json) -> None:
    chunks = [(timed[0], timed[1]) for timed in case["chunks"]]
    if "refused" in case:
        with pytest.raises(StreamError):
            accumulate(chunks)
        return
    assert text(accumulate(chunks)) == text(case["records"])


@pytest.mark.parametrize("case", official("expand"))
def test_expanding_as_the_official_library(case: Json) -> None:
    if "refused" in case:
        with pytest.raises(StreamError):
            expand(case["records"])
        return
    assert text([list(timed) for timed in expand(case["records"])]) == text(case["chunks"])


@pytest.mark.parametrize("case", official("assemble"))
def test_assembling_as_the_official_library(case: Json) -> None:
    assembler = Assembler()
    for record in case["records"]:
        assembler.push_record(record)
    interrupted = assembler.assembled(interrupted=True)
    assert text(interrupted.content) == text(case["interrupted"])
    assert interrupted.finish == case["finish"]
    assert interrupted.usage == case.get("usage")
    if "open" in case:
        with pytest.raises(StreamError, match="incomplete block"):
            assembler.assembled()
        return
    made = assembler.assembled()
    assert text(made.content) == text(case["content"])
    assert made.replay_state == case.get("replayState")


# ---- Settlements ---------------------------------------------------------------------------------


def settlement(chunks: list[tuple[int, Json]], **changes: Any) -> Event:
    """The assistant/message that a loop writes for a stream."""
    made = assemble(chunk for _, chunk in chunks)
    source: Json = {"kind": "model", "provider": "p", "model": "m"}
    if made.replay_state is not None:
        source["replayState"] = made.replay_state
    message = {"id": "m", "role": "assistant", "source": source, "content": made.content}
    data: Json = {"turn": 1, "step": 1, "message": message, "stream": accumulate(chunks)}
    if made.usage is not None:
        data["usage"] = made.usage
    row: Json = {"type": "assistant/message", "seq": 0, "time": 1, "data": data | changes}
    return Event.from_value({**row, "surfaceOp": "append"})


@settings(max_examples=300)
@given(TIMED)
def test_what_a_loop_writes_has_no_finding(chunks: list[tuple[int, Json]]) -> None:
    assert settlement_findings(settlement(chunks)) == []


@settings(max_examples=300)
@given(TIMED, TIMED)
def test_another_stream_is_noticed(
    chunks: list[tuple[int, Json]], other: list[tuple[int, Json]]
) -> None:
    one, two = (assemble(chunk for _, chunk in timed) for timed in (chunks, other))
    expected = {
        rule
        for rule, differs in (
            ("stream/content", one.content != two.content),
            ("stream/usage", one.usage != two.usage),
            ("stream/replay-state", one.replay_state != two.replay_state),
        )
        if differs and other
    }
    found = settlement_findings(settlement(chunks, stream=accumulate(other)))
    assert {finding.rule for finding in found} == expected
    assert all(finding.severity == "warning" for finding in found)


def test_an_interrupted_answer_keeps_what_shows() -> None:
    chunks = [
        (1, {"type": "reasoning-delta", "index": 0, "text": " "}),
        (2, {"type": "text-delta", "index": 1, "text": "Hel"}),
        (3, {"type": "tool-call-delta", "index": 2, "id": "c", "argumentsDelta": "{"}),
    ]
    event = settlement(chunks, interrupted=True)
    assert [found.rule for found in settlement_findings(event)] == ["stream/content"]
    event.data["message"]["content"] = [{"type": "text", "text": "Hel"}]
    assert settlement_findings(event) == []


@pytest.mark.parametrize(
    ("record", "rule", "path"),
    [
        ({"type": "acme"}, "stream/record", ""),
        ({"type": "text-chunks", "time0": 1, "index": 0, "dt": [1], "texts": ["a"]}, "stream/run-lengths", ""),
        ({"type": "chunk", "time": 0.5, "chunk": {}}, "stream/times", "/time"),
        ({"type": "chunk", "time": 1, "chunk": {"type": "acme"}}, "stream/chunk", "/chunk"),
        ({"type": "tool-call-chunks", "time0": 1, "index": 0, "dt": [], "texts": ["a"]}, "stream/record", ""),
    ],
)  # fmt: skip
def test_a_malformed_record_is_one_finding(record: Json, rule: str, path: str) -> None:
    data = {"turn": 1, "step": 1, "stream": [record]}
    row: Json = {"type": "assistant/attempt", "seq": 0, "time": 1, "data": data}
    (found,) = settlement_findings(Event.from_value(row))
    assert (found.rule, found.path) == (rule, f"/data/stream/0{path}")


def test_recorded_streams_are_what_their_messages_say() -> None:
    streams = records = 0
    for entry in recorded.recorded():
        for event in open_log(entry.log).events:
            if not event.type.startswith("assistant/"):
                continue
            assert settlement_findings(event) == []
            stream = event.data["stream"]
            assert text(accumulate(expand(stream))) == text(stream)
            for place, record in enumerate(stream):
                check_record(record, place)
            streams += 1
            records += len(stream)
    assert streams > 70
    assert records > 300
