"""The wire `deepseek-messages`: the body of `POST {root}/messages`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dsh_protocol import jsonvalue
from dsh_protocol.findings import JsonError

from ._images import AttachmentStore, ImageBudgetError, Images, Measure, base64_data
from ._projection import origins, project
from ._replay import signatures
from ._shape import check_options
from ._texts import failure

Json = dict[str, Any]
Role = Literal["user", "assistant", "system"]

DEFAULT_MAX_TOKENS = 256_000
_EFFORTS = frozenset({"off", "low", "high", "max"})
_TOOL_CHANGES = frozenset({"tool-addition", "tool-removal"})


def serialize(
    options: Mapping[str, Any], route: Mapping[str, Any], attachments: AttachmentStore | None = None
) -> Json:
    """The body of a request, without extension members.

    `options` is a `GenerateOptions`, `route` a `Route` of spec/wire. The body's text is
    `jsonvalue.dumps` of the result.

    Raises:
        WireError: the request cannot be said on this wire (`UNSUPPORTED_CONTENT`,
            `UNSUPPORTED_REASONING_EFFORT`, `INVALID_REQUEST`, `IMAGE_OFFLOAD_REQUIRED`), its
            options are malformed (`INVALID_OPTIONS`), or an image cannot be had
            (`INVALID_ATTACHMENT_REF`, `ATTACHMENT_NOT_FOUND`).
    """
    check_options(options)
    images = Images(route, attachments)
    request = project(options, route, images)
    history = [_without_offloaded(message, images) for message in request["messages"]]
    places = [("messages", index) for index in origins(options["messages"], history)]
    _check_images(history, places, images)
    conversation = _Conversation(options["model"], route, images)
    for message, place in zip(history, places, strict=True):
        conversation.add(message, place)
    turns = conversation.finish()
    _pair(turns)
    effort = _effort(options, route)
    body: Json = {
        "model": options["model"],
        "stream": True,
        "messages": [{"role": turn.role, "content": turn.blocks} for turn in turns],
        "max_tokens": options.get("maxTokens", route.get("maxTokens", DEFAULT_MAX_TOKENS)),
        "thinking": {"type": "disabled" if effort == "off" else "enabled"},
    }
    if effort != "off":
        body["output_config"] = {"effort": effort}
    system = "\n\n".join(text for text in (options.get("system"), conversation.prompt) if text)
    if system:
        body["system"] = system
    if "temperature" in options:
        body["temperature"] = options["temperature"]
    if "stop" in options:
        body["stop_sequences"] = list(options["stop"])
    if "tools" in request:
        body["tools"] = [_tool(tool) for tool in request["tools"]]
    return body


def _effort(options: Mapping[str, Any], route: Mapping[str, Any]) -> str:
    thinks = route.get("thinking") != "disabled"
    default = route.get("reasoningEffort", "high" if thinks else "off")
    effort: str = options.get("reasoningEffort", default)
    if effort not in _EFFORTS or (effort != "off" and not thinks):
        raise failure("messages/unsupported-effort", path="/reasoningEffort", effort=effort)
    return effort


def _tool(tool: Json) -> Json:
    wire = {
        "name": tool["name"],
        "description": tool["description"],
        "input_schema": tool["parameters"],
    }
    return {**wire, "defer_loading": True} if tool.get("deferLoading") is True else wire


def _without_offloaded(message: Json, images: Images) -> Json:
    """The message with a text for each image that the log says was left out."""
    if not any(_is_image(block) for block in message["content"]):
        return message
    content = [
        {"type": "text", "text": images.offloaded(block["attachment"])}
        if _is_image(block) and block.get("offloaded") is True
        else block
        for block in message["content"]
    ]
    return {**message, "content": content}


def _is_image(block: Json) -> bool:
    return bool(block["type"] == "image")


def _check_images(
    history: Sequence[Json], places: Sequence[tuple[str, int]], images: Images
) -> None:
    """Refuse images that the model, the store, their role or the budget rules out."""
    found = [
        (message["role"], block["attachment"], place)
        for message, place in zip(history, places, strict=True)
        for block in message["content"]
        if _is_image(block)
    ]
    if found and not (images.accepted and images.available):
        raise failure("messages/no-vision", path=jsonvalue.pointer(*found[0][2]))
    for role, _, place in found:
        if role not in ("user", "tool"):
            raise failure("messages/image-role", path=jsonvalue.pointer(*place))
    references = [reference for _, reference, _ in found]
    images.choose_mode(references)
    # A runtime uploads first, so that an inline request has passed the budget of files, too.
    _check_budget(references, images, "raw")
    if images.mode == "inline":
        _check_budget(references, images, "base64")


def _check_budget(references: Sequence[Json], images: Images, measure: Measure) -> None:
    count = images.overflow(references, measure)
    if count:
        cause = failure("messages/image-budget", path="/messages", kind=measure, count=count)
        raise ImageBudgetError(cause, count)


@dataclass(slots=True)
class _Turn:
    """One wire message in the making, and the first message of the history that went into it."""

    role: Role
    blocks: list[Json]
    place: tuple[str, int]


class _Conversation:
    """Wire messages from history messages, one after the other."""

    def __init__(self, model: str, route: Mapping[str, Any], images: Images) -> None:
        self.prompt = ""
        self._model = model
        self._in_history = route.get("systemPromptUpdate") == "in-history"
        self._images = images
        self._turns: list[_Turn] = []
        # Changes wait until the user turn after which they may stand is complete.
        self._waiting: list[_Turn] = []

    def add(self, message: Json, place: tuple[str, int]) -> None:
        """Take in the next message of the history."""
        role = message["role"]
        if role == "developer":
            self._wait([_change(block, place) for block in message["content"]], place)
            return
        if any(block["type"] in _TOOL_CHANGES for block in message["content"]):
            raise _unsupported("tool-change blocks outside developer messages", place)
        if role == "system":
            self._system(message, place)
            return
        blocks = self._blocks(message, place)
        if not blocks:
            return
        if role == "assistant":
            self._release()
        self._append("assistant" if role == "assistant" else "user", blocks, place)

    def finish(self) -> list[_Turn]:
        """All wire messages."""
        self._release()
        return self._turns

    def _system(self, message: Json, place: tuple[str, int]) -> None:
        if any(block["type"] != "text" for block in message["content"]):
            raise _unsupported("non-text system message", place)
        prompt = "".join(block["text"] for block in message["content"])
        if not self._in_history or not self._turns:
            self.prompt = prompt
            return
        if not prompt:
            raise _unsupported("empty in-history system update", place)
        self._wait([{"type": "text", "text": prompt}], place)

    def _wait(self, blocks: Sequence[Json | None], place: tuple[str, int]) -> None:
        kept = [block for block in blocks if block is not None]
        if kept:
            self._waiting.append(_Turn("system", kept, place))

    def _release(self) -> None:
        if not self._waiting:
            return
        if not self._turns or self._turns[-1].role != "user":
            what = "system update without a preceding user or tool-result turn"
            raise _unsupported(what, self._waiting[0].place)
        self._turns += self._waiting
        self._waiting = []

    def _append(self, role: Role, blocks: list[Json], place: tuple[str, int]) -> None:
        if self._turns and self._turns[-1].role == role:
            self._turns[-1].blocks += blocks
        else:
            self._turns.append(_Turn(role, blocks, place))

    def _blocks(self, message: Json, place: tuple[str, int]) -> list[Json]:
        if message["role"] == "assistant":
            signed = signatures(message, self._model)
            pairs = zip(message["content"], signed, strict=True)
            return [b for block, signature in pairs for b in _assistant(block, signature, place)]
        content = [b for block in message["content"] for b in self._input(block, place)]
        if message["role"] == "user":
            return content
        result = {
            "type": "tool_result",
            "tool_use_id": message["toolCallId"],
            "content": content,
        }
        return [{**result, "is_error": message["isError"]} if "isError" in message else result]

    def _input(self, block: Json, place: tuple[str, int]) -> list[Json]:
        kind = block["type"]
        if kind == "text":
            return [{"type": "text", "text": block["text"]}] if block["text"] else []
        if kind == "image":
            return self._image(block["attachment"], place)
        if kind in ("reasoning", "tool-call"):
            return []
        raise _unsupported(f"user/tool-result content {kind}", place)

    def _image(self, reference: Json, place: tuple[str, int]) -> list[Json]:
        handle = {"type": "text", "text": self._images.handle(reference)}
        if self._images.mode == "inline":
            image = self._images.load(reference)
            source = {
                "type": "base64",
                "media_type": image.media_type,
                "data": base64_data(image),
            }
            return [handle, {"type": "image", "source": source}]
        file_id = self._images.file_id(reference)
        if file_id is None:
            raise failure("messages/missing-file-id", path=jsonvalue.pointer(*place))
        return [handle, {"type": "image", "source": {"type": "file", "file_id": file_id}}]


def _assistant(block: Json, signature: str | None, place: tuple[str, int]) -> list[Json]:
    make = _ASSISTANT.get(block["type"])
    if make is None:
        raise _unsupported(f"assistant content {block['type']}", place)
    made = make(block)
    if made is not None and signature is not None:
        made["signature"] = signature
    return [] if made is None else [made]


def _text(block: Json) -> Json | None:
    return {"type": "text", "text": block["text"]} if block["text"] else None


def _thinking(block: Json) -> Json:
    return {"type": "thinking", "thinking": block["text"]}


def _tool_use(block: Json) -> Json:
    return {
        "type": "tool_use",
        "id": block["id"],
        "name": block["name"],
        "input": parse_arguments(block["arguments"]),
    }


def parse_arguments(arguments: str) -> Json:
    """The arguments of a call as JavaScript parses them; `{}` if they are no JSON object."""
    try:
        value = jsonvalue.loads(arguments)
    except JsonError:
        return {}
    return value if isinstance(value, dict) else {}


def _change(block: Json, place: tuple[str, int]) -> Json | None:
    if block["type"] == "text":
        return _text(block)
    if block["type"] not in _TOOL_CHANGES:
        raise _unsupported(f"developer content {block['type']}", place)
    kind = block["type"].replace("-", "_")
    return {"type": kind, "tool": {"type": "tool_reference", "name": block["toolName"]}}


def _pair(turns: Sequence[_Turn]) -> None:
    """Hold each call against its result, and put the results of a user turn first."""
    pending: set[str] = set()
    for turn in turns:
        if turn.role == "assistant":
            pending = _calls(turn)
        elif turn.role == "user":
            _answer(turn, pending)
    if pending:
        raise failure("messages/unresolved-calls", path=jsonvalue.pointer(*turns[-1].place))


def _calls(turn: _Turn) -> set[str]:
    calls = [block["id"] for block in turn.blocks if block["type"] == "tool_use"]
    if len(set(calls)) < len(calls):
        raise failure("messages/duplicate-call", path=jsonvalue.pointer(*turn.place))
    return set(calls)


def _answer(turn: _Turn, pending: set[str]) -> None:
    results = [block for block in turn.blocks if block["type"] == "tool_result"]
    for result in results:
        if result["tool_use_id"] not in pending:
            raise failure("messages/unmatched-result", path=jsonvalue.pointer(*turn.place))
        pending.remove(result["tool_use_id"])
    if pending:
        raise failure("messages/late-results", path=jsonvalue.pointer(*turn.place))
    turn.blocks = results + [block for block in turn.blocks if block["type"] != "tool_result"]


def _unsupported(what: str, place: tuple[str, int]) -> Exception:
    return failure("messages/unsupported-content", path=jsonvalue.pointer(*place), what=what)


_ASSISTANT: Mapping[str, Callable[[Json], Json | None]] = {
    "text": _text,
    "reasoning": _thinking,
    "tool-call": _tool_use,
}
