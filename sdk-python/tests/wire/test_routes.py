"""Declared routes, malformed options, and the schemas of both."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter
from wire_builders import (
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

import dsh_protocol_data
from dsh_protocol import jsonvalue
from dsh_protocol.findings import UsageError, WireError
from dsh_protocol.wire import WIRES, declared_route, logged_route, serialize
from dsh_protocol_models.wire.deepseek_chats import ChatRequest
from dsh_protocol_models.wire.deepseek_messages import MessagesRequest
from dsh_protocol_models.wire.generate_options import GenerateOptions
from dsh_protocol_models.wire.route_definitions import Route

Json = dict[str, Any]

BODIES: dict[str, Any] = {"deepseek-chat": ChatRequest, "deepseek-messages": MessagesRequest}


def validator(name: str) -> Draft202012Validator:
    bundle = dsh_protocol_data.load("schemas/wire")
    return Draft202012Validator({"$defs": bundle["$defs"], "$ref": f"#/$defs/{name}"})


# ---- Routes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "model", "images", "prompts", "tools"),
    [
        (2, "deepseek-v4-flash", False, None, None),
        (2, "deepseek-v4-flash-vision-exp", True, None, None),
        (2, "deepseek-flash", False, None, None),
        (3, "deepseek-flash", True, "in-history", None),
        (3, "deepseek-v4-pro", False, None, None),
        (3, "tiny", False, None, None),
        (4, "deepseek-flash", True, "in-history", "addition-only"),
        (4, "deepseek-v4-pro", False, None, None),
        (4, "deepseek-v4-flash", False, None, None),
    ],
)
def test_catalog(
    version: int, model: str, images: bool, prompts: str | None, tools: str | None
) -> None:
    route = declared_route(version, "deepseek-official", model)
    assert ("image" in route["inputModalities"]) is images
    assert route.get("systemPromptUpdate") == prompts
    assert route.get("toolUpdate") == tools
    assert (route["maxTokens"], route["contextWindow"]) == (256000, 1000000)


def test_other_providers_have_the_defaults() -> None:
    assert "toolUpdate" in declared_route(4, "deepseek-account", "deepseek-flash")
    assert "toolUpdate" not in declared_route(4, "openai", "deepseek-flash")
    with pytest.raises(KeyError):
        declared_route(9, "deepseek-official", "deepseek-flash")


def test_the_log_and_the_caller_win() -> None:
    about = (4, "deepseek-official", "deepseek-flash")
    assert logged_route(*about) == declared_route(*about)
    silent = logged_route(*about, {"provider": "p", "model": "m"})
    assert "systemPromptUpdate" not in silent
    assert "contextWindow" not in silent
    context = {"systemPromptUpdate": "in-history", "contextWindow": 4000}
    unlisted = logged_route(4, "deepseek-official", "tiny", context)
    assert (unlisted["systemPromptUpdate"], unlisted["contextWindow"]) == ("in-history", 4000)
    overrides = {"systemPromptUpdate": None, "toolUpdate": "in-history", "attachmentRoot": None}
    given = logged_route(*about, context, overrides)
    assert "systemPromptUpdate" not in given
    assert (given["toolUpdate"], given["attachmentRoot"]) == ("in-history", None)


@pytest.mark.parametrize(
    ("overrides", "path"),
    [
        ({"toolUpdates": "in-history"}, ""),
        ({"toolUpdate": "sometimes"}, "/toolUpdate"),
        ({"inputModalities": "image"}, "/inputModalities"),
        ({"fileIds": []}, "/fileIds"),
        ({"maxTokens": 0}, "/maxTokens"),
        ({"attachmentRoot": 5}, "/attachmentRoot"),
    ],
)
def test_malformed_overrides(overrides: Json, path: str) -> None:
    with pytest.raises(UsageError) as caught:
        logged_route(4, "deepseek-official", "deepseek-flash", None, overrides)
    assert (caught.value.code, caught.value.path) == ("wire/route", path)


def test_every_declared_route_is_a_route() -> None:
    check = validator("Route")
    models = TypeAdapter[Any](Route)
    for catalog in dsh_protocol_data.load("routes")["catalogs"]:
        assert catalog["wire"] in WIRES
        for model in [*(entry["id"] for entry in catalog["models"]), "unlisted"]:
            route = declared_route(catalog["format"], catalog["providers"][0], model)
            assert route["formatVersion"] == catalog["format"]
            check.validate(route)
            models.validate_python(route)


# ---- Schemas and models --------------------------------------------------------------------------


def test_recorded_bodies_fit_schema_and_model(recorded: Any) -> None:
    wire = "deepseek-chat" if recorded.version == 3 else "deepseek-messages"
    body = jsonvalue.loads(recorded.text)
    validator(BODIES[wire].__name__).validate(body)
    validator("WireRequest").validate(body)
    loaded = BODIES[wire].model_validate(body)
    assert jsonvalue.equal(loaded.model_dump(mode="json"), body)


def test_recorded_options_and_routes_fit(recorded: Any) -> None:
    request = recorded.options()
    validator("GenerateOptions").validate(request)
    loaded = TypeAdapter[Any](GenerateOptions).validate_python(request)
    assert jsonvalue.equal(
        TypeAdapter[Any](GenerateOptions).dump_python(loaded, mode="json"), request
    )
    validator("Route").validate(recorded.route())


# ---- Malformed options ---------------------------------------------------------------------------


def test_unknown_wire() -> None:
    with pytest.raises(UsageError) as caught:
        serialize("deepseek-telegraph", options(), {})
    assert caught.value.code == "wire/unknown"


def without(value: Json, *names: str) -> Json:
    return {name: member for name, member in value.items() if name not in names}


def bad_image(**changes: Any) -> Json:
    return {"type": "image", "attachment": image()["attachment"] | changes}


@pytest.mark.parametrize("wire", list(WIRES))
@pytest.mark.parametrize(
    ("request_", "path"),
    [
        (without(options(), "model"), "/model"),
        ({**options(), "model": 5}, "/model"),
        ({**options(), "messages": {}}, "/messages"),
        ({**options(), "system": 5}, "/system"),
        ({**options(), "stop": "x"}, "/stop"),
        ({**options(), "reasoningEffort": ["high"]}, "/reasoningEffort"),
        ({**options(), "temperature": "0"}, "/temperature"),
        ({**options(), "maxTokens": 1.5}, "/maxTokens"),
        ({**options(), "maxTokens": True}, "/maxTokens"),
        ({**options(), "purpose": None}, "/purpose"),
        ({**options(), "tools": {}}, "/tools"),
        (options(tools=[5]), "/tools/0"),
        (options(tools=[without(schema("a"), "description")]), "/tools/0/description"),
        (options(tools=[without(schema("a"), "parameters")]), "/tools/0"),
        (options(toolHistory={"tools": []}), "/toolHistory/updates"),
        (options(toolHistory={"tools": [5], "updates": []}), "/toolHistory/tools/0"),
        (
            options(toolHistory={"tools": [], "updates": [{"additions": []}]}),
            "/toolHistory/updates/0/messageId",
        ),
        (options("x"), "/messages/0"),  # type: ignore[arg-type]
        (options({**user(), "role": "weird"}), "/messages/0/role"),
        (options(without(user(), "content")), "/messages/0/content"),
        (options({**user(), "source": None}), "/messages/0/source"),
        (options(without(tool("c"), "toolCallId")), "/messages/0/toolCallId"),
        (options(user(5)), "/messages/0/content/0"),  # type: ignore[arg-type]
        (options(user({"text": "x"})), "/messages/0/content/0/type"),
        (options(user(text("a"), {"type": "text"})), "/messages/0/content/1/text"),
        (options(assistant(without(reasoning("a"), "text"))), "/messages/0/content/0/text"),
        (options(assistant(without(call("c"), "arguments"))), "/messages/0/content/0/arguments"),
        (options(developer(without(addition("a"), "toolName"))), "/messages/0/content/0/toolName"),
        (options(developer(without(removal("a"), "toolName"))), "/messages/0/content/0/toolName"),
        (options(system({"type": "image"})), "/messages/0/content/0/attachment"),
        (options(user(bad_image(width="2"))), "/messages/0/content/0/attachment/width"),
        (options(user(bad_image(bytes=True))), "/messages/0/content/0/attachment/bytes"),
        (options(user(bad_image(name=5))), "/messages/0/content/0/attachment/name"),
        (options(user(without(file(), "attachment"))), "/messages/0/content/0/attachment"),
        (options(user(without(result_block("c"), "content"))), "/messages/0/content/0/content"),
        (
            options(user(result_block("c", text("a"), {"type": "text"}))),
            "/messages/0/content/0/content/1/text",
        ),
    ],
)
def test_malformed_options(wire: str, request_: Json, path: str) -> None:
    with pytest.raises(WireError) as caught:
        serialize(wire, request_, {})
    assert (caught.value.code, caught.value.path) == ("INVALID_OPTIONS", path)
