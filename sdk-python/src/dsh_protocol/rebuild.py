"""From a request of a log to the exact bytes that were sent for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .jsonvalue import dumps
from .requests import ModelRequest
from .rows import Log
from .wire import AttachmentStore, logged_route, serialize, with_extensions
from .wire.session_log import sent_events, session_log


def request_body(
    log: Log,
    request: ModelRequest,
    *,
    wire: str | None = None,
    route: Mapping[str, Any] | None = None,
    attachments: AttachmentStore | None = None,
    with_session_log: bool = False,
) -> str:
    """The text of the request's body, without a line feed.

    `wire` defaults to the one that the log's format was released with. `route` overrides members of the declared
    route (`Route` of `spec/wire/`). `with_session_log` adds the `dsh_session_log` member.

    Raises:
        UsageError: `wire/unknown` (no such wire), `requests/no-header` (nothing in the log says which model was asked).
        WireError: the wire cannot say the request.
    """
    options = request.options()
    merged = logged_route(
        log.dialect.version, options["provider"], options["model"], request.context, route
    )
    body = serialize(wire or log.dialect.default_wire, options, merged, attachments)
    if with_session_log:
        member = session_log_member(log, request)
        body = with_extensions(body, {} if member is None else {"dsh_session_log": member})
    return dumps(body)


def session_log_member(log: Log, request: ModelRequest) -> dict[str, Any] | None:
    """The `dsh_session_log` member that was sent with a request; null when there was nothing left to send."""
    before = [event.value for event in log.events[: request.seq]]
    return session_log(
        log.header.value,
        sent_events(before),
        inherited_event_count=request.inherited_event_count,
    )
