"""The wire `pi-ai`: the context that the library of this name takes, for models of other providers.

What the library makes of it is its own business. Two prompts arrive here: `options.system`, and the
system messages of the history; a release says how they become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, takewhile
from typing import Any, Literal

from dsh_protocol import jsonvalue

from ._images import AttachmentStore, ImageBudgetError, Images, base64_data, offload_count
from ._pi_ai_assistant import assistant
from ._projection import origins, project
from ._shape import check_options
from ._texts import failure, text

Json = dict[str, Any]
_CHANGES = frozenset({"tool-addition", "tool-removal"})


def serialize(
    options: Mapping[str, Any], route: Mapping[str, Any], attachments: AttachmentStore | None = None
) -> Json:
    """The context of a request: `systemPrompt`, `messages` and `tools`, in this order.

    `options` is a `GenerateOptions`, `route` a `Route` of spec/wire, whose `formatVersion` chooses
    the release: format 4 keeps later system messages and tells tool changes; before, they become
    user messages, and format 2 knows no system message that leads.

    Raises:
        WireError: the request cannot be said (`UNSUPPORTED_CONTENT`, `UNSUPPORTED_OPTION`,
            `INVALID_REQUEST`), its options are malformed (`INVALID_OPTIONS`), or an image cannot be
            had (`INVALID_ATTACHMENT_REF`, `ATTACHMENT_NOT_FOUND`).
        ImageBudgetError: format 4: the images are above the budget.
    """
    check_options(options)
    version = 4 if route.get("formatVersion", 3) >= 4 else 3
    images = Images(route, attachments)
    known = route if version == 4 else {**route, "toolUpdate": None}
    request = project(options, known, images)
    if "stop" in options:
        raise failure("pi-ai/stop", path="/stop")
    if version == 4:
        request["tools"] = _with_placeholder(request, route.get("toolUpdate"))
    history: list[Json] = request["messages"]
    origin = origins(options["messages"], history)
    paths = [jsonvalue.pointer("messages", place) for place in origin]
    seen = [path for path, m in zip(paths, history, strict=True) if any(_references([m]))]
    if seen and not images.accepted:
        raise failure("pi-ai/no-vision", path=seen[0], model=options["model"])
    if seen and not images.available:
        raise failure("pi-ai/no-attachments", path=seen[0])
    _check_history(history, paths, version)
    prompt, history = _prompt(request, route.get("formatVersion", 3))
    if seen:
        history = _within_budget(history, route, images, version)
    writer = _Writer(images, request, version)
    for message, path in zip(history, paths[-len(history) :], strict=False):
        writer.add(message, path)
    tools = [_tool(tool) for tool in request.get("tools") or () if not tool.get("deferLoading")]
    context: Json = {} if prompt is None else {"systemPrompt": prompt}
    context["messages"] = writer.messages
    return {**context, "tools": tools} if tools else context


def declared_updates(api: str, compat: Mapping[str, Any]) -> Json:
    """What a model's compatibility data declare in format 4: members `systemPromptUpdate` and `toolUpdate` of a `Route`."""
    if not compat.get("supportsMidConvoSystemMessages"):
        return {}
    mode = _tool_mode(api, compat)
    declared: Json = {"systemPromptUpdate": "in-history"}
    return declared if mode is None else {**declared, "toolUpdate": mode}


_ADDING_APIS = frozenset({"openai-responses", "azure-openai-responses", "openai-codex-responses"})


def _tool_mode(
    api: str, compat: Mapping[str, Any]
) -> Literal["in-history", "addition-only"] | None:
    if api == "anthropic-messages":
        return "in-history" if compat.get("supportsMidConvoToolChanges") else None
    if api == "openai-completions":
        return "addition-only" if compat.get("supportsMidConvoToolAdditions") else None
    if api not in _ADDING_APIS:
        return None
    searches = compat.get("supportsAdditionalTools") or compat.get("supportsToolSearch")
    return "addition-only" if searches else None


def _with_placeholder(request: Json, mode: str | None) -> list[Json]:
    """The tools, behind one that is not deferred when all are: the endpoint wants one."""
    tools: list[Json] = request.get("tools") or []
    changes = any(
        block["type"] in _CHANGES
        for message in request["messages"]
        if message["role"] == "developer"
        for block in message["content"]
    )
    if mode != "in-history" or not changes or not all(t.get("deferLoading") for t in tools):
        return tools
    placeholder = {
        "name": text("pi-ai/placeholder-name"),
        "description": text("pi-ai/placeholder-description"),
        "parameters": {"type": "object", "properties": {}},
    }
    return [placeholder, *tools]


def _check_history(history: Sequence[Json], paths: Sequence[str], version: int) -> None:
    allowed = ("user", "tool") if version == 4 else ("user",)
    for message, path in zip(history, paths, strict=True):
        kinds = {block["type"] for block in message["content"]}
        role = message["role"]
        if version == 4 and role != "developer" and kinds & _CHANGES:
            raise failure("pi-ai/tool-change-role", path=path)
        if role not in allowed and any(_references([message])):
            raise failure("pi-ai/image-role", path=path, role=role)
        if version == 4 and role == "system" and kinds - {"text"}:
            raise failure("pi-ai/system-content", path=path)


def _prompt(request: Json, format_version: int) -> tuple[str | None, list[Json]]:
    """The system prompt (null: none), and the messages that are left."""
    messages: list[Json] = request["messages"]
    own: str | None = request.get("system")
    if format_version < 3:
        return own, messages
    leading = [_join(m) for m in takewhile(lambda m: m["role"] == "system", messages)]
    if format_version >= 4:
        said = "\n\n".join(filter(None, [own, *leading]))
        return said or None, messages[len(leading) :]
    if own is not None or not leading:
        return own, messages
    return leading[0] or None, messages[1:]


def _within_budget(
    history: list[Json], route: Mapping[str, Any], images: Images, version: int
) -> list[Json]:
    """The history with a text for each image that stays out; there is no bound on their number."""
    limit = route.get("maxInlineRequestImageBytes")

    def excess(messages: Sequence[Json], *, declared: bool) -> int:
        measured = (_length(images, ref, declared=declared) for ref in _references(messages))
        lengths = [4 * -(-size // 3) for size in measured]
        return offload_count(
            lengths, max_count=None, max_bytes=limit, count_quantum=1, byte_quantum=1
        )

    if version == 4:
        history = _left_out(history, images, lambda block: block.get("offloaded") is True)
        if number := excess(history, declared=False):
            raise ImageBudgetError(failure("pi-ai/image-budget", limit=limit, count=number), number)
        return history
    for declared in (True, False):
        history = _left_out(history, images, _oldest(excess(history, declared=declared)))
    return history


def _length(images: Images, reference: Json, *, declared: bool) -> int:
    return images.length(reference, "declared" if declared else "raw")


def _oldest(number: int) -> Callable[[Json], bool]:
    asked = count()
    return lambda _: next(asked) < number


def _left_out(history: Sequence[Json], images: Images, goes: Callable[[Json], bool]) -> list[Json]:
    def kept(block: Json) -> Json:
        if block["type"] == "tool-result":
            return {**block, "content": [kept(inner) for inner in block["content"]]}
        if block["type"] != "image" or not goes(block):
            return block
        return {"type": "text", "text": images.offloaded(block["attachment"])}

    return [{**m, "content": [kept(block) for block in m["content"]]} for m in history]


def _references(messages: Sequence[Json]) -> Iterator[Json]:
    """The references of the images, depth first."""
    for message in messages:
        for block in message["content"]:
            if block["type"] == "image":
                yield block["attachment"]
            elif block["type"] == "tool-result":
                yield from _references([block])


class _Writer:
    """Messages of a context, one after the other."""

    def __init__(self, images: Images, request: Json, version: int) -> None:
        self.messages: list[Json] = []
        self._images = images
        self._version = version
        self._tools = {tool["name"]: tool for tool in reversed(request.get("tools") or [])}
        self._names: dict[str, str] = {}

    def add(self, message: Json, path: str) -> None:
        """Take in the next message of the history; `path` is where the options have it."""
        role = message["role"]
        if role == "system":
            self._system(message)
        elif role == "assistant":
            told = assistant(message, self._version)
            calls = (block for block in told["content"] if block["type"] == "toolCall")
            self._names |= {call["id"]: call["name"] for call in calls}
            self.messages.append(told)
        elif role == "developer":
            self._developer(message, path)
        elif role == "tool":
            self._result(message, message["content"])
        else:
            self._user(message["content"])

    def _system(self, message: Json) -> None:
        said = _join(message)
        if self._version == 4 and not said:
            return
        role = "system" if self._version == 4 else "user"
        self.messages.append({"role": role, "content": said, "timestamp": 0})

    def _developer(self, message: Json, path: str) -> None:
        if self._version < 4:
            return
        content, added, removed = [], [], []
        for block in message["content"]:
            if block["type"] == "text":
                content += [{"type": "text", "text": block["text"]}] if block["text"] else []
            elif block["type"] == "tool-addition":
                added.append(self._declared(block["toolName"], path))
            elif block["type"] == "tool-removal":
                removed.append({"name": block["toolName"]})
            else:
                raise failure("pi-ai/developer-content", path=path, type=block["type"])
        if not (content or added or removed):
            return
        told: Json = {"role": "system", "content": content, "timestamp": 0}
        told |= {"toolsAdded": added} if added else {}
        self.messages.append({**told, "toolsRemoved": removed} if removed else told)

    def _declared(self, name: str, path: str) -> Json:
        if name not in self._tools:
            raise failure("pi-ai/undeclared-tool", path=path, name=name)
        return _tool(self._tools[name])

    def _user(self, blocks: Sequence[Json]) -> None:
        results = [block for block in blocks if block["type"] == "tool-result"]
        content = self._content([block for block in blocks if block["type"] != "tool-result"])
        if content or not results:
            self.messages.append({"role": "user", "content": content, "timestamp": 0})
        for block in results:
            self._result(block, block["content"])

    def _result(self, result: Json, blocks: Sequence[Json]) -> None:
        content = self._content(blocks)
        if isinstance(content, str):
            content = [{"type": "text", "text": content or text("chat/no-output")}]
        call = result["toolCallId"]
        told = {
            "role": "toolResult",
            "toolCallId": call,
            "toolName": self._names.get(call, "unknown"),
        }
        end = {"content": content, "isError": result.get("isError", False), "timestamp": 0}
        self.messages.append({**told, **end})

    def _content(self, blocks: Sequence[Json]) -> str | list[Json]:
        """The parts, or a text when none is an image."""
        parts = [part for block in blocks for part in self._parts(block)]
        if all(part["type"] == "text" for part in parts):
            return "".join(part["text"] for part in parts)
        return parts

    def _parts(self, block: Json) -> list[Json]:
        if block["type"] == "text":
            return [{"type": "text", "text": block["text"]}] if block["text"] else []
        if block["type"] == "tool-result":
            nested = self._content(block["content"])
            if isinstance(nested, str):
                return [{"type": "text", "text": nested}] if nested else []
            return nested
        if block["type"] != "image":
            return []
        image = self._images.load(block["attachment"])
        handle = {"type": "text", "text": self._images.handle(block["attachment"])}
        data = {"type": "image", "data": base64_data(image), "mimeType": image.media_type}
        return [handle, data]


def _tool(tool: Json) -> Json:
    return {name: tool[name] for name in ("name", "description", "parameters")}


def _join(message: Json) -> str:
    return "".join(block["text"] for block in message["content"] if block["type"] == "text")
