"""Wires: how a model request is written for an endpoint, and how its response is read.

A serializer is a pure function of the request's options (`GenerateOptions`), of what its route
declares (`Route`) and of the attachment store. The text of a body is `jsonvalue.dumps` of the
result. A stream parser makes chunks (`StreamChunk`) of the server-sent events of a response.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from dsh_protocol.findings import UsageError

from . import chat, messages, pi_ai
from ._failures import ModelCallError, failed, failed_finish, failure_of, http_failure
from ._images import AttachmentStore, DirectoryAttachments, ImageBudgetError, RequestImage
from ._parsing import StreamParser
from ._texts import failure
from .chat_stream import ChatParser
from .messages_stream import MessagesParser
from .routes import declared_route, logged_route

__all__ = [
    "WIRES",
    "AttachmentStore",
    "DirectoryAttachments",
    "ImageBudgetError",
    "ModelCallError",
    "RequestImage",
    "Serializer",
    "StreamParser",
    "declared_route",
    "failed",
    "failed_finish",
    "failure_of",
    "http_failure",
    "logged_route",
    "serialize",
    "stream_parser",
    "with_extensions",
]

Serializer = Callable[
    [Mapping[str, Any], Mapping[str, Any], AttachmentStore | None], dict[str, Any]
]

WIRES: Mapping[str, Serializer] = MappingProxyType(
    {
        "deepseek-messages": messages.serialize,
        "deepseek-chat": chat.serialize,
        "pi-ai": pi_ai.serialize,
    }
)
"""Every wire by name. What `pi-ai` gives is no body, but the context that a library takes."""


def serialize(
    wire: str,
    options: Mapping[str, Any],
    route: Mapping[str, Any],
    attachments: AttachmentStore | None = None,
) -> dict[str, Any]:
    """The body of a request on a wire, its members in the order they are sent.

    Raises:
        UsageError: `wire/unknown`: no wire has this name.
        WireError: the wire cannot say the request; its `code` is the protocol's failure code.
    """
    return _serializer(wire)(options, route, attachments)


def stream_parser(wire: str, *, model: str, base_url: str = "") -> StreamParser:
    """A parser for one response on a wire.

    `model` is the requested model, which replay state names; `base_url` is named by failures.

    Raises:
        UsageError: `wire/unknown`: no wire with responses has this name.
    """
    if wire == "deepseek-chat":
        return ChatParser(base_url)
    if wire == "deepseek-messages":
        return MessagesParser(model)
    raise _unknown(wire, ("deepseek-messages", "deepseek-chat"))


def with_extensions(body: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The body with extension members at its end, in the order of `fields`.

    Raises:
        WireError: `REQUEST_EXTENSION`: the body has a member of that name.
    """
    for name in fields:
        if name in body:
            raise failure("extension/collision", field=name)
    return {**body, **fields}


def _serializer(wire: str) -> Serializer:
    if wire not in WIRES:
        raise _unknown(wire, WIRES)
    return WIRES[wire]


def _unknown(wire: str, known: Iterable[str]) -> UsageError:
    fix = f"Use one of {', '.join(known)}."
    return UsageError("wire/unknown", f'no wire is called "{wire}"', fix=fix)
