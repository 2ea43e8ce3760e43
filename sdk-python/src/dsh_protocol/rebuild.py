"""From a request of a log to the exact bytes that were sent for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .dialect import dialect
from .findings import UsageError
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
    version = log.dialect.version
    if request.header is None:
        raise UsageError(
            "requests/no-header",
            f"no request/header stands before seq {request.seq}, so the model is not known",
            fix="Only requests after a request/header can be rebuilt.",
            seq=request.seq,
        )
    config = request.header["config"]
    merged = logged_route(version, config["provider"], config["model"], request.context, route)
    body = serialize(
        wire or dialect(version).default_wire, request.options(merged), merged, attachments
    )
    if with_session_log:
        body = with_extensions(body, _session_log_member(log, request))
    return dumps(body)
