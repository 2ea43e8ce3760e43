"""Messages, blocks and images for tests of the wires, as short as a table row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dsh_protocol.wire import RequestImage

Json = dict[str, Any]

IMAGE_ID = "sha256:" + "ab" * 32
OTHER_ID = "sha256:" + "cd" * 32


def text(value: str) -> Json:
    return {"type": "text", "text": value}


def reasoning(value: str) -> Json:
    return {"type": "reasoning", "text": value}


def call(id_: str, arguments: str = "{}", name: str = "bash") -> Json:
    return {"type": "tool-call", "id": id_, "name": name, "arguments": arguments}


def addition(name: str) -> Json:
    return {"type": "tool-addition", "toolName": name}


def removal(name: str) -> Json:
    return {"type": "tool-removal", "toolName": name}


def image(id_: str = IMAGE_ID, *, offloaded: bool = False, **reference: Any) -> Json:
    """A reference to a stored image of 2x3 pixels and 10 bytes."""
    known = {"attachmentId": id_, "mediaType": "image/png", "bytes": 10, "width": 2, "height": 3}
    block = {"type": "image", "attachment": known | reference}
    return {**block, "offloaded": True} if offloaded else block


def file(name: str = "notes.txt", id_: str = IMAGE_ID) -> Json:
    return {"type": "file", "attachment": {"attachmentId": id_, "name": name, "bytes": 12}}


def result_block(id_: str, *content: Json, **more: Any) -> Json:
    """A tool result of formats 2 and 3: a block of a user message."""
    return {"type": "tool-result", "toolCallId": id_, "content": list(content), **more}


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content), "id": "u", "source": {"kind": "user"}}


def system(*content: Json) -> Json:
    source = {"kind": "system-prompt"}
    return {"role": "system", "content": list(content), "id": "s", "source": source}


def assistant(*content: Json, model: str = "m", replay: Any = None) -> Json:
    source = {"kind": "model", "provider": "deepseek-official", "model": model}
    if replay is not None:
        source["replayState"] = replay
    return {"role": "assistant", "content": list(content), "id": "a", "source": source}


def tool(id_: str, *content: Json, **more: Any) -> Json:
    """A tool result of format 4: a message of its own."""
    source = {"kind": "tool", "callId": id_}
    message = {"role": "tool", "toolCallId": id_, "content": list(content)}
    return {**message, "id": "t", "source": source, **more}


def developer(*content: Json, id_: str = "d") -> Json:
    source = {"kind": "tool-registry"}
    return {"role": "developer", "content": list(content), "id": id_, "source": source}


def options(*messages: Json, **more: Any) -> Json:
    return {"provider": "deepseek-official", "model": "m", "messages": list(messages), **more}


def schema(name: str, **more: Any) -> Json:
    return {"name": name, "description": f"The tool {name}.", "parameters": {}, **more}


class Store:
    """An attachment store in memory. An unknown id is three zero bytes of the reference's size."""

    def __init__(self, root: str | None = None, **images: RequestImage) -> None:
        self.root = root
        self._images = images

    def image(self, reference: Mapping[str, Any]) -> RequestImage:
        default = RequestImage(
            b"\0\0\0", reference["mediaType"], reference["width"], reference["height"]
        )
        return self._images.get(reference["attachmentId"][7:9], default)
