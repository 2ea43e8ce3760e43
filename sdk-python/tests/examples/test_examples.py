"""The examples are what they say; together they show and break all that the schemas state."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from example_files import EXAMPLES, Example, example_paths, examples
from schema_constraints import Constraint, Walk
from schema_shapes import Shapes

import dsh_protocol_data
from dsh_protocol.schemas import Validator
from dsh_protocol.schemas._catalog import find
from dsh_protocol.schemas._engines import Engine
from dsh_protocol.schemas._leaves import leaves
from dsh_protocol.schemas._sites import site_of

SHARED_TYPES = [
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "user/message",
    "system/message",
    "assistant/message",
    "assistant/attempt",
    "tool/call",
    "tool/result",
    "request/header",
    "request/context",
    "llm/retry",
    "llm/retry-started",
    "tool/ptc-dispatch-start",
    "tool/ptc-dispatch",
    "agent/inbox/spliced",
    "compaction/start",
    "compaction/summary",
    "compaction/end",
    "compaction/prune",
    "image/offload",
    "session/end-seed",
    "session/title",
    "session/title-llm-request",
    "session-log-deepseek/delivery-accepted",
    "agent-preset/selected",
    "model/selection",
    "approval/asked",
    "approval/decided",
    "approval/policy",
    "sandbox/mode",
    "permission/preset",
    "plan/mode",
    "command/run",
    "command/done",
    "feedback/record",
    "feedback/message-put",
    "feedback/message-delete",
    "hook/invoked",
    "hook/result",
    "todo/write",
    "goal/change",
    "schedule/change",
    "tool-workflow/run-start",
    "tool-workflow/run-end",
    "tool-workflow/agent-start",
    "tool-workflow/agent-end",
    "team/member",
    "team/task",
    "team/message/queued",
    "team/message/delivered",
    "subagent/descriptor",
    "subagent/catalog",
    "subagent/model-selection-policy",
    "deliverables/presented",
    "workspace/changes",
    "web/deepseek-search-llm-request",
]
TYPES = {
    "session/v3": SHARED_TYPES,
    "session/v4": [
        *SHARED_TYPES,
        "developer/message",
        "working-directory/change",
        "job/registered",
        "job/settled",
    ],
}
ENTRIES = {
    "session/v3": ["SessionEvent", "SessionHeader", "StoredSessionHeader", "StoredEventRow"],
    "session/v4": ["SessionEvent", "SessionHeader", "StoredSessionHeader", "StoredEventRow"],
    "wire": ["ChatRequest", "MessagesRequest", "PiAiContext", "GenerateOptions"],
    "prompt": [
        *("AssembleContext", "PromptSection", "PromptContext", "PromptVariable"),
        *("ToolProviderResult", "PromptAssembly", "PromptConfig", "PersonaConfig"),
        *("OutputSchema", "ValueSpec"),
        *("PropertySpec", "ParameterSpecs", "ToolDefinition", "ToolRestriction", "ToolInvocation"),
        *("ToolSuccess", "ToolFailure", "PreToolDecision", "PostToolDecision", "SurfaceCommit"),
        *("PromptProjectionInput", "PreparedCall", "HeaderDecision"),
    ],
}
EVERY_FAMILY = pytest.mark.parametrize("family", list(ENTRIES))
EVERY_FORMAT = pytest.mark.parametrize("family", list(TYPES))

# The members around the payload are the same definitions in every event. One log-only type and one
# surface type break them for all.
ENVELOPE = {"seq", "time", "ignorable", "surfaceOp", "sourceEventSeqs"}
BREAKS_ENVELOPE = {"TurnStartEvent", "UserMessageEvent"}


def definitions(family: str) -> dict[str, dict[str, Any]]:
    bundle = family.replace("/", "-")
    found: dict[str, dict[str, Any]] = dsh_protocol_data.load(f"schemas/{bundle}")["$defs"]
    return found


def event_definitions(family: str) -> dict[str, str]:
    """The definition of every event type."""
    if family in ("wire", "prompt"):
        return {}
    mapping = definitions(family)["KnownSessionEvent"]["discriminator"]["mapping"]
    return {type_: ref.rpartition("/")[2] for type_, ref in mapping.items()}


def own(family: str) -> list[Example]:
    return [example for example in examples() if example.family == family]


# ---- The files ---------------------------------------------------------------------------------


def test_files_have_the_stated_form() -> None:
    schema = json.loads((EXAMPLES / "example.schema.json").read_bytes())
    validator = jsonschema.Draft202012Validator(schema)
    count = 0
    for path in example_paths():
        value = json.loads(path.read_bytes())
        assert not list(validator.iter_errors(value)), path
        written = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        assert path.read_text(encoding="utf-8") == written, f"{path}: not in the common layout"
        count += 1
    assert count > 3000


@pytest.mark.parametrize(
    "wrong",
    [
        {"about": "No verdict here.", "value": 1},
        {"about": "Valid with a refusal.", "valid": True, "value": 1, "refusal": {}},
        {"about": "Invalid without one.", "valid": False, "value": 1},
        {
            "about": "A word that is no keyword.",
            "valid": False,
            "value": 1,
            "refusal": {"keyword": "oneOf", "path": ""},
        },
        {"about": "Unknown member.", "valid": True, "value": 1, "note": ""},
    ],
)
def test_the_form_bites(wrong: dict[str, Any]) -> None:
    schema = json.loads((EXAMPLES / "example.schema.json").read_bytes())
    assert not jsonschema.Draft202012Validator(schema).is_valid(wrong)


def test_no_two_examples_are_alike() -> None:
    seen: dict[str, str] = {}
    for example in examples():
        key = example.schema + json.dumps(example.value, sort_keys=True)
        assert key not in seen, f"{example.place} and {seen[key]}"
        seen[key] = example.place


# ---- Verdicts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["fast", "reference"])
@EVERY_FAMILY
def test_each_example_is_taken_or_refused_as_it_says(family: str, engine: Engine) -> None:
    validators: dict[str, Validator] = {}
    verdicts: Counter[bool] = Counter()
    for example in own(family):
        validator = validators.setdefault(example.schema, Validator(example.schema, engine=engine))
        found = [(finding.keyword, finding.path) for finding in validator.findings(example.value)]
        assert found == ([] if example.refusal is None else [example.refusal]), example.place
        verdicts[example.valid] += 1
    assert verdicts[True] > 30
    assert verdicts[False] > 200


# ---- Nothing is left out -----------------------------------------------------------------------


@EVERY_FORMAT
def test_every_type_has_its_examples(family: str) -> None:
    assert set(event_definitions(family)) == set(TYPES[family])
    assert len(TYPES[family]) == {"session/v3": 58, "session/v4": 62}[family]
    folders: dict[str, Counter[bool]] = {}
    for example in own(family):
        folders.setdefault(example.folder, Counter())[example.valid] += 1
    places = {example.place for example in own(family)}
    for type_ in TYPES[family]:
        folder = f"{family}/{type_.replace('/', '.')}"
        assert f"{folder}/minimal.json" in places
        assert f"{folder}/maximal.json" in places
        assert folders[folder][False] >= 3, folder


@EVERY_FORMAT
def test_an_example_stands_in_the_folder_of_its_type(family: str) -> None:
    for example in own(family):
        if example.schema == f"{family}/event" and not example.folder.endswith("/unknown-types"):
            type_ = example.folder.rpartition("/")[2]
            assert example.value["type"].replace("/", ".") == type_, example.place


@EVERY_FAMILY
def test_the_invalid_examples_break_every_constraint(family: str) -> None:
    walk = Walk(definitions(family))
    for name in ENTRIES[family]:
        walk.definition(name)
    broken = {c for example in own(family) if not example.valid for c in constraints(example)}
    events = set(event_definitions(family).values()) - BREAKS_ENVELOPE
    left = sorted(c for c in walk.found - broken if not (c[0] in events and is_envelope(c)))
    assert left == []
    assert broken <= walk.found, "a finding that no constraint explains"
    assert len(walk.found) > 250


def constraints(example: Example) -> set[Constraint]:
    """What the example breaks, in the terms of the walk."""
    return {
        (
            leaf.site.definition,
            leaf.site.members,
            leaf.keyword,
            "" if leaf.keyword in ("additionalProperties", "propertyNames") else leaf.subject,
        )
        for leaf in leaves(site_of(find(example.schema)), example.value, "fast")
    }


def is_envelope(constraint: Constraint) -> bool:
    _, members, keyword, subject = constraint
    return members[0] in ENVELOPE if members else keyword == "required" and subject in ENVELOPE


@EVERY_FORMAT
def test_the_envelope_is_the_same_in_every_event(family: str) -> None:
    known = definitions(family)
    common = {
        member: schema
        for name in BREAKS_ENVELOPE
        for member, schema in known[name]["properties"].items()
        if member in ENVELOPE
    }
    assert common.keys() == ENVELOPE
    for name in event_definitions(family).values():
        for member in known[name]["properties"].keys() & ENVELOPE:
            schema = known[name]["properties"][member]
            # The one event that is always appended says so, and breaks it in an example of its own.
            if (name, member) != ("AssistantMessageEvent", "surfaceOp"):
                assert schema == common[member], f"{name}.{member}"
        assert {"seq", "time"} <= set(known[name]["required"])


@EVERY_FAMILY
def test_the_valid_examples_show_every_member_tag_and_value(family: str) -> None:
    shapes = Shapes(definitions(family))
    for name in ENTRIES[family]:
        shapes.declare(name)
    for example in own(family):
        if example.valid:
            shapes.meet(find(example.schema).definition, example.value)
    events = set(event_definitions(family).values()) - BREAKS_ENVELOPE
    left = {f for f in shapes.declared - shapes.met if not _is_envelope_member(f, events)}
    assert sorted(left) == []


def _is_envelope_member(feature: tuple[str, str, str], events: set[str]) -> bool:
    name, path, _ = feature
    return name in events and path.removeprefix("/") in ENVELOPE


# ---- Recordings --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "format_"), [("wire/deepseek-messages", "v4"), ("wire/deepseek-chat", "v3")]
)
def test_every_recorded_request_is_valid(schema: str, format_: str) -> None:
    recordings = Path(__file__).resolve().parents[3] / "conformance" / "recordings"
    validator = Validator(schema)
    count = 0
    for path in sorted(recordings.glob(f"{format_}/*/wire.jsonl")):
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            body = json.loads(json.loads(line)["body"])
            assert validator.findings(body) == [], path
            count += 1
    assert count > 20


def test_every_context_of_the_official_adapters_is_valid() -> None:
    suite = Path(__file__).resolve().parents[3] / "conformance" / "suites" / "wire-pi-ai.json"
    validator = Validator("wire/pi-ai-context")
    cases = json.loads(suite.read_bytes())["cases"]
    bodies = [case["expect"]["ok"]["body"] for case in cases if "ok" in case["expect"]]
    for body in bodies:
        assert validator.findings(json.loads(body)) == [], body
    assert len(bodies) > 100


def test_recorded_examples_are_recorded_bodies() -> None:
    recordings = Path(__file__).resolve().parents[3] / "conformance" / "recordings"
    bodies = {
        json.dumps(json.loads(json.loads(line)["body"]))
        for path in recordings.glob("*/*/wire.jsonl")
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]
    }
    copies = [e for e in examples() if "/recorded-" in e.place]
    assert len(copies) >= 6
    for example in copies:
        assert json.dumps(example.value) in bodies, example.place
