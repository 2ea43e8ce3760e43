"""Responses: recorded ones against their logs, and what only a Python caller sees."""

from __future__ import annotations

import json

import pytest
from recorded_responses import RecordedResponse, recorded_responses

from dsh_protocol.findings import UsageError
from dsh_protocol.llm import Limits, parse_response
from dsh_protocol.streams import assemble
from dsh_protocol.wire import stream_parser

RESPONSES = recorded_responses()
LOOP = [r for r in RESPONSES if r.chunks is not None]
COMPACTIONS = [r for r in RESPONSES if r.raw_output is not None]


def named(response: RecordedResponse) -> str:
    return response.name


def parsed(response: RecordedResponse, size: int = 0) -> list[dict[str, object]]:
    body = response.body
    pieces = [body[at : at + size] for at in range(0, len(body), size)] if size else [body]
    return parse_response(response.wire, pieces, model=response.model, status=response.status)


def test_there_are_recordings() -> None:
    assert len(LOOP) >= 70
    assert len(COMPACTIONS) == 2


@pytest.mark.parametrize("response", LOOP, ids=named)
def test_a_recorded_response_is_the_stream_in_its_log(response: RecordedResponse) -> None:
    chunks = parsed(response)
    # As text, because a log keeps the order of members.
    assert json.dumps(chunks) == json.dumps(response.chunks)


@pytest.mark.parametrize("response", LOOP, ids=named)
def test_a_recorded_response_settles_as_in_its_log(response: RecordedResponse) -> None:
    made = assemble(parsed(response))
    assert response.settlement is not None
    data = response.settlement["data"]
    if response.settlement["type"] == "assistant/attempt":
        assert made.finish["kind"] == "error"
        return
    assert made.content == data["message"]["content"]
    assert made.usage == data.get("usage")
    assert made.replay_state == data["message"]["source"].get("replayState")


@pytest.mark.parametrize("response", COMPACTIONS, ids=named)
def test_the_answer_to_a_compaction_is_its_raw_output(response: RecordedResponse) -> None:
    assert assemble(parsed(response)).content == response.raw_output


@pytest.mark.parametrize("response", LOOP, ids=named)
@pytest.mark.parametrize("size", [1, 2, 7])
def test_pieces_make_no_difference(response: RecordedResponse, size: int) -> None:
    if len(response.body) > 3000 and size < 7:
        pytest.skip("a long one takes too long byte by byte; one of each kind is enough")
    assert parsed(response, size) == response.chunks


@pytest.mark.parametrize("wire", ["deepseek-messages", "deepseek-chat"])
def test_a_cut_anywhere_is_a_closed_stream(wire: str) -> None:
    """Whatever is cut off, the call fails, and the chunks before that are a prefix of the whole ones."""
    whole = next(r for r in LOOP if r.wire == wire and r.name.endswith("plain/1"))
    assert whole.chunks is not None
    for end in range(len(whole.body.rstrip(b"\n"))):
        *chunks, last = parse_response(wire, [whole.body[:end]], model=whole.model)
        assert last["reason"]["failure"]["code"] == "STREAM_CLOSED"
        assert chunks == whole.chunks[: len(chunks)]


def test_chunks_before_a_failure_stay() -> None:
    """A delta that came with a malformed part of the same event is kept, as official chunks are."""
    event = '{"choices":[{"delta":{"content":"a","tool_calls":[null]}}]}'
    chunks = parse_response("deepseek-chat", [f"data: {event}\n\n".encode()], model="m")
    assert [chunk["type"] for chunk in chunks] == ["block-start", "text-delta", "finish"]


@pytest.mark.parametrize(
    ("body", "limits", "what"),
    [
        (b"data: " + b"x" * 100, Limits(event=64), "an event of more than 64 bytes"),
        (b"data: x\n" * 20, Limits(event=64), "an event of more than 64 bytes"),
        (b": hello\n\n" * 20, Limits(response=100), "a body of more than 100 bytes"),
    ],
)
def test_a_response_that_is_too_long_is_refused(body: bytes, limits: Limits, what: str) -> None:
    chunks = parse_response("deepseek-messages", [body], model="m", limits=limits)
    failure = chunks[-1]["reason"]["failure"]
    assert failure == {"message": f"the response has {what}", "code": "RESPONSE_TOO_LARGE"}


def test_a_usage_without_counts_is_refused() -> None:
    """The official adapter makes NaN of it, and its session can then not be written."""
    body = b'data: {"choices":[{"delta":{"content":"a"}}],"usage":{}}\n\ndata: [DONE]\n\n'
    failure = parse_response("deepseek-chat", [body], model="m")[-1]["reason"]["failure"]
    assert failure["code"] == "MALFORMED_RESPONSE"


def test_a_parser_for_an_unknown_wire_does_not_exist() -> None:
    with pytest.raises(UsageError, match="no wire is called"):
        stream_parser("telegraph", model="m")
