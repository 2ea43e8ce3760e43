"""Titles of sessions: one that is cut from the first prompt, and one that a model makes.

The limits are those of the released profiles. The prompt for the model is our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dsh_protocol import jsonvalue
from dsh_protocol.wire import failed

from ._model import Model
from .one_shot import Answer, ask

Json = dict[str, Any]
FALLBACK_WORDS = 5
FALLBACK_BYTES = 40
TITLE_BYTES = 80
MAX_INPUT_BYTES = 4096
MAX_OUTPUT_TOKENS = 4096
PROVIDER = "session-title-first-prompt-llm"
"""The `titleProvider` of released runtimes that asks for a title once, after the first prompt."""
SYSTEM = (
    "You name coding sessions. You get what a person wrote at the start of one, as a JSON list.\n"
    "Answer with the title alone: one line of plain words in the person's language, about five "
    "words (or ten CJK characters), without quotes, markup or explanation. If there is little to "
    "name, give a short title all the same."
)
_MOST = jsonvalue.MAX_SAFE_INTEGER

# Terminal sequences, then control characters, then marks that turn or hide what is shown.
_UNSHOWN = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"(?:\x1b\]|\x9d)(?:(?!\x07|\x1b\\).)*(?:\x07|\x1b\\|\Z)",
        r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]",
        r"\x1b[@-_]",
        r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]",
        r"[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]",
    )
)
_SPACE = re.compile(r"[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_EMPHASIS = re.compile(r"(?P<mark>\*{1,3})(?P<inner>\S(?:.*\S)?)(?P=mark)")


def fallback_title(text: str, words: int = FALLBACK_WORDS, most_bytes: int = FALLBACK_BYTES) -> str:
    """The first words of a text, shown on one line; empty when nothing of it shows."""
    return _cut(" ".join(_shown(text).split(" ")[:words]), most_bytes)


def normalized_title(text: str, most_bytes: int = TITLE_BYTES) -> str:
    """A title as a log keeps it: one line without control characters, not too long."""
    return _cut(_shown(text), most_bytes)


def fallback_title_data(event: Mapping[str, Any]) -> Json | None:
    """The data of the `session/title` event for a `user/message` event; null: no title can be had."""
    title = fallback_title(prompt_text(event) or "")
    if not title:
        return None
    return {"title": title, "messageSeqs": [event["seq"]], "source": {"kind": "fallback"}}


def prompt_text(event: Mapping[str, Any]) -> str | None:
    """What a person wrote in a `user/message` event; null when it is none, or nothing shows."""
    if event["type"] != "user/message" or event["data"]["source"]["kind"] != "user":
        return None
    texts = [block["text"] for block in event["data"]["content"] if block["type"] == "text"]
    text = "\n".join(texts)
    return text if normalized_title(text, _MOST) else None


@dataclass(frozen=True, slots=True)
class TitleRequest:
    """A request for a title: what is logged before it is sent, and what is sent."""

    data: Json
    """The data of `session/title-llm-request`."""
    options: Json = field(repr=False)
    """The request (`GenerateOptions`)."""


async def title_request(
    model: Model,
    event: Mapping[str, Any],
    *,
    route: Mapping[str, str],
    source: Mapping[str, Any],
    message_id: str,
    session_id: str | None = None,
    system: str = SYSTEM,
) -> TitleRequest:
    """The request that asks for a title of the first prompt, the `user/message` event `event`.

    `route` is `{provider, model}`, by the request header in force; `source` the source of the
    message that asks, in the words of the session's format: `{"kind": "dsh-session-title-llm"}`
    in format 4, `{"kind": "plugin", "plugin": "dsh-session-title-llm"}` in format 3. The model is
    asked to think as little as it can.

    Raises:
        ModelCallError: `INVALID_REQUEST`: the event has no prompt, or one that is too long.
    """
    text = prompt_text(event)
    prompt = jsonvalue.dumps([{"seq": event["seq"], "text": text}])
    if text is None or len(prompt.encode("utf-8", "surrogatepass")) > MAX_INPUT_BYTES:
        raise failed("title/input", limit=MAX_INPUT_BYTES)
    message: Json = {
        "id": message_id,
        "role": "user",
        "content": [{"type": "text", "text": prompt}],
        "source": dict(source),
    }
    least = (await model.prepare(route)).capabilities.efforts[:1]
    effort = {"reasoningEffort": least[0]} if least else {}
    call = await model.prepare({**route, "maxTokens": MAX_OUTPUT_TOKENS, **effort})
    data: Json = {
        "titleProvider": PROVIDER,
        "messageSeqs": [event["seq"]],
        "route": dict(route),
        "system": system,
        "messages": [message],
        "maxTokens": MAX_OUTPUT_TOKENS,
        **{k: v for k, v in call.config.items() if k == "reasoningEffort"},
    }
    options = {**call.config, "messages": [message], "system": system, "purpose": "session-title"}
    if session_id is not None:
        options["sessionId"] = session_id
    return TitleRequest(data, options)


async def ask_for_title(model: Model, request: TitleRequest) -> Json:
    """The data of the `session/title` event that the answer makes.

    Raises:
        ModelCallError: the call failed, or its answer is no title (`INVALID_RESPONSE`).
    """
    title = title_of(await ask(model, request.options))
    source = {"kind": "provider", "provider": PROVIDER, "model": request.data["route"]}
    return {"title": title, "messageSeqs": request.data["messageSeqs"], "source": source}


def title_of(answer: Answer) -> str:
    """The title in an answer: its first line that shows, without emphasis around it.

    Raises:
        ModelCallError: `INVALID_RESPONSE`: the answer was cut, has tool calls or no text.
    """
    texts = [block["text"] for block in answer.content if block["type"] == "text"]
    has_calls = any(block["type"] == "tool-call" for block in answer.content)
    lines = (line.strip() for line in re.split(r"\r?\n", " ".join(texts)))
    line = next(filter(None, lines), "")
    match = _EMPHASIS.fullmatch(line)
    if match is not None and match["mark"] not in match["inner"]:
        line = match["inner"]
    title = normalized_title(line)
    if answer.finish["kind"] != "stop" or has_calls or not title:
        raise failed("title/answer")
    return title


def _shown(text: str) -> str:
    for pattern in _UNSHOWN:
        text = pattern.sub("", text)
    return _SPACE.sub(" ", text).strip(" ")


def _cut(text: str, most_bytes: int) -> str:
    """As many whole characters as fit, a lone surrogate counting as the mark that replaces it."""
    size = 0
    for place, char in enumerate(text):
        size += len(char.encode("utf-8", "surrogatepass"))
        if size > most_bytes:
            return text[:place].rstrip()
    return text.rstrip()
