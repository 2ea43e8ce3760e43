"""Validators: one finding per defect, at the leaf, the same from both engines."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from example_files import Example, examples

from dsh_protocol.findings import UsageError
from dsh_protocol.schemas import SchemaFinding, Validator, schema, schema_names
from dsh_protocol.schemas._engines import Engine

ROOT = Path(__file__).resolve().parents[3]
EVERY_ENGINE = pytest.mark.parametrize("engine", ["fast", "reference"])
MUTATIONS = 10_000


def turn_end(reason: Any, **envelope: Any) -> dict[str, Any]:
    return {
        "type": "turn/end",
        "seq": 9,
        "time": 1,
        "data": {"turn": 1, "reason": reason},
    } | envelope


def user_message(*content: Any, **source: Any) -> dict[str, Any]:
    data = {
        "content": list(content),
        "source": {"kind": "user"} | source,
        "role": "user",
        "id": "m",
    }
    return {"type": "user/message", "seq": 4, "time": 1, "data": data, "surfaceOp": "append"}


def places(
    value: Any, name: str = "session/v4/event", engine: Engine = "fast"
) -> list[tuple[str, str]]:
    found = Validator(name, engine=engine).findings(value)
    return [(finding.keyword, finding.path) for finding in found]


# ---- Names -------------------------------------------------------------------------------------


def test_names_cover_the_entry_points_and_every_definition() -> None:
    names = schema_names()
    assert len(names) == len(set(names))
    assert {
        "session/v3/event",
        "session/v4/event",
        "session/v4/header",
        "session/v4/stored-header",
        "session/v4/stored-event",
        "session/v4/TurnStartEvent",
        "session/v3/ToolResultBlock",
        "wire/deepseek-messages",
        "wire/deepseek-chat",
        "wire/generate-options",
        "wire/route",
        "prompt/assembly",
        "prompt/OutputSchema",
    } <= set(names)
    assert "session/v3/DeveloperMessageEvent" not in names


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("session/v4/TurnStart", "session/v4/TurnStartEvent"),
        ("session/v5/event", "session/v4/event"),
        ("wire/deepseek-message", "wire/deepseek-messages"),
        ("zzzz", "dsh-protocol schema"),
    ],
)
@pytest.mark.parametrize("use", [schema, Validator])
def test_an_unknown_name_is_refused_with_similar_ones(use: Any, wrong: str, near: str) -> None:
    with pytest.raises(UsageError) as refused:
        use(wrong)
    assert refused.value.code == "schemas/unknown-name"
    assert wrong in refused.value.message
    assert near in refused.value.fix


def test_every_schema_stands_alone() -> None:
    for name in schema_names():
        document = schema(name)
        refs = set(references(document))
        assert refs <= {f"#/$defs/{inner}" for inner in document.get("$defs", {})}, name
        jsonschema_rs.validator_for(document)


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for child in value.values():
            yield from references(child)
    elif isinstance(value, list):
        for child in value:
            yield from references(child)


def test_a_schema_belongs_to_the_caller() -> None:
    schema("session/v4/event")["$defs"].clear()
    assert "TurnStartEvent" in schema("session/v4/event")["$defs"]


@pytest.mark.parametrize("family", ["session/v3", "session/v4", "wire", "prompt"])
def test_the_whole_schema_gives_the_verdict_of_the_validator(family: str) -> None:
    """The validator looks at one branch at a time; the document of the same name has to agree."""
    for example in examples():
        if example.family == family:
            assert takes(example.schema, example.value) == example.valid, example.place


# ---- What is found -----------------------------------------------------------------------------


@EVERY_ENGINE
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # The tag names a branch: what that branch refuses.
        (turn_end({"kind": "completed", "x": 1}), [("additionalProperties", "/data/reason")]),
        (turn_end({"kind": "error"}), [("required", "/data/reason")]),
        (
            turn_end({"kind": "aborted", "reason": {"kind": "hook", "reason": 5}}),
            [("type", "/data/reason/reason/reason")],
        ),
        (user_message({"type": "image"}), [("required", "/data/content/0")]),
        # The tag is missing.
        (turn_end({"error": {}}), [("required", "/data/reason")]),
        # The tag names no branch: of a closed union, and of one with a branch for all other tags.
        (
            turn_end({"kind": "aborted", "reason": {"kind": "x"}}),
            [("enum", "/data/reason/reason/kind")],
        ),
        (
            turn_end({"kind": "aborted", "reason": {"kind": 1}}),
            [("enum", "/data/reason/reason/kind")],
        ),
        (turn_end({"kind": ""}), [("pattern", "/data/reason/kind")]),
        (turn_end({"kind": 1}), [("type", "/data/reason/kind")]),
        (turn_end({"kind": "anything"}), []),
        (user_message(kind="plugin"), [("pattern", "/data/source/kind")]),
        (user_message({"type": "tool-result"}), [("pattern", "/data/content/0/type")]),
        # The value has a type that no branch takes, or one takes the type but only one value of it.
        (turn_end("completed"), [("type", "/data/reason")]),
        (user_message() | {"surfaceOp": "insert"}, [("const", "/surfaceOp")]),
        (user_message() | {"surfaceOp": {}}, [("required", "/surfaceOp")] * 3),
        # The root is a union as well.
        ({"type": "plugin:x", "seq": 0, "time": 0, "data": 1}, [("required", "")]),
        ({"seq": 0}, [("required", "")]),
        ([], [("type", "")]),
        (None, [("type", "")]),
    ],
)
def test_a_union_is_looked_at_through_its_tag(
    engine: Engine, value: Any, expected: list[tuple[str, str]]
) -> None:
    assert places(value, engine=engine) == expected


@EVERY_ENGINE
def test_every_defect_is_found_once_in_order_of_place(engine: Engine) -> None:
    event = user_message(
        {"type": "text"},
        {"type": "text", "text": "fine"},
        {"type": "tool-call", "id": "", "name": "n", "arguments": {}},
        *[{"type": "text", "text": ""}] * 8,
        {"type": "file", "attachment": {"attachmentId": "a", "bytes": -1, "size": 1}},
        rpcId=7,
    )
    del event["surfaceOp"]
    event["seq"] = -1
    found = Validator("session/v4/event", engine=engine).findings(event)
    assert [(f.path, f.keyword, f.member, f.definition) for f in found] == [
        ("", "required", "surfaceOp", "UserMessageEvent"),
        ("/data/content/0", "required", "text", "TextBlock"),
        ("/data/content/2/arguments", "type", "", "ToolCallBlock"),
        ("/data/content/2/id", "minLength", "", "ToolCallBlock"),
        ("/data/content/11/attachment", "additionalProperties", "size", "FileRef"),
        ("/data/content/11/attachment", "required", "name", "FileRef"),
        ("/data/content/11/attachment/bytes", "minimum", "", "FileRef"),
        ("/data/source/rpcId", "type", "", "UserSource"),
        ("/seq", "minimum", "", "UserMessageEvent"),
    ]


@EVERY_ENGINE
def test_a_message_says_what_is_wrong(engine: Engine) -> None:
    def message(value: Any) -> str:
        return Validator("session/v4/event", engine=engine).findings(value)[0].message

    assert message(turn_end({"kind": "error"})) == 'required: member "error" is missing'
    assert (
        message(turn_end({"kind": "blocked", "by": 1}))
        == 'additionalProperties: member "by" is not declared'
    )
    assert message(turn_end({"kind": "blocked"}, seq="9")) == 'type: "9" is not a whole number'
    assert message(turn_end({"kind": "blocked"}, seq=-1)) == "minimum: -1 is less than 0"
    closed = turn_end({"kind": "aborted", "reason": {"kind": "x"}})
    assert message(closed) == 'enum: "x" is none of "disposed", "hook", "legacy", "parent", "user"'


@EVERY_ENGINE
def test_hostile_content_is_shortened_and_escaped(engine: Engine) -> None:
    hostile = "\x1b[2J\u202e\n" + "x" * 100_000
    values = [
        turn_end({"kind": "aborted", "reason": {"kind": hostile}}),
        turn_end({"kind": "blocked", hostile: hostile}),
        turn_end({"kind": "blocked"}, seq=hostile),
        turn_end({"kind": "blocked"}, seq=[hostile] * 100),
        turn_end({"kind": "blocked"}, ignorable={hostile: hostile}),
    ]
    for value in values:
        (finding,) = Validator("session/v4/event", engine=engine).findings(value)
        assert len(finding.message) < 400
        assert finding.message.isascii()
        assert finding.message.isprintable()


def test_covers_says_which_types_have_a_schema() -> None:
    v3, v4 = Validator("session/v3/event"), Validator("session/v4/event")
    assert v3.covers("turn/start")
    assert v4.covers("developer/message")
    assert not v3.covers("developer/message")
    assert not v4.covers("plugin:x")
    assert not v4.covers("kind")
    assert Validator("session/v4/MessageSource").covers("runtime-context")
    assert not Validator("session/v4/header").covers("session")


# ---- Values that engines differ in -------------------------------------------------------------


@EVERY_ENGINE
@pytest.mark.parametrize(
    ("seq", "keywords"),
    [
        (1.0, []),
        (-0.0, []),
        (0.5, ["type"]),
        (True, ["type"]),
        (2**53 - 1, []),
        (2**53, ["maximum"]),
        (10**40, ["maximum"]),
        (int(1e300), ["maximum"]),
        (1e300, ["maximum"]),
        (float("inf"), ["type"]),
        (float("nan"), ["type"]),
        (None, ["type"]),
    ],
)
def test_numbers(engine: Engine, seq: Any, keywords: list[str]) -> None:
    found = places(turn_end({"kind": "completed"}, seq=seq), engine=engine)
    assert found == [(keyword, "/seq") for keyword in keywords]


@EVERY_ENGINE
def test_a_flag_is_no_number(engine: Engine) -> None:
    assert places(turn_end({"kind": "completed"}, ignorable=1), engine=engine) == [
        ("const", "/ignorable")
    ]


@EVERY_ENGINE
def test_lone_surrogates_are_taken(engine: Engine) -> None:
    assert places(user_message({"type": "text", "text": "\ud800"}), engine=engine) == []
    assert places(user_message({"type": "plugin:x", "\udfff": "\ud800"}), engine=engine) == []
    broken = user_message({"type": "text", "text": "\ud800", "\udfff": 1}, kind="\ud800", x=1)
    assert places(broken, engine=engine) == [("additionalProperties", "/data/content/0")]
    assert places({"type": "\ud800"}, engine=engine) == [("required", "")] * 4


@EVERY_ENGINE
@pytest.mark.parametrize("depth", [10, 100, 250])
def test_deep_values(engine: Engine, depth: int) -> None:
    def nested(bottom: Any) -> Any:
        for _ in range(depth):
            bottom = {"type": "tool-result", "toolCallId": "c", "content": [bottom]}
        return bottom

    free: Any = None
    for _ in range(depth):
        free = [{"x": free}]
    assert places(user_message({"type": "x", "free": free}), engine=engine) == []
    fine = user_message(nested({"type": "text", "text": "bottom"}))
    assert places(fine, "session/v3/event", engine) == []
    broken = user_message(nested({"type": "text", "text": 5, "\ud800": free})) | {"extra": free}
    bottom = "/data/content/0" + "/content/0" * depth
    assert places(broken, "session/v3/event", engine) == [
        ("additionalProperties", ""),
        ("additionalProperties", bottom),
        ("type", bottom + "/text"),
    ]


# ---- Both engines alike ------------------------------------------------------------------------

PIECES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1.0,
    2.5,
    -0.0,
    2**53,
    -(2**53),
    10**30,
    float("inf"),
    "",
    "append",
    "plugin",
    "text",
    "\ud800",
    [],
    [[0, 2]],
    [1, 1],
    {},
    {"kind": "user"},
    {"type": "text", "text": "x"},
    {"kind": "error", "failure": {"message": "m", "code": ""}},
)


def mutated(value: Any, chance: random.Random) -> Any:
    """The value with one to three random changes."""
    result = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        spots = list(containers(result))
        if not spots:
            return chance.choice(PIECES)
        change(chance.choice(spots), chance)
    return result


def containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for child in value.values() if isinstance(value, dict) else value:
            yield from containers(child)


def change(spot: Any, chance: random.Random) -> None:
    piece = copy.deepcopy(chance.choice(PIECES))
    keys = list(spot) if isinstance(spot, dict) else list(range(len(spot)))
    action = chance.choice(("replace", "replace", "remove", "add"))
    if not keys or action == "add":
        if isinstance(spot, dict):
            spot[chance.choice(("kind", "type", "text", "extra", "\udfff"))] = piece
        else:
            spot.append(piece)
    elif action == "remove":
        del spot[chance.choice(keys)]
    else:
        spot[chance.choice(keys)] = piece


def test_both_engines_find_the_same_in_random_values() -> None:
    chance = random.Random(20251009)
    small: list[Example] = [e for e in examples() if len(json.dumps(e.value)) < 3000]
    validators: dict[str, tuple[Validator, Validator]] = {}
    count: Counter[str] = Counter()
    for _ in range(MUTATIONS):
        example = chance.choice(small)
        value = mutated(example.value, chance)
        if example.schema not in validators:
            name = example.schema
            validators[name] = (Validator(name), Validator(name, engine="reference"))
        fast, reference = (validator.findings(value) for validator in validators[example.schema])
        assert fast == reference, (example.place, value)
        assert takes(example.schema, value) in (not fast, None), (example.place, value)
        assert all(f.keyword not in ("oneOf", "anyOf") for f in fast), (example.place, value)
        assert [f.path for f in fast] == sorted((f.path for f in fast), key=by_place)
        count["valid" if not fast else "invalid"] += 1
    assert count["valid"] > MUTATIONS / 100
    assert count["invalid"] > MUTATIONS / 2


@cache
def whole(name: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema(name))


def takes(name: str, value: Any) -> bool | None:
    """The verdict of the published document; null for a value that the fast engine cannot take."""
    try:
        return whole(name).is_valid(value)
    except ValueError:
        return None


def by_place(pointer: str) -> list[tuple[bool, int, str]]:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    return [(not p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts]


def test_both_engines_take_every_recorded_event() -> None:
    count = 0
    for version in (3, 4):
        validators = [
            Validator(f"session/v{version}/event"),
            Validator(f"session/v{version}/event", engine="reference"),
        ]
        header = Validator(f"session/v{version}/stored-header")
        logs = (ROOT / "conformance" / "recordings").glob(f"v{version}/*/sessions/*/*/*.jsonl")
        for path in logs:
            first, *rows = [json.loads(line) for line in path.read_bytes().splitlines()]
            assert header.findings(first) == []
            for row in filter(lambda row: validators[0].covers(row["type"]), rows):
                # No recorded list is long enough to hold a range.
                for validator in validators:
                    assert validator.findings(row) == [], path
                count += 1
    assert count > 200


# ---- Cost and sharing --------------------------------------------------------------------------

QUIET = """
import sys
from dsh_protocol.schemas import Validator
event = {"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": 1}}
assert not Validator("session/v4/event").findings(event)
assert Validator("session/v4/event").findings(event | {"seq": -1})
heavy = {"jsonschema", "referencing", "pydantic", "yaml", "typer"} & set(sys.modules)
assert not heavy, heavy
"""


def test_the_reference_engine_is_loaded_only_when_needed() -> None:
    subprocess.run([sys.executable, "-c", QUIET], check=True)


def test_threads_share_a_validator() -> None:
    chosen = [e for e in examples() if e.schema == "session/v4/event"][::7]
    validator = Validator("session/v4/event")

    def run(offset: int) -> dict[str, list[SchemaFinding]]:
        turned = chosen[offset:] + chosen[:offset]
        return {example.place: validator.findings(example.value) for example in turned}

    expected = run(0)
    with ThreadPoolExecutor(8) as pool:
        assert all(found == expected for found in pool.map(run, range(0, len(chosen), 20)))


def test_names_stand_for_definitions() -> None:
    assert Validator("session/v4/event").findings({}) == Validator(
        "session/v4/SessionEvent"
    ).findings({})
    assert schema("session/v4/header")["title"] == "SessionHeader"
