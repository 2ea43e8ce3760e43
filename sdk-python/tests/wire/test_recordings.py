"""Every recorded request is rebuilt from the log, byte for byte."""

from __future__ import annotations

from typing import Any

from dsh_protocol import jsonvalue
from dsh_protocol.wire import DirectoryAttachments, logged_route, serialize
from dsh_protocol.wire.session_log import sent_events, session_log

WIRE = {3: "deepseek-chat", 4: "deepseek-messages"}


def body_of(recorded: Any, options: dict[str, Any]) -> str:
    route = logged_route(
        recorded.version,
        options["provider"],
        options["model"],
        recorded.context,
        recorded.route(),
    )
    store = DirectoryAttachments(recorded.attachments)
    return jsonvalue.dumps(serialize(WIRE[recorded.version], options, route, store))


def test_body_equals_recorded_text(recorded: Any) -> None:
    assert body_of(recorded, recorded.options()) == recorded.body


def test_prompt_as_option_or_as_leading_message(recorded: Any) -> None:
    options = recorded.options()
    first, *rest = options["messages"]
    assert first["role"] == "system"
    prompt = "".join(block["text"] for block in first["content"])
    assert body_of(recorded, {**options, "system": prompt, "messages": rest}) == recorded.body


def test_session_log_equals_recorded_text(recorded: Any) -> None:
    if recorded.version == 3:
        assert recorded.session_log is None
        return
    member = session_log(
        recorded.log.header,
        sent_events(recorded.prefix),
        inherited_event_count=recorded.log.inherited,
    )
    assert member is not None
    assert jsonvalue.dumps(member) == recorded.session_log
