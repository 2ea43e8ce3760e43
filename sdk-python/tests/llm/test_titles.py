"""Titles: texts against those that the official library makes (asked of release 0.2.1-rc.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dsh_protocol import open_log
from dsh_protocol.llm import Answer, Capabilities, ModelCallError, ScriptedModel, answer, titles
from dsh_protocol.schemas import Validator

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[3] / "conformance" / "recordings"
ROUTE = {"provider": "p", "model": "m"}
SOURCES: dict[str, Json] = {
    "v4": {"kind": "dsh-session-title-llm"},
    "v3": {"kind": "plugin", "plugin": "dsh-session-title-llm"},
}

# Text, its fallback title, and the text as a title.
TITLES = [
    (
        "Fix the login page please now ok",
        "Fix the login page please",
        "Fix the login page please now ok",
    ),
    ("  a\n\tb   c ", "a b c", "a b c"),
    (
        "\x1b]0;title\x07Hello \x1b[31mred\x1b[0m world",
        "Hello red world",
        "Hello red world",
    ),
    ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ text", "link text", "link text"),
    ("\x9d0;tail never ends", "", ""),
    ("a\u202eb\u200bc\ufeffd", "abcd", "abcd"),
    (
        "日本語のとても長いプロンプトをここに書きます、もっと",
        "日本語のとても長いプロンプ",
        "日本語のとても長いプロンプトをここに書きます、もっと",
    ),
    ("emoji " + "😀" * 12, "emoji " + "😀" * 8, "emoji " + "😀" * 12),
    ("", "", ""),
    ("\x00\x01", "", ""),
    ("word" * 30, "word" * 10, "word" * 20),
    ("a\u00a0b\u3000c\u2028d e f g", "a b c d e", "a b c d e f g"),
    ("x \x85 y", "x y", "x y"),
    ("\x1bMup", "up", "up"),
    ("a" * 39 + "é tail", "a" * 39, "a" * 39 + "é tail"),
    ("a" * 38 + "é tail", "a" * 38 + "é", "a" * 38 + "é tail"),
    ("\x9b1mz", "z", "z"),
    ("tab\vvt\fff", "tabvtff", "tabvtff"),
]


@pytest.mark.parametrize(("text", "fallback", "title"), TITLES)
def test_texts(text: str, fallback: str, title: str) -> None:
    assert titles.fallback_title(text) == fallback
    assert titles.normalized_title(text) == title


def test_a_title_counts_a_lone_surrogate_as_three_bytes() -> None:
    assert titles.fallback_title("\ud800" * 20) == "\ud800" * 13


@pytest.mark.parametrize("path", sorted(ROOT.glob("v*/*/sessions/*/*/session.v*.jsonl")), ids=str)
def test_recorded_fallback_titles(path: Path) -> None:
    events = [event.value for event in open_log(path).events]
    recorded = [event["data"] for event in events if event["type"] == "session/title"]
    made = [titles.fallback_title_data(event) for event in events]
    assert recorded == [data for data in made if data is not None][: len(recorded)]
    assert recorded


def prompt(text: str, kind: str = "user") -> Json:
    message = {"id": "u", "role": "user", "content": [{"type": "text", "text": text}]}
    data = {**message, "source": {"kind": kind}}
    return {"type": "user/message", "seq": 3, "time": 1, "data": data, "surfaceOp": "append"}


def test_messages_that_give_no_title() -> None:
    assert titles.fallback_title_data(prompt("\x00")) is None
    assert titles.fallback_title_data(prompt("Hi", "goal")) is None
    assert titles.fallback_title_data({"type": "turn/start", "seq": 1, "data": {}}) is None


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["v3", "v4"])
async def test_a_model_is_asked_for_a_title(version: str) -> None:
    declared = Capabilities("p", "m", "M", efforts=("off", "high"), default_effort="high")
    model = ScriptedModel(["\n **Fix login** \nBecause."], capabilities=declared)
    request = await titles.title_request(
        model,
        prompt("Fix the login page"),
        route=ROUTE,
        source=SOURCES[version],
        message_id="m-1",
        session_id="s-1",
    )
    # The model thinks as little as it can, and answers with no more than it may.
    assert request.data["reasoningEffort"] == "off"
    assert (request.options["maxTokens"], request.options["purpose"]) == (4096, "session-title")
    assert request.options["system"] == titles.SYSTEM
    assert request.options["sessionId"] == "s-1"
    event = {"type": "session/title-llm-request", "seq": 9, "time": 1, "data": request.data}
    events = Validator(f"session/{version}/event")
    assert events.findings(event) == []
    data = await titles.ask_for_title(model, request)
    assert model.requests == [request.options]
    assert data["title"] == "Fix login"
    assert events.findings({"type": "session/title", "seq": 10, "time": 1, "data": data}) == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n ",
        answer("Title", calls=[("c", "t", "{}")]),
        answer("Title", finish="max-tokens"),
    ],
)
async def test_answers_that_are_no_title(reply: Any) -> None:
    model = ScriptedModel([reply])
    request = await titles.title_request(
        model, prompt("Hi"), route=ROUTE, source=SOURCES["v4"], message_id="m"
    )
    with pytest.raises(ModelCallError) as caught:
        await titles.ask_for_title(model, request)
    assert caught.value.code == "INVALID_RESPONSE"


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["x" * 4097, "\x00"])
async def test_prompts_that_are_not_asked_about(text: str) -> None:
    with pytest.raises(ModelCallError) as caught:
        await titles.title_request(
            ScriptedModel(), prompt(text), route=ROUTE, source=SOURCES["v4"], message_id="m"
        )
    assert caught.value.code == "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("*A*", "A"),
        ("***A b***", "A b"),
        ("**A** and **B**", "**A** and **B**"),
        ("* A", "* A"),
        ("****", "****"),
        ("\r\n  First \r\nSecond", "First"),
    ],
)
def test_emphasis_around_a_title_is_left_out(text: str, title: str) -> None:

    made = Answer([{"type": "text", "text": text}], {"kind": "stop"}, None)
    assert titles.title_of(made) == title
