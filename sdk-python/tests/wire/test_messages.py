"""The wire `deepseek-messages`, row by row. Expected: what the adapter of 0.2.1-rc.2 gives."""

from __future__ import annotations

from typing import Any

import pytest
from wire_builders import (
    IMAGE_ID,
    OTHER_ID,
    Store,
    addition,
    assistant,
    call,
    developer,
    file,
    image,
    options,
    reasoning,
    removal,
    result_block,
    schema,
    system,
    text,
    tool,
    user,
)

from dsh_protocol import jsonvalue
from dsh_protocol.findings import WireError
from dsh_protocol.wire import ImageBudgetError, RequestImage, serialize

Json = dict[str, Any]

IN_HISTORY = {"systemPromptUpdate": "in-history"}
VISION = {"inputModalities": ["text", "image"]}
HANDLE = "It may be resized or re-encoded; source dimensions, format, and byte size may differ."


def body(*messages: Json, route: Json | None = None, store: Any = None, **more: Any) -> Json:
    return serialize("deepseek-messages", options(*messages, **more), route or {}, store)


def wire(*messages: Json, route: Json | None = None, store: Any = None) -> list[Json]:
    found: list[Json] = body(*messages, route=route, store=store)["messages"]
    return found


def said(role: str, *content: Json) -> Json:
    return {"role": role, "content": list(content)}


def result(id_: str, *content: Json, **more: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": id_, "content": list(content), **more}


def use(id_: str, **arguments: Any) -> Json:
    return {"type": "tool_use", "id": id_, "name": "bash", "input": arguments}


def refused(
    *messages: Json, route: Json | None = None, store: Any = None, **more: Any
) -> WireError:
    with pytest.raises(WireError) as caught:
        body(*messages, route=route, store=store, **more)
    return caught.value


# ---- Whole bodies --------------------------------------------------------------------------------


def test_worked_example() -> None:
    replay = {
        "response": {"kind": "deepseek-messages", "version": 1, "model": "deepseek-flash"},
        "blocks": [{"type": "reasoning", "signature": "c2ln"}, {"type": "tool-call"}],
    }
    parameters = {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    }
    bash = {"name": "bash", "description": "Run a command.", "parameters": parameters}
    empty = {"type": "object", "properties": {}}
    grep = {"name": "grep", "description": "Search.", "parameters": empty}
    request = options(
        system(text("Be brief.")),
        user(text("List files.")),
        user(text("ctx")),
        assistant(
            reasoning("Need ls."),
            call("call_1", '{"command": "ls", "n": 1.0}'),
            model="deepseek-flash",
            replay=replay,
        ),
        tool("call_1", text("a.txt"), isError=False),
        assistant(text("One: a.txt"), model="deepseek-flash"),
        system(text("Be very brief.")),
        user(text("Thanks ☕.")),
        developer(addition("grep")),
        model="deepseek-flash",
        tools=[bash, grep],
        toolHistory={"tools": [bash], "updates": [{"messageId": "d", "additions": [grep]}]},
    )
    route = {**IN_HISTORY, "toolUpdate": "addition-only"}
    assert jsonvalue.dumps(serialize("deepseek-messages", request, route)) == (
        '{"model":"deepseek-flash","stream":true,"messages":[{"role":"user","content":[{"type":'
        '"text",'
        '"text":"List files."},{"type":"text","text":"ctx"}]},{"role":"assistant","content":[{'
        '"type":'
        '"thinking","thinking":"Need ls.","signature":"c2ln"},{"type":"tool_use","id":"call_1",'
        '"name":'
        '"bash","input":{"command":"ls","n":1}}]},{"role":"user","content":[{"type":"tool_result",'
        '"tool_use_id":"call_1","content":[{"type":"text","text":"a.txt"}],"is_error":false}]},'
        '{"role":"assistant","content":[{"type":"text","text":"One: a.txt"}]},{"role":"user",'
        '"content":'
        '[{"type":"text","text":"Thanks ☕."}]},{"role":"system","content":[{"type":"text","text":'
        '"Be very brief."}]},{"role":"system","content":[{"type":"tool_addition","tool":{"type":'
        '"tool_reference","name":"grep"}}]}],"max_tokens":256000,"thinking":{"type":"enabled"},'
        '"output_config":{"effort":"high"},"system":"Be brief.","tools":[{"name":"bash",'
        '"description":'
        '"Run a command.","input_schema":{"type":"object","properties":{"command":{"type":'
        '"string"}},'
        '"required":["command"]}},{"name":"grep","description":"Search.","input_schema":{"type":'
        '"object","properties":{}},"defer_loading":true}]}'
    )


def test_least_body() -> None:
    assert jsonvalue.dumps(body()) == (
        '{"model":"m","stream":true,"messages":[],"max_tokens":256000,"thinking":{"type":'
        '"enabled"},'
        '"output_config":{"effort":"high"}}'
    )


def test_all_members_in_order() -> None:
    full = body(
        user(text("x")),
        system="S",
        temperature=0,
        stop=[],
        tools=[schema("bash")],
        maxTokens=5,
        reasoningEffort="low",
        sessionId="s-1",
        purpose="compaction",
    )
    assert jsonvalue.dumps(full) == (
        '{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text",'
        '"text":"x"}]}],'
        '"max_tokens":5,"thinking":{"type":"enabled"},"output_config":{"effort":"low"},'
        '"system":"S",'
        '"temperature":0,"stop_sequences":[],"tools":[{"name":"bash","description":"The tool '
        'bash.",'
        '"input_schema":{}}]}'
    )


@pytest.mark.parametrize(
    ("request_limit", "route_limit", "sent"),
    [(5, 7, 5), (None, 7, 7), (None, None, 256000)],
)
def test_max_tokens(request_limit: int | None, route_limit: int | None, sent: int) -> None:
    route = {} if route_limit is None else {"maxTokens": route_limit}
    more = {} if request_limit is None else {"maxTokens": request_limit}
    assert body(route=route, **more)["max_tokens"] == sent


def test_tools_are_sent_when_there_is_a_list() -> None:
    assert "tools" not in body()
    assert body(tools=[])["tools"] == []
    assert "tools" not in body(route={"toolUpdate": "addition-only"})
    history: Json = {"tools": [], "updates": []}
    assert body(route={"toolUpdate": "addition-only"}, toolHistory=history)["tools"] == []
    deferred = [schema("b", deferLoading=True)]
    assert "defer_loading" not in body(tools=deferred)["tools"][0]


def test_options_stay_as_they_are() -> None:
    request = options(system(text("S")), user(text("x"), file()), tools=[schema("b")])
    before = jsonvalue.dumps(request)
    serialize("deepseek-messages", request, {})
    assert jsonvalue.dumps(request) == before


# ---- Thinking ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_effort", "route", "thinking", "output"),
    [
        (None, {}, "enabled", "high"),
        (None, {"thinking": "enabled"}, "enabled", "high"),
        (None, {"thinking": "disabled"}, "disabled", None),
        (None, {"reasoningEffort": "max"}, "enabled", "max"),
        ("low", {"reasoningEffort": "max"}, "enabled", "low"),
        ("high", {}, "enabled", "high"),
        ("max", {}, "enabled", "max"),
        ("off", {}, "disabled", None),
        ("off", {"thinking": "disabled"}, "disabled", None),
    ],
)
def test_thinking(
    request_effort: str | None, route: Json, thinking: str, output: str | None
) -> None:
    more = {} if request_effort is None else {"reasoningEffort": request_effort}
    # A title does not turn thinking off on this wire.
    sent = body(route=route, purpose="session-title", **more)
    assert sent["thinking"] == {"type": thinking}
    assert sent.get("output_config") == (None if output is None else {"effort": output})


@pytest.mark.parametrize(
    ("effort", "route"), [("zz", {}), ("", {}), ("high", {"thinking": "disabled"})]
)
def test_effort_refused(effort: str, route: Json) -> None:
    error = refused(reasoningEffort=effort, route=route)
    assert (error.code, error.path) == ("UNSUPPORTED_REASONING_EFFORT", "/reasoningEffort")
    assert error.message == f"DeepSeek Messages does not support reasoning effort {effort}"


# ---- Conversation mapping ------------------------------------------------------------------------

MAPPED: list[tuple[str, list[Json], list[Json]]] = [
    ("user text", [user(text("a"), text("b"))], [said("user", text("a"), text("b"))]),
    ("empty user text is skipped", [user(text(""), text("b"))], [said("user", text("b"))]),
    (
        "reasoning and calls of a user",
        [user(reasoning("r"), text("x"), call("c"))],
        [said("user", text("x"))],
    ),
    ("assistant text", [assistant(text("a"), text(""))], [said("assistant", text("a"))]),
    (
        "empty reasoning is kept",
        [assistant(reasoning(""))],
        [said("assistant", {"type": "thinking", "thinking": ""})],
    ),
    (
        "tool with content",
        [assistant(call("c")), tool("c", text("x"), text(""), isError=True)],
        [said("assistant", use("c")), said("user", result("c", text("x"), is_error=True))],
    ),
    (
        "tool without content",
        [assistant(call("c")), tool("c", reasoning("r"), call("d"))],
        [said("assistant", use("c")), said("user", result("c"))],
    ),
    (
        "a skipped message does not separate",
        [user(text("p")), assistant(text("")), user(text("x"))],
        [said("user", text("p"), text("x"))],
    ),
    (
        "users merge, blocks do not",
        [user(text("a")), user(text("b"))],
        [said("user", text("a"), text("b"))],
    ),
    (
        "assistants merge",
        [assistant(text("a")), assistant(text("b"))],
        [said("assistant", text("a"), text("b"))],
    ),
    (
        "results come first in their turn",
        [
            assistant(call("c"), call("d")),
            user(text("x")),
            tool("d"),
            user(text("y")),
            tool("c"),
        ],
        [
            said("assistant", use("c"), use("d")),
            said("user", result("d"), result("c"), text("x"), text("y")),
        ],
    ),
    ("history may start with an assistant", [assistant(text("a"))], [said("assistant", text("a"))]),
    (
        "message without id and source",
        [{"role": "user", "content": [text("Sum up.")]}],
        [said("user", text("Sum up."))],
    ),
]


@pytest.mark.parametrize(("name", "history", "sent"), MAPPED)
def test_mapping(name: str, history: list[Json], sent: list[Json]) -> None:
    assert wire(*history) == sent


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ("", "{}"),
        ("no json", "{}"),
        ("[1]", "{}"),
        ("null", "{}"),
        ('{"a":1} x', "{}"),
        ('{"command": "ls", "n": 1.0}', '{"command":"ls","n":1}'),
        ('{"b":1,"a":2,"2":1,"1":0,"b":3}', '{"1":0,"2":1,"b":3,"a":2}'),
        (
            '{"x":1e400,"y":-0,"w":12345678901234567890}',
            '{"x":null,"y":0,"w":12345678901234567000}',
        ),
        ('{"e":[1e21,1e-7,100e3]}', '{"e":[1e+21,1e-7,100000]}'),
        ('{"s":"\\ud800\\u00e9\\/"}', '{"s":"\\ud800é/"}'),
        ('{"__proto__":{"q":1}}', '{"__proto__":{"q":1}}'),
    ],
)
def test_arguments_are_parsed_as_javascript_does(arguments: str, sent: str) -> None:
    turns = wire(assistant(call("c", arguments)), tool("c"))
    assert jsonvalue.dumps(turns[0]["content"][0]["input"]) == sent


UNSUPPORTED: list[tuple[str, list[Json], str]] = [
    ("assistant content zzz", [assistant({"type": "zzz"})], "/messages/0"),
    ("user/tool-result content zzz", [user(text("x")), user({"type": "zzz"})], "/messages/1"),
    ("user/tool-result content tool-result", [user(result_block("c"))], "/messages/0"),
    (
        "user/tool-result content qq",
        [assistant(call("c")), tool("c", {"type": "qq"})],
        "/messages/1",
    ),
    ("non-text system message", [system(text("B"), reasoning("r"))], "/messages/0"),
    ("tool-change blocks outside developer messages", [user(addition("g"))], "/messages/0"),
    ("tool-change blocks outside developer messages", [system(removal("g"))], "/messages/0"),
]


@pytest.mark.parametrize(("what", "history", "path"), UNSUPPORTED)
def test_unsupported_content(what: str, history: list[Json], path: str) -> None:
    error = refused(*history)
    assert (error.code, error.path) == ("UNSUPPORTED_CONTENT", path)
    assert error.message == f"DeepSeek Messages cannot represent {what}"


def test_place_counts_the_messages_of_the_caller() -> None:
    # Without a mode the developer message is dropped before.
    assert (
        refused(user(text("x")), developer(addition("g")), user({"type": "zzz"})).path
        == "/messages/2"
    )


UNPAIRED: list[tuple[str, list[Json], str]] = [
    ("duplicate tool call id", [assistant(call("c"), call("c")), tool("c")], "/messages/0"),
    (
        "duplicate tool call id",
        [user(text("x")), assistant(call("c")), assistant(call("c")), tool("c")],
        "/messages/1",
    ),
    ("tool result has no matching call", [assistant(text("q")), tool("c")], "/messages/1"),
    (
        "tool result has no matching call",
        [assistant(call("c")), tool("c"), tool("c")],
        "/messages/1",
    ),
    ("tool result has no matching call", [tool("c")], "/messages/0"),
    ("tool calls need immediate results", [assistant(call("c")), user(text("x"))], "/messages/1"),
    (
        "tool calls need immediate results",
        [assistant(call("c"), call("d")), tool("c"), assistant(text("x"))],
        "/messages/1",
    ),
    ("history ends with unresolved tools", [assistant(call("c"))], "/messages/0"),
    (
        "history ends with unresolved tools",
        [assistant(call("c")), user(), assistant(text("b"))],
        "/messages/0",
    ),
]


@pytest.mark.parametrize(("what", "history", "path"), UNPAIRED)
def test_calls_and_results_pair(what: str, history: list[Json], path: str) -> None:
    error = refused(*history)
    assert (error.code, error.path) == ("INVALID_REQUEST", path)
    assert error.message == f"DeepSeek Messages {what}"


# ---- System prompt and updates -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("history", "route", "option", "prompt"),
    [
        ([system(text("B"))], {}, "A", "A\n\nB"),
        ([system(text("B"))], {}, "", "B"),
        ([system(text("a"), text("b"))], {}, None, "ab"),
        ([], {}, "A", "A"),
        ([system(text(""))], {}, "", None),
        ([system(text("B")), system(text("C"))], IN_HISTORY, None, "C"),
        ([system(text("B")), system(text(""))], IN_HISTORY, None, None),
        ([system(text("B")), user(text("x")), system(text("C"))], {}, None, "C"),
        ([system(text("B")), user(text("x")), system()], {}, None, None),
        ([user(text("")), system(text("C"))], IN_HISTORY, None, "C"),
    ],
)
def test_system_prompt(
    history: list[Json], route: Json, option: str | None, prompt: str | None
) -> None:
    more = {} if option is None else {"system": option}
    sent = body(*history, route=route, **more)
    assert sent.get("system") == prompt
    assert all(message["role"] == "user" for message in sent["messages"])


X, Y, Z = user(text("x")), assistant(text("y")), user(text("z"))
WIRE_X, WIRE_Y, WIRE_Z = (
    said("user", text("x")),
    said("assistant", text("y")),
    said("user", text("z")),
)
UPDATE = said("system", text("C"))


@pytest.mark.parametrize(
    ("history", "sent"),
    [
        ([X, system(text("C"))], [WIRE_X, UPDATE]),
        ([X, Y, system(text("C")), Z], [WIRE_X, WIRE_Y, WIRE_Z, UPDATE]),
        ([X, system(text("C")), Y, Z], [WIRE_X, UPDATE, WIRE_Y, WIRE_Z]),
        (
            [X, Y, system(text("C")), Z, system(text("D")), user(text("w")), Y],
            [
                WIRE_X,
                WIRE_Y,
                said("user", text("z"), text("w")),
                UPDATE,
                said("system", text("D")),
                WIRE_Y,
            ],
        ),
    ],
)
def test_updates_stand_after_the_user_turn(history: list[Json], sent: list[Json]) -> None:
    assert wire(system(text("A")), *history, route=IN_HISTORY) == sent


@pytest.mark.parametrize(
    ("history", "what", "path"),
    [
        ([X, system(text(""))], "empty in-history system update", "/messages/1"),
        (
            [X, Y, system(text("C"))],
            "system update without a preceding user or tool-result turn",
            "/messages/2",
        ),
        (
            [X, Y, system(text("C")), Y],
            "system update without a preceding user or tool-result turn",
            "/messages/2",
        ),
    ],
)
def test_updates_refused(history: list[Json], what: str, path: str) -> None:
    error = refused(*history, route=IN_HISTORY)
    assert (error.code, error.path) == ("UNSUPPORTED_CONTENT", path)
    assert error.message == f"DeepSeek Messages cannot represent {what}"


HISTORY = {"tools": [schema("old")], "updates": [{"messageId": "d", "additions": [schema("g")]}]}
CHANGES = {"tools": [schema("g")], "toolHistory": HISTORY}


def test_developer_message() -> None:
    change = developer(text(""), text("q"), addition("g"), removal("old"))
    sent = body(
        X, change, system(text("C")), route={**IN_HISTORY, "toolUpdate": "in-history"}, **CHANGES
    )
    assert sent["messages"][1:] == [
        said(
            "system",
            text("q"),
            {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "g"}},
            {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "old"}},
        ),
        UPDATE,
    ]
    assert [tool["name"] for tool in sent["tools"]] == ["old", "g"]


def test_developer_message_without_a_block_is_nothing() -> None:
    sent = body(X, Y, developer(text("")), route={"toolUpdate": "in-history"}, **CHANGES)
    assert sent["messages"] == [WIRE_X, WIRE_Y]


@pytest.mark.parametrize(
    ("history", "what", "path"),
    [
        (
            [developer(text("x"))],
            "system update without a preceding user or tool-result turn",
            "/messages/0",
        ),
        ([X, developer({"type": "zz"})], "developer content zz", "/messages/1"),
    ],
)
def test_developer_message_refused(history: list[Json], what: str, path: str) -> None:
    error = refused(*history, route={"toolUpdate": "in-history"}, **CHANGES)
    assert (error.code, error.path) == ("UNSUPPORTED_CONTENT", path)
    assert error.message == f"DeepSeek Messages cannot represent {what}"


# ---- Replay state --------------------------------------------------------------------------------


def state(*blocks: Any, model: str = "m", **response: Any) -> Json:
    known = {"kind": "deepseek-messages", "version": 1, "model": model}
    return {"response": known | response, "blocks": list(blocks)}


SIGNED = {"type": "reasoning", "signature": "S"}
THOUGHT = [reasoning("t")]


@pytest.mark.parametrize(
    ("message", "signature"),
    [
        (assistant(*THOUGHT, replay=state(SIGNED)), "S"),
        (assistant(*THOUGHT, replay=state({**SIGNED, "signature": ""})), ""),
        (assistant(*THOUGHT, replay=state({**SIGNED, "more": 1}, more=2) | {"more": 3}), "S"),
        (assistant(*THOUGHT, replay=state({"type": "reasoning"})), None),
        (assistant(*THOUGHT), None),
        (assistant(*THOUGHT, replay=[]), None),
        (assistant(*THOUGHT, replay={"response": state()["response"]}), None),
        (assistant(*THOUGHT, replay=state(SIGNED, version=2)), None),
        (assistant(*THOUGHT, replay=state(SIGNED, kind="pi-ai")), None),
        (assistant(*THOUGHT, replay=state(SIGNED, model="n")), None),
        (assistant(*THOUGHT, replay=state(SIGNED, model="n"), model="n"), None),
        (assistant(*THOUGHT, replay=state(SIGNED, {"type": "text"})), None),
        (assistant(*THOUGHT, replay=state({"type": "text"})), None),
        (assistant(*THOUGHT, replay=state(None)), None),
        (assistant(*THOUGHT, replay=state({**SIGNED, "signature": 5})), None),
        (assistant(*THOUGHT, replay=state({**SIGNED, "signature": None})), None),
        (
            assistant(
                *THOUGHT, text("x"), replay=state(SIGNED, {"type": "text", "signature": "S"})
            ),
            None,
        ),
        (
            {
                **assistant(*THOUGHT),
                "source": {"kind": "plugin", "model": "m", "replayState": state(SIGNED)},
            },
            None,
        ),
        ({"role": "assistant", "content": THOUGHT}, None),
    ],
)
def test_signature(message: Json, signature: str | None) -> None:
    thinking = wire(message)[0]["content"][0]
    assert thinking.get("signature") == signature
    assert thinking["thinking"] == "t"


def test_replay_state_of_another_provider() -> None:
    message = assistant(*THOUGHT, replay=state(SIGNED))
    message["source"]["provider"] = "deepseek-account"
    assert "signature" not in wire(message)[0]["content"][0]
    route = {"replayProviders": ["deepseek-official", "deepseek-account"]}
    assert wire(message, route=route)[0]["content"][0]["signature"] == "S"


@pytest.mark.parametrize("as_option", [False, True])
def test_prompt_as_option_or_as_leading_message_with_images(as_option: bool) -> None:
    head = [] if as_option else [system(text("A"))]
    more: Json = {"system": "A"} if as_option else {}
    route = {**VISION, **IN_HISTORY}
    sent = body(*head, user(image()), route=route, store=Store(), **more)
    assert sent["system"] == "A"
    assert [message["role"] for message in sent["messages"]] == ["user"]
    assert len(sent["messages"][0]["content"]) == 2


# ---- Images and files ----------------------------------------------------------------------------


def test_inline_images() -> None:
    store = Store(ab=RequestImage(b"\1\2", "image/webp", 7, 9))
    sent = wire(
        user(text("a"), image(), text("b"), image(OTHER_ID, name='x"y')), route=VISION, store=store
    )
    assert sent[0]["content"] == [
        text("a"),
        text(f"Image {IMAGE_ID}; request preview 7x9px. {HANDLE}"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "AQI="}},
        text("b"),
        text(f'Image "x\\"y" ({OTHER_ID}); request preview 2x3px. {HANDLE}'),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
    ]


def test_images_as_files() -> None:
    route = {**VISION, "fileIds": {IMAGE_ID: "file-1"}}
    sent = wire(assistant(call("c")), tool("c", text("q"), image()), route=route, store=Store())
    assert sent[1]["content"][0]["content"][2] == {
        "type": "image",
        "source": {"type": "file", "file_id": "file-1"},
    }
    both = user(image(), image(OTHER_ID))
    # One image that was not uploaded sends all of them inline.
    sources = [
        b["source"]["type"] for b in wire(both, route=route, store=Store())[0]["content"][1::2]
    ]
    assert sources == ["base64", "base64"]
    error = refused(both, route={**route, "imageMode": "files"}, store=Store())
    assert error.code == "INVALID_REQUEST"
    assert error.message == "DeepSeek Messages request file id is missing"
    inline = wire(user(image()), route={**route, "imageMode": "inline"}, store=Store())
    assert inline[0]["content"][1]["source"]["type"] == "base64"


def test_image_with_a_path() -> None:
    sent = wire(user(image(name="n")), route={**VISION, "attachmentRoot": "/at/é"}, store=Store())
    assert sent[0]["content"][0]["text"] == (
        f'Image "n" ({IMAGE_ID}); request preview 2x3px. Normalized copy (read-only; may be '
        "resized or "
        f're-encoded): "/at/é/v1/objects/ab/{IMAGE_ID[7:]}" (2x3px, image/png). Source '
        "dimensions, format, "
        "and byte size may differ. Copy to a writable path ending in .png before editing."
    )


def test_offloaded_image() -> None:
    without = (
        "No local normalized image path is available; ask the user to attach it again if needed."
    )
    plain = f"[image omitted to fit request image limits; {IMAGE_ID}. {without}]"
    # Then neither a vision model nor a store is needed, and every role may hold it.
    assert wire(user(image(offloaded=True))) == [said("user", text(plain))]
    assert wire(assistant(image(offloaded=True))) == [said("assistant", text(plain))]
    assert body(system(image(offloaded=True)))["system"] == plain
    sent = wire(user(image(offloaded=True, name="n")), route={"attachmentRoot": "/at"})
    assert sent[0]["content"][0]["text"].startswith(
        f'[image omitted to fit request image limits; "n" ({IMAGE_ID}). Normalized copy (read-only;'
    )
    assert sent[0]["content"][0]["text"].endswith("ending in .png before editing.]")


NO_VISION = "DeepSeek Messages image input requires a vision model and attachment service"
WRONG_ROLE = "DeepSeek Messages supports images only in user messages and tool results"


@pytest.mark.parametrize(
    ("message", "route", "store", "failure"),
    [
        (user(image()), {}, Store(), NO_VISION),
        (user(image()), VISION, None, NO_VISION),
        (assistant(image()), VISION, None, NO_VISION),
        (assistant(image()), VISION, Store(), WRONG_ROLE),
        (system(image()), VISION, Store(), WRONG_ROLE),
    ],
)
def test_images_refused(message: Json, route: Json, store: Any, failure: str) -> None:
    error = refused(X, message, route=route, store=store)
    assert (error.code, error.message, error.path) == (
        "UNSUPPORTED_CONTENT",
        failure,
        "/messages/1",
    )


@pytest.mark.parametrize(
    ("count", "budget", "kind", "more"),
    [
        (601, {"maxImagesPerRequest": 600, "imageOffloadCountQuantum": 20}, "raw", 20),
        (621, {"maxImagesPerRequest": 600, "imageOffloadCountQuantum": 20}, "raw", 40),
        (3, {"maxRequestFilesBytes": 8, "imageOffloadByteQuantum": 4}, "raw", 2),
        (3, {"maxInlineRequestImageBytes": 11, "inlineImageOffloadByteQuantum": 1}, "base64", 1),
        (3, {"maxInlineRequestImageBytes": 11, "inlineImageOffloadByteQuantum": 8}, "base64", 3),
    ],
)
def test_image_budget(count: int, budget: Json, kind: str, more: int) -> None:
    with pytest.raises(ImageBudgetError) as caught:
        body(user(*[image()] * count), route={**VISION, **budget}, store=Store())
    error = caught.value
    assert (error.code, error.offload_images) == ("IMAGE_OFFLOAD_REQUIRED", more)
    assert error.message == (
        f"DeepSeek Messages {kind} request images exceed the route budget; {more} more oldest "
        "occurrence(s) must be offloaded."
    )


def test_offloaded_images_do_not_count() -> None:
    route = {**VISION, "maxImagesPerRequest": 1}
    assert wire(user(image(offloaded=True), image()), route=route, store=Store())


def test_text_model_reads_of_images() -> None:
    omitted = text(
        "[image omitted because this model accepts text only; attachment sha256:abababab]"
    )
    route = {"inputModalities": ["text"]}
    assert wire(user(image(), image(offloaded=True)), route=route) == [
        said("user", omitted, omitted)
    ]
    assert wire(assistant(image()), route=route) == [said("assistant", omitted)]


def test_files() -> None:
    unreadable = (
        '[File "a\\"b" (12 bytes, sha256:abababab) was uploaded, but the current execution '
        "environment "
        "cannot access a readable path. Report that limitation if its contents are needed; do "
        "not claim "
        "to have read it.]"
    )
    readable = (
        '[File "é.txt" (12 bytes, sha256:abababab): verbatim read-only copy saved at '
        f'"/at/v1/files/ab/{IMAGE_ID[7:]}/é.txt". Read that path with your file tools when its '
        "contents "
        "are needed; copy it to a writable location before modifying it. When delegating file "
        "work, include "
        "this saved path in the delegation prompt; only subagents sharing this execution "
        "environment can "
        "read it.]"
    )
    assert wire(user(file('a"b'))) == [said("user", text(unreadable))]
    # The name is no name of a stored file, so there is no path either.
    assert wire(user(file('a"b')), route={"attachmentRoot": "/at"}) == [
        said("user", text(unreadable))
    ]
    assert wire(user(file("é.txt")), route={"attachmentRoot": "/at"}) == [
        said("user", text(readable))
    ]
