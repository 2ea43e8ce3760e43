"""Make messages: with an id, the source and the member order that the released runtime gives them in the target format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias
from uuid import uuid4

from dsh_protocol.dialect import Dialect
from dsh_protocol.findings import UsageError

Json: TypeAlias = dict[str, Any]
Content: TypeAlias = "str | Sequence[Mapping[str, Any]]"
NewId: TypeAlias = Callable[[], str]

_USER = "user/message"
_ASSISTANT = "assistant/message"
_TOOL_RESULT = "tool/result"
_ADDITION = "tool-addition"
_REMOVAL = "tool-removal"


def random_id() -> str:
    """A new id as the released runtime makes them: a random UUID in lower case."""
    return str(uuid4())


class Messages:
    """Makes messages for one format. Content is a text, which becomes one text block, or a list of blocks.

    Blocks are taken as they are; `Session.append` copies and checks them.
    """

    __slots__ = ("_dialect", "_new_id")

    def __init__(self, dialect: Dialect, new_id: NewId = random_id) -> None:
        self._dialect = dialect
        self._new_id = new_id

    def user_message(
        self, content: Content, *, source: Mapping[str, Any] | None = None, id: str | None = None
    ) -> Json:
        """A user message; `source` (default `{"kind": "user"}`) says which producer it comes from."""
        return {
            "content": _blocks(content),
            "source": {"kind": "user"} if source is None else source,
            "role": "user",
            "id": self._id(id),
        }

    def system_message(self, content: Content = "", *, id: str | None = None) -> Json:
        """The system prompt, or without a text the message that reserves its place on the surface."""
        return {
            "role": "system",
            "content": _blocks(content) if content else [],
            "source": dict(self._dialect.system_source),
            "id": self._id(id),
        }

    def assistant_message(
        self,
        content: Content,
        *,
        provider: str,
        model: str,
        replay_state: Any = None,
        id: str | None = None,
    ) -> Json:
        """An answer of a model. `replay_state` is left out when it is null."""
        source: Json = {"kind": "model", "provider": provider, "model": model}
        if replay_state is not None:
            source["replayState"] = replay_state
        content = _blocks(content) if content else []
        return {"role": "assistant", "content": content, "source": source, "id": self._id(id)}

    def tool_result(
        self, call_id: str, content: Content, *, is_error: bool = False, id: str | None = None
    ) -> Json:
        """What a tool returned for a call: of role `tool` in format 4, wrapped in a block of a user message in format 3."""
        source = {"kind": "tool", "callId": call_id}
        result = {"toolCallId": call_id, "content": _blocks(content), "isError": is_error}
        if self._dialect.tool_result_shape == "tool-role":
            return {"role": "tool", "source": source, **result, "id": self._id(id)}
        block = {"type": "tool-result", **result}
        return {"source": source, "content": [block], "role": "user", "id": self._id(id)}

    def developer_message(
        self, *, added: Iterable[str] = (), removed: Iterable[str] = (), id: str | None = None
    ) -> Json:
        """The tool changes since the last request, by name (format 4).

        Raises:
            UsageError: `session/no-developer-messages`: format 3 does not have them.
        """
        if "developer/message" not in self._dialect.surface_types:
            raise UsageError(
                "session/no-developer-messages",
                f"format {self._dialect.version} has no developer messages",
                fix="Append a request/header with the tools; it says everything in this format.",
            )
        additions = [{"type": _ADDITION, "toolName": name} for name in added]
        removals = [{"type": _REMOVAL, "toolName": name} for name in removed]
        return {
            "source": {"kind": "tool-registry"},
            "content": [*additions, *removals],
            "role": "developer",
            "id": self._id(id),
        }

    def _id(self, given: str | None) -> str:
        return self._new_id() if given is None else given


def _blocks(content: Content) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def surface_event(
    dialect: Dialect,
    message: Mapping[str, Any],
    turn: int | None,
    step: int | None,
    members: Mapping[str, Any],
) -> tuple[str, Json]:
    """The event type that a message belongs to, and the data of the event.

    Raises:
        UsageError: `session/message-role`: no event carries such a message. `session/no-open-step`: the event
            belongs into a step, and none is open.
    """
    kind = _event_type(dialect, message)
    if kind == _USER:
        return kind, {**message, **members}
    if turn is None or step is None:
        raise UsageError(
            "session/no-open-step",
            f"{kind} belongs into a step, and none is open",
            fix="Append turn/start and step/start first.",
        )
    data = {"turn": turn, "step": step, "message": message, **members}
    if kind == _ASSISTANT:
        data.setdefault("stream", [])
    return kind, data


def _event_type(dialect: Dialect, message: Mapping[str, Any]) -> str:
    role, source = message.get("role"), message.get("source")
    # In format 3 results have the role of users.
    if isinstance(source, Mapping) and source.get("kind") == "tool":
        return _TOOL_RESULT
    for kind, its_role in dialect.roles.items():
        if role == its_role and kind != _TOOL_RESULT:
            return kind
    raise UsageError(
        "session/message-role",
        f"no event of format {dialect.version} carries a message of role {role!r}",
        fix="Make the message with the methods of Session.make.",
    )
