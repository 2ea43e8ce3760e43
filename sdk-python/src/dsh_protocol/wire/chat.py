"""The wire `deepseek-chat`: the body of `POST {baseURL}/chat/completions`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from dsh_protocol import jsonvalue

from ._images import AttachmentStore, Images, base64_data
from ._projection import origins, project
from ._shape import check_options
from ._texts import failure, text

Json = dict[str, Any]

_LEVELS = frozenset({"low", "high", "max"})


def serialize(
    options: Mapping[str, Any], route: Mapping[str, Any], attachments: AttachmentStore | None = None
) -> Json:
    """The body of a request, without extension members.

    `options` is a `GenerateOptions`, `route` a `Route` of spec/wire. The body's text is
    `jsonvalue.dumps` of the result. Images above the budget are replaced by a text, oldest first. A
    tool message of format 4, which no released adapter ever put on this wire, takes the form of a
    tool result of format 3; tool changes cannot be said here.

    Raises:
        WireError: the request cannot be said on this wire (`UNSUPPORTED_CONTENT`,
            `UNSUPPORTED_REASONING_EFFORT`, `INVALID_REQUEST`), its options are malformed
            (`INVALID_OPTIONS`), or an image cannot be had (`INVALID_ATTACHMENT_REF`,
            `ATTACHMENT_NOT_FOUND`).
    """
    check_options(options)
    images = Images(route, attachments)
    request = project(options, {**route, "toolUpdate": None}, images)
    places = origins(options["messages"], request["messages"])
    history = [_with_result_block(message) for message in request["messages"]]
    history = _leave_out(history, images, _is_marked)
    messages: list[Json] = []
    if "system" in options:
        messages.append({"role": "system", "content": options["system"]})
    if _references(history):
        messages += _with_images(history, places, options["model"], images)
    else:
        messages += [wire for message in history for wire in _as_text(message)]
    body: Json = {
        "model": options["model"],
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        **_thinking(options, route),
    }
    if request.get("tools"):
        body["tools"] = [_tool(tool) for tool in request["tools"]]
    if "temperature" in options:
        body["temperature"] = options["temperature"]
    if "maxTokens" in options:
        body["max_tokens"] = options["maxTokens"]
    if "stop" in options:
        body["stop"] = list(options["stop"])
    return body


def _thinking(options: Mapping[str, Any], route: Mapping[str, Any]) -> Json:
    if options.get("purpose") == "session-title":
        return {"thinking": {"type": "disabled"}}
    effort = options.get("reasoningEffort", route.get("reasoningEffort"))
    deployment = route.get("thinking")
    if effort is None:
        return {} if deployment is None else {"thinking": {"type": deployment}}
    if effort == "off":
        return {"thinking": {"type": "disabled"}}
    if effort not in _LEVELS or deployment == "disabled":
        unknown = effort not in _LEVELS
        reason = "chat/unsupported-effort" if unknown else "chat/deployment-effort"
        raise failure(reason, path="/reasoningEffort", effort=effort)
    return {"thinking": {"type": "enabled"}, "reasoning_effort": effort}


def _tool(tool: Json) -> Json:
    function = {
        "name": tool["name"],
        "description": tool["description"],
        "parameters": tool["parameters"],
    }
    return {"type": "function", "function": function}


def _with_result_block(message: Json) -> Json:
    if message["role"] != "tool":
        return message
    block = {
        "type": "tool-result",
        "toolCallId": message["toolCallId"],
        "content": message["content"],
    }
    return {"role": "user", "content": [block]}


def _images(blocks: Sequence[Json]) -> Iterator[Json]:
    """The image blocks, depth first: the order in which a request has them."""
    for block in blocks:
        if block["type"] == "image":
            yield block
        elif block["type"] == "tool-result":
            yield from _images(block["content"])


def _leave_out(history: Sequence[Json], images: Images, goes: Callable[[Json], bool]) -> list[Json]:
    """The history with a text for each image that goes. `goes` is asked once for each, in order."""

    def kept(block: Json) -> Json:
        if block["type"] == "tool-result":
            return {**block, "content": [kept(inner) for inner in block["content"]]}
        if block["type"] != "image" or not goes(block):
            return block
        return {"type": "text", "text": images.offloaded(block["attachment"])}

    return [
        {**message, "content": [kept(block) for block in message["content"]]} for message in history
    ]


def _is_marked(block: Json) -> bool:
    """Whether the log says that an image was left out."""
    return block.get("offloaded") is True


def _oldest(number: int) -> Callable[[Json], bool]:
    """True for the first `number` images that are asked about."""
    asked = count()
    return lambda _: next(asked) < number


def _as_text(message: Json) -> list[Json]:
    """The wire messages of a history message, in a request without any image."""
    if message["role"] != "user":
        return [_spoken(message)]
    own = _join(message["content"])
    results = [block for block in message["content"] if block["type"] == "tool-result"]
    wire = [{"role": "user", "content": own}] if own or not results else []
    return wire + [_result(block, _join(block["content"])) for block in results]


def _spoken(message: Json) -> Json:
    """The wire message of a system or assistant message."""
    content = message["content"]
    wire: Json = {"role": message["role"], "content": _join(content)}
    if message["role"] != "assistant":
        return wire
    reasoning = _join(content, "reasoning")
    if reasoning:
        wire["reasoning_content"] = reasoning
    calls = [_call(block) for block in content if block["type"] == "tool-call"]
    if calls:
        wire["tool_calls"] = calls
    return wire


def _call(block: Json) -> Json:
    function = {"name": block["name"], "arguments": block["arguments"]}
    return {"id": block["id"], "type": "function", "function": function}


def _result(block: Json, content: str) -> Json:
    return {
        "role": "tool",
        "tool_call_id": block["toolCallId"],
        "content": content or text("chat/no-output"),
    }


def _join(blocks: Sequence[Json], kind: str = "text") -> str:
    return "".join(block["text"] for block in blocks if block["type"] == kind)


def _with_images(
    history: Sequence[Json], places: Sequence[int], model: str, images: Images
) -> list[Json]:
    """The wire messages of a history with images.

    The budget is applied twice, as by the official adapter: to what the log says of the images
    before any is read, and to what is sent.
    """
    first = _image_places(history, places)[0]
    if not images.accepted:
        raise failure("chat/no-vision", path=first[1], model=model)
    if not images.available:
        raise failure("chat/no-attachments", path=first[1])
    number = images.overflow(_references(history), "declared")
    history = _leave_out(history, images, _oldest(number))
    for role, path in _image_places(history, places):
        if role != "user":
            raise failure("chat/image-role", path=path, role=role)
    number = _overflow(_references(history), images)
    history = _leave_out(history, images, _oldest(number))
    writer = _ImageWriter(images)
    for message in history:
        writer.add(message)
    return writer.finish()


def _overflow(references: Sequence[Json], images: Images) -> int:
    """How many images stay out by what is sent; decides how the others travel."""
    number = images.overflow(references, "raw")
    images.choose_mode(references[number:])
    if images.mode == "files":
        return number
    return images.overflow(references, "base64")


def _references(history: Sequence[Json]) -> list[Json]:
    return [block["attachment"] for m in history for block in _images(m["content"])]


def _image_places(history: Sequence[Json], places: Sequence[int]) -> list[tuple[str, str]]:
    """The role of the message of each image, and a JSON Pointer to the message."""
    return [
        (message["role"], jsonvalue.pointer("messages", place))
        for message, place in zip(history, places, strict=True)
        for _ in _images(message["content"])
    ]


class _ImageWriter:
    """Wire messages one after the other.

    A tool message takes text alone, so that images of tool results follow in a user message.
    """

    def __init__(self, images: Images) -> None:
        self._images = images
        self._wire: list[Json] = []
        self._queue: list[Json] = []

    def add(self, message: Json) -> None:
        """Take in the next message of the history."""
        if message["role"] != "user":
            self._say(_spoken(message))
            return
        content = message["content"]
        results = [block for block in content if block["type"] == "tool-result"]
        own = _collapsed(self._parts(b for b in content if b["type"] != "tool-result"))
        if own or not results:
            self._say({"role": "user", "content": own})
        for block in results:
            parts = self._parts(_flat(block["content"]))
            texts = (part["text"] for part in parts if part["type"] == "text")
            self._wire.append(_result(block, "".join(texts)))
            self._queue += [part for part in parts if part["type"] != "text"]

    def finish(self) -> list[Json]:
        """All wire messages."""
        self._flush()
        return self._wire

    def _say(self, wire: Json) -> None:
        self._flush()
        self._wire.append(wire)

    def _flush(self) -> None:
        if self._queue:
            title = {"type": "text", "text": text("chat/tool-images")}
            self._wire.append({"role": "user", "content": [title, *self._queue]})
            self._queue = []

    def _parts(self, blocks: Iterator[Json]) -> list[Json]:
        parts: list[Json] = []
        for block in blocks:
            if block["type"] == "text" and block["text"]:
                parts.append({"type": "text", "text": block["text"]})
            elif block["type"] == "image":
                handle = self._images.handle(block["attachment"])
                parts.append({"type": "text", "text": "\n" + handle if parts else handle})
                parts.append(self._image(block["attachment"]))
        return parts

    def _image(self, reference: Json) -> Json:
        if self._images.mode == "inline":
            image = self._images.load(reference)
            url = f"data:{image.media_type};base64,{base64_data(image)}"
            return {"type": "image_url", "image_url": {"url": url}}
        file_id = self._images.file_id(reference)
        if file_id is None:
            raise failure("chat/missing-file-id")
        return {"type": "file", "file_id": file_id}


def _collapsed(parts: list[Json]) -> str | list[Json]:
    if any(part["type"] != "text" for part in parts):
        return parts
    return "".join(part["text"] for part in parts)


def _flat(blocks: Sequence[Json]) -> Iterator[Json]:
    for block in blocks:
        if block["type"] == "tool-result":
            yield from _flat(block["content"])
        else:
            yield block
