"""Messages as the released runtime makes them, compared with those that it has recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from recorded import recorded
from sessions import new_session

from dsh_protocol.dialect import dialect
from dsh_protocol.findings import UsageError
from dsh_protocol.jsonvalue import dumps
from dsh_protocol.rows import open_log
from dsh_protocol.session import Messages

Json = dict[str, Any]


def _surface_events(version: int) -> Iterator[tuple[str, Json]]:
    spoken = dialect(version)
    for entry in recorded((f"v{version}",)):
        for event in open_log(entry.log).events:
            if event.type in spoken.surface_types:
                yield event.type, event.data


def _again(make: Messages, kind: str, message: Json) -> Json:
    """The same message, made from what it says."""
    content, source = message["content"], message["source"]
    if kind == "user/message":
        return make.user_message(content, source=source)
    if kind == "system/message":
        return make.system_message(content)
    if kind == "assistant/message":
        more = {name: source[name] for name in ("provider", "model")}
        return make.assistant_message(content, replay_state=source.get("replayState"), **more)
    if kind == "developer/message":
        names = {"tool-addition": [], "tool-removal": []}  # type: dict[str, list[str]]
        for block in content:
            names[block["type"]].append(block["toolName"])
        return make.developer_message(added=names["tool-addition"], removed=names["tool-removal"])
    result = message if "toolCallId" in message else content[0]
    return make.tool_result(result["toolCallId"], result["content"], is_error=result["isError"])


@pytest.mark.parametrize("version", [3, 4])
def test_every_recorded_message_is_made_again_byte_for_byte(version: int) -> None:
    kinds = set()
    for kind, data in _surface_events(version):
        message = data if kind == "user/message" else data["message"]
        make = Messages(dialect(version), lambda message=message: message["id"])  # type: ignore[misc]
        assert dumps(_again(make, kind, message)) == dumps(message)
        kinds.add(kind)
    assert kinds == dialect(version).surface_types


def test_ids_are_random_uuids_in_lower_case() -> None:
    make = Messages(dialect(4))
    ids = {make.user_message("x")["id"] for _ in range(20)}
    assert len(ids) == 20
    shape = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    assert all(shape.fullmatch(id_) for id_ in ids)
    assert make.user_message("x", id="mine")["id"] == "mine"


def test_a_text_is_one_block_and_no_prompt_is_none() -> None:
    make = Messages(dialect(4))
    assert make.user_message("")["content"] == [{"type": "text", "text": ""}]
    assert make.system_message()["content"] == []
    assert make.assistant_message("", provider="p", model="m")["content"] == []


def test_format_3_has_no_developer_messages() -> None:
    with pytest.raises(UsageError) as caught:
        Messages(dialect(3)).developer_message(added=["shell"])
    assert caught.value.code == "session/no-developer-messages"


@pytest.mark.parametrize("version", [3, 4])
def test_a_message_goes_into_the_event_that_its_role_asks_for(version: int) -> None:
    session = new_session(version)
    make = session.make
    with pytest.raises(UsageError) as caught:
        session.append_message(make.system_message("x"))
    assert caught.value.code == "session/no-open-step"
    session.append("turn/start", {"turn": 1})
    session.append("step/start", {"turn": 1, "step": 1})
    session.append_message(make.system_message("x"))
    session.append_message(make.user_message("x"))
    call = {"type": "tool-call", "id": "c1", "name": "n", "arguments": "{}"}
    usage = {"inputTokens": 1, "outputTokens": 1}
    answer = make.assistant_message([call], provider="p", model="m")
    session.append_message(answer, usage=usage)
    session.append(
        "tool/call", {"turn": 1, "step": 1, "callId": "c1", "name": "n", "arguments": "{}"}
    )
    session.append_message(
        make.tool_result("c1", "y", is_error=True), error={"name": "N", "code": "C"}
    )
    kinds = ["system/message", "user/message", "assistant/message", "tool/call", "tool/result"]
    assert [event.type for event in session.events[2:]] == kinds
    assert list(session.events[4].data) == ["turn", "step", "message", "usage", "stream"]
    assert session.events[6].source_event_seqs == [5]
    assert list(session.events[6].data) == ["turn", "step", "message", "error"]
    with pytest.raises(UsageError) as caught:
        session.append_message({"role": "nobody"})
    assert caught.value.code == "session/message-role"
