"""Wires: how a model request is written for an endpoint.

A serializer is a pure function of the request's options (`GenerateOptions`), of what its route
declares (`Route`) and of the attachment store. The text of a body is `jsonvalue.dumps` of the
result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from dsh_protocol.findings import UsageError

from . import chat, messages
from ._images import AttachmentStore, DirectoryAttachments, ImageBudgetError, RequestImage
from ._texts import failure
from .routes import declared_route, logged_route

__all__ = [
    "WIRES",
    "AttachmentStore",
    "DirectoryAttachments",
    "ImageBudgetError",
    "RequestImage",
    "Serializer",
    "declared_route",
    "logged_route",
    "serialize",
    "with_extensions",
]

Serializer = Callable[
    [Mapping[str, Any], Mapping[str, Any], AttachmentStore | None], dict[str, Any]
]

WIRES: Mapping[str, Serializer] = MappingProxyType(
    {"deepseek-messages": messages.serialize, "deepseek-chat": chat.serialize}
)
"""Every wire by name."""


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
    serializer = WIRES.get(wire)
    if serializer is None:
        names = ", ".join(WIRES)
        raise UsageError("wire/unknown", f'no wire is called "{wire}"', fix=f"Use one of {names}.")
    return serializer(options, route, attachments)


def with_extensions(body: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The body with extension members at its end, in the order of `fields`.

    Raises:
        WireError: `REQUEST_EXTENSION`: the body has a member of that name.
    """
    for name in fields:
        if name in body:
            raise failure("extension/collision", field=name)
    return {**body, **fields}
