"""The wire `deepseek-chat`, row by row. Expected: what the adapter of 0.1.5-rc.1 gives."""

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
    result_block,
    schema,
    system,
    text,
    tool,
    user,
)

from dsh_protocol import jsonvalue
from dsh_protocol.findings import WireError
from dsh_protocol.wire import RequestImage, serialize

Json = dict[str, Any]

VISION = {"inputModalities": ["text", "image"]}
HANDLE = (
    f"Image {IMAGE_ID}; request preview 2x3px. It may be resized or re-encoded; source dimensions, "
    "format, and byte size may differ."
)
OFFLOADED = (
    f"[image omitted to fit request image limits; {IMAGE_ID}. No local normalized image path is "
    "available; ask the user to attach it again if needed.]"
)
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
FROM_TOOLS = text("Attached image(s) from tool result:")


def body(*messages: Json, route: Json | None = None, store: Any = None, **more: Any) -> Json:
    return serialize("deepseek-chat", options(*messages, **more), route or {}, store)


def wire(*messages: Json, route: Json | None = None, store: Any = None) -> list[Json]:
    found: list[Json] = body(*messages, route=route, store=store)["messages"]
    return found


def pictured(*messages: Json, **route: Any) -> list[Json]:
    return wire(*messages, route={**VISION, **route}, store=Store())


def said(role: str, content: Any, **more: Any) -> Json:
    return {"role": role, "content": content, **more}


def result(id_: str, content: str) -> Json:
    return {"role": "tool", "tool_call_id": id_, "content": content}


def function_call(id_: str, arguments: str = "{}") -> Json:
    return {"id": id_, "type": "function", "function": {"name": "bash", "arguments": arguments}}


def refused(
    *messages: Json, route: Json | None = None, store: Any = None, **more: Any
) -> WireError:
    with pytest.raises(WireError) as caught:
        body(*messages, route=route, store=store, **more)
    return caught.value


# ---- Whole bodies --------------------------------------------------------------------------------

WORKED = [
    user(text("List files.")),
    assistant(reasoning("Need ls."), call("call_1", '{"command": "ls"}')),
    user(result_block("call_1", text("a.txt"))),
    assistant(text("One: a.txt")),
    user(text("Thanks ☕.")),
]
BASH = {
    "name": "bash",
    "description": "Run a command.",
    "parameters": {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
}
WORKED_BODY = (
    '{"model":"deepseek-v4-flash","messages":[{"role":"system","content":"Be brief."},{"role":'
    '"user",'
    '"content":"List files."},{"role":"assistant","content":"","reasoning_content":"Need ls.",'
    '"tool_calls":[{"id":"call_1","type":"function","function":{"name":"bash","arguments":'
    '"{\\"command\\": \\"ls\\"}"}}]},{"role":"tool","tool_call_id":"call_1","content":"a.txt"},'
    '{"role":"assistant","content":"One: a.txt"},{"role":"user","content":"Thanks ☕."}],'
    '"stream":true,'
    '"stream_options":{"include_usage":true},"thinking":{"type":"enabled"},"reasoning_effort":'
    '"high",'
    '"tools":[{"type":"function","function":{"name":"bash","description":"Run a command.",'
    '"parameters":'
    '{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}}],'
    '"max_tokens":256000}'
)


@pytest.mark.parametrize("as_option", [False, True])
def test_worked_example(as_option: bool) -> None:
    head = [] if as_option else [system(text("Be brief."))]
    more: Json = {"system": "Be brief."} if as_option else {}
    sent = body(
        *head,
        *WORKED,
        model="deepseek-v4-flash",
        reasoningEffort="high",
        maxTokens=256000,
        tools=[BASH],
        **more,
    )
    assert jsonvalue.dumps(sent) == WORKED_BODY


def test_least_body() -> None:
    assert jsonvalue.dumps(body(tools=[])) == (
        '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true}}'
    )


def test_all_members_in_order() -> None:
    sent = body(
        stop=["x"],
        maxTokens=7,
        temperature=0,
        tools=[schema("b", deferLoading=True)],
        reasoningEffort="low",
    )
    assert jsonvalue.dumps(sent) == (
        '{"model":"m","messages":[],"stream":true,"stream_options":{"include_usage":true},'
        '"thinking":'
        '{"type":"enabled"},"reasoning_effort":"low","tools":[{"type":"function","function":{'
        '"name":"b",'
        '"description":"The tool b.","parameters":{}}}],"temperature":0,"max_tokens":7,"stop":['
        '"x"]}'
    )


def test_limits_of_the_route_are_not_sent() -> None:
    assert "max_tokens" not in body(route={"maxTokens": 9})
    assert body(stop=[])["stop"] == []


# ---- Thinking ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effort", "route", "purpose", "thinking", "sent"),
    [
        (None, {}, None, None, None),
        (None, {"thinking": "enabled"}, None, "enabled", None),
        (None, {"thinking": "disabled"}, None, "disabled", None),
        (None, {"reasoningEffort": "max"}, None, "enabled", "max"),
        (None, {"reasoningEffort": "off"}, None, "disabled", None),
        ("low", {"reasoningEffort": "max"}, None, "enabled", "low"),
        ("high", {"thinking": "enabled"}, "compaction", "enabled", "high"),
        ("max", {}, None, "enabled", "max"),
        ("off", {"thinking": "disabled"}, None, "disabled", None),
        ("off", {"thinking": "enabled"}, None, "disabled", None),
        ("high", {}, "session-title", "disabled", None),
        ("zz", {"thinking": "disabled"}, "session-title", "disabled", None),
    ],
)
def test_thinking(
    effort: str | None, route: Json, purpose: str | None, thinking: str | None, sent: str | None
) -> None:
    given = {"reasoningEffort": effort, "purpose": purpose}
    found = body(route=route, **{name: value for name, value in given.items() if value is not None})
    assert found.get("thinking") == (None if thinking is None else {"type": thinking})
    assert found.get("reasoning_effort") == sent


@pytest.mark.parametrize(
    ("effort", "route", "message"),
    [
        ("zz", {}, 'DeepSeek does not support reasoning effort "zz"'),
        ('a"b', {}, 'DeepSeek does not support reasoning effort "a"b"'),
        ("zz", {"thinking": "disabled"}, 'DeepSeek does not support reasoning effort "zz"'),
        (
            "high",
            {"thinking": "disabled"},
            'DeepSeek deployment does not support reasoning effort "high"',
        ),
    ],
)
def test_effort_refused(effort: str, route: Json, message: str) -> None:
    error = refused(reasoningEffort=effort, route=route)
    assert (error.code, error.path) == ("UNSUPPORTED_REASONING_EFFORT", "/reasoningEffort")
    assert error.message == message


# ---- Messages as text ----------------------------------------------------------------------------

NESTED = "a result inside a result is dropped"
MAPPED: list[tuple[str, list[Json], list[Json]]] = [
    ("system texts join", [system(text("a"), reasoning("q"), text("b"))], [said("system", "ab")]),
    (
        "system stays where it is, even empty",
        [user(text("x")), system(), user(text("y"))],
        [said("user", "x"), said("system", ""), said("user", "y")],
    ),
    (
        "assistant",
        [assistant(text("a"), reasoning("r1"), text("b"), reasoning("r2"), call("c", "no{"))],
        [
            said(
                "assistant",
                "ab",
                reasoning_content="r1r2",
                tool_calls=[function_call("c", "no{")],
            )
        ],
    ),
    ("assistant without anything", [assistant(reasoning(""))], [said("assistant", "")]),
    (
        "unknown blocks are dropped",
        [user({"type": "zzz"}, text("x"), reasoning("q"))],
        [said("user", "x")],
    ),
    ("empty users are sent", [user(), user(text(""))], [said("user", ""), said("user", "")]),
    (
        "the text of a user comes before the results",
        [
            user(
                text("p"),
                result_block("c", text("a"), text("b"), isError=True),
                text("q"),
                result_block("d"),
            )
        ],
        [said("user", "pq"), result("c", "ab"), result("d", "(no output)")],
    ),
    ("results alone", [user(text(""), result_block("c", text("")))], [result("c", "(no output)")]),
    (
        NESTED,
        [user(result_block("c", text("a"), result_block("e", text("n"))))],
        [result("c", "a")],
    ),
    (
        "nothing merges and nothing is paired",
        [assistant(call("c")), assistant(call("c")), user(result_block("zz", text("x")))],
        [
            said("assistant", "", tool_calls=[function_call("c")]),
            said("assistant", "", tool_calls=[function_call("c")]),
            result("zz", "x"),
        ],
    ),
    (
        "a tool message of format 4",
        [assistant(call("c")), tool("c", text("x"), isError=True), tool("d")],
        [
            said("assistant", "", tool_calls=[function_call("c")]),
            result("c", "x"),
            result("d", "(no output)"),
        ],
    ),
    (
        "a developer message of format 4",
        [user(text("x")), developer(addition("g"))],
        [said("user", "x")],
    ),
]


BESIDE_IMAGES = [row for row in MAPPED if row[0] != NESTED]


@pytest.mark.parametrize(("name", "history", "sent"), MAPPED)
def test_mapping(name: str, history: list[Json], sent: list[Json]) -> None:
    assert wire(*history) == sent


@pytest.mark.parametrize(("name", "history", "sent"), BESIDE_IMAGES)
def test_mapping_beside_an_image(name: str, history: list[Json], sent: list[Json]) -> None:
    assert pictured(user(image()), *history)[1:] == sent


def test_empty_system_option_is_sent() -> None:
    assert body(user(text("x")), system="")["messages"] == [said("system", ""), said("user", "x")]


# ---- Images --------------------------------------------------------------------------------------


def test_user_with_images() -> None:
    sent = pictured(user(text("a"), image(), text(""), image(OTHER_ID, name="n"), text("b")))
    other = HANDLE.replace(IMAGE_ID, f'"n" ({OTHER_ID})')
    assert sent == [
        said(
            "user",
            [text("a"), text("\n" + HANDLE), PICTURE, text("\n" + other), PICTURE, text("b")],
        )
    ]
    assert pictured(user(image(), text("a"))) == [said("user", [text(HANDLE), PICTURE, text("a")])]


def test_request_size_and_type_are_those_of_the_sent_image() -> None:
    store = Store(ab=RequestImage(b"\1\2", "image/webp", 7, 9))
    route = {**VISION, "attachmentRoot": "/é"}
    parts = wire(user(image(mediaType="image/jpeg")), route=route, store=store)[0]["content"]
    assert parts[1] == {"type": "image_url", "image_url": {"url": "data:image/webp;base64,AQI="}}
    assert parts[0]["text"].startswith(f"Image {IMAGE_ID}; request preview 7x9px. Normalized copy ")
    assert f'"/é/v1/objects/ab/{IMAGE_ID[7:]}" (2x3px, image/jpeg). Source' in parts[0]["text"]
    assert parts[0]["text"].endswith(" Copy to a writable path ending in .jpg before editing.")


def test_files_mode() -> None:
    ids = {IMAGE_ID: "f-1"}
    sent = pictured(user(image()), fileIds=ids)
    assert sent == [said("user", [text(HANDLE), {"type": "file", "file_id": "f-1"}])]
    both = user(image(), image(OTHER_ID))
    # One image that was not uploaded sends all of them inline.
    assert pictured(both, fileIds=ids)[0]["content"][1::2] == [PICTURE, PICTURE]
    # Unless it is left out anyway.
    assert pictured(user(image(OTHER_ID), image()), fileIds=ids, maxImagesPerRequest=1)[0][
        "content"
    ][2] == {"type": "file", "file_id": "f-1"}
    error = refused(both, route={**VISION, "fileIds": ids, "imageMode": "files"}, store=Store())
    assert error.code == "INVALID_REQUEST"
    assert pictured(user(image()), fileIds=ids, imageMode="inline")[0]["content"][1] == PICTURE


def test_images_of_tool_results_follow_in_one_message() -> None:
    sent = pictured(
        assistant(call("c"), call("d")),
        user(result_block("c", text("a"), image())),
        user(result_block("d", image(), text("z"))),
        user(text("go")),
    )
    assert sent[1:] == [
        result("c", "a\n" + HANDLE),
        result("d", HANDLE + "z"),
        said("user", [FROM_TOOLS, PICTURE, PICTURE]),
        said("user", "go"),
    ]


@pytest.mark.parametrize("next_", [system(text("S")), assistant(text("S")), user(text("S")), None])
def test_images_of_tool_results_come_before_what_is_next(next_: Json | None) -> None:
    sent = pictured(user(result_block("c", image())), *([next_] if next_ else []))
    after = [said(next_["role"], "S")] if next_ else []
    assert sent == [result("c", HANDLE), said("user", [FROM_TOOLS, PICTURE]), *after]


def test_own_images_of_a_user_with_results() -> None:
    sent = pictured(
        user(
            text("pre"),
            result_block("c", image()),
            text("post"),
            result_block("d", text("x")),
            image(),
        )
    )
    assert sent == [
        said("user", [text("pre"), text("post"), text("\n" + HANDLE), PICTURE]),
        result("c", HANDLE),
        result("d", "x"),
        said("user", [FROM_TOOLS, PICTURE]),
    ]


def test_nested_results_are_flat_when_there_are_images() -> None:
    nested = result_block("e", text("n"), image())
    sent = pictured(user(result_block("c", text("a"), nested)))
    assert sent == [result("c", "an\n" + HANDLE), said("user", [FROM_TOOLS, PICTURE])]


def test_image_of_a_format_4_tool_message() -> None:
    sent = pictured(tool("c", text("x"), image()))
    assert sent == [result("c", "x\n" + HANDLE), said("user", [FROM_TOOLS, PICTURE])]


def test_texts_of_format_2() -> None:
    sent = pictured(user(image()), formatVersion=2)
    assert sent[0]["content"][0]["text"] == f"Image {IMAGE_ID}; request image 2x3px."
    sent = pictured(user(image(), image(OTHER_ID)), formatVersion=2, maxImagesPerRequest=1)
    assert sent[0]["content"][0]["text"] == (
        "[image omitted to keep the request within its image limit; older images are omitted "
        "first. If "
        "this image is still needed, read its file again when a path is available; otherwise "
        "ask the user "
        "to attach it again.]"
    )


@pytest.mark.parametrize(
    ("history", "route", "store", "message", "path"),
    [
        (
            [user(image())],
            {},
            Store(),
            'DeepSeek model "m" does not accept image input.',
            "/messages/0",
        ),
        (
            [user(), user(image())],
            VISION,
            None,
            "DeepSeek image conversion requires the durable attachment service.",
            "/messages/1",
        ),
        (
            [user(image()), assistant(image())],
            VISION,
            Store(),
            "The DeepSeek chat-completions adapter cannot represent image content in a "
            "assistant message.",
            "/messages/1",
        ),
        (
            [system(image())],
            VISION,
            Store(),
            "The DeepSeek chat-completions adapter cannot represent image content in a system "
            "message.",
            "/messages/0",
        ),
    ],
)
def test_images_refused(
    history: list[Json], route: Json, store: Any, message: str, path: str
) -> None:
    error = refused(*history, route=route, store=store)
    assert (error.code, error.message, error.path) == ("UNSUPPORTED_CONTENT", message, path)


def test_oldest_images_are_left_out() -> None:
    sent = pictured(
        user(result_block("c", image())),
        user(text("x"), image()),
        user(image()),
        maxImagesPerRequest=2,
        imageOffloadCountQuantum=2,
    )
    assert sent == [
        result("c", OFFLOADED),
        said("user", "x" + OFFLOADED),
        said("user", [text(HANDLE), PICTURE]),
    ]


def test_budget_of_what_the_log_says_comes_first() -> None:
    # 10 bytes each in the log, 3 bytes each as sent.
    assert pictured(user(image()), maxRequestFilesBytes=9) == [said("user", OFFLOADED)]
    assert (
        pictured(user(image()), maxRequestFilesBytes=9, imageMaxBytes=9)[0]["content"][1] == PICTURE
    )


def test_budget_of_what_is_sent() -> None:
    limits = {"maxInlineRequestImageBytes": 7, "inlineImageOffloadByteQuantum": 1}
    sent = pictured(user(image(), image()), **limits)
    assert sent == [said("user", [text(OFFLOADED), text("\n" + HANDLE), PICTURE])]
    # An id of the Files API takes no room in the body.
    sent = pictured(user(image(), image()), **limits, fileIds={IMAGE_ID: "f"})
    assert [part["type"] for part in sent[0]["content"]] == ["text", "file", "text", "file"]


def test_image_that_the_log_left_out() -> None:
    assert wire(user(text("x"), image(offloaded=True))) == [said("user", "x" + OFFLOADED)]


def test_text_model_reads_of_images() -> None:
    omitted = "[image omitted because this model accepts text only; attachment sha256:abababab]"
    sent = wire(user(image(), result_block("c", image())), route={"inputModalities": ["text"]})
    assert sent == [said("user", omitted), result("c", omitted)]


def test_files() -> None:
    sent = wire(user(file(), result_block("c", file())), route={"attachmentRoot": "/at"})
    readable = (
        '[File "notes.txt" (12 bytes, sha256:abababab): verbatim read-only copy saved at '
        f'"/at/v1/files/ab/{IMAGE_ID[7:]}/notes.txt". Read that path'
    )
    assert [message["content"].startswith(readable) for message in sent] == [True, True]
    assert wire(user(text("x"), file()), route={"formatVersion": 2}) == [said("user", "x")]


@pytest.mark.parametrize("as_option", [False, True])
def test_prompt_as_option_or_as_leading_message_with_images(as_option: bool) -> None:
    head = [] if as_option else [system(text("A"))]
    more: Json = {"system": "A"} if as_option else {}
    sent = body(*head, user(image()), route=VISION, store=Store(), **more)
    assert sent["messages"] == [said("system", "A"), said("user", [text(HANDLE), PICTURE])]
