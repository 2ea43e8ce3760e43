"""Each trap of the generators stops the run, with the place."""

from __future__ import annotations

from typing import Any

import pytest

from _generate.bundle import bundle
from _generate.errors import GenerateError
from _generate.layout import Bundle
from _generate.lint import lint
from _generate.schemas import SchemaFile

DRAFT = "https://json-schema.org/draft/2020-12/schema"
KIND = Bundle("toy", ("session",), "Union")


def schema_file(name: str = "session/toys.json", **definitions: Any) -> SchemaFile:
    return SchemaFile(
        name, {"$schema": DRAFT, "$id": f"https://x.example/spec/{name}", "$defs": definitions}
    )


def thing(tag: Any = "a", **members: Any) -> dict[str, Any]:
    return {
        "description": "A thing of one kind. Closed.",
        "type": "object",
        "properties": {"kind": {"const": tag}},
        "required": ["kind"],
        "additionalProperties": False,
        **members,
    }


def union(*names: str, **members: Any) -> dict[str, Any]:
    return {
        "description": "One thing of several.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names],
        "discriminator": {"propertyName": "kind"},
        **members,
    }


def problems(**definitions: Any) -> list[str]:
    file = schema_file(**definitions)
    return lint({file.name: file})


def test_a_good_file_passes() -> None:
    assert problems(Thing=thing(), Other=thing("b"), Union=union("Thing", "Other")) == []


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        (thing(description="Closed."), "no description"),
        (thing(description="A thing of one kind."), 'says "Closed"'),
        (thing(description="A thing of one kind. Open."), 'says "Closed"'),
        (thing(additionalProperties=True), 'says "Open"'),
        (thing(title="Ding"), "a title"),
        (thing(required=["kind", "other"]), 'requires "other"'),
        (thing(allOf=[]), '"allOf" is lost'),
        ({**thing(), "if": {"type": "object"}}, '"if" is lost'),
        (thing(properties={"kind": True}), "a boolean schema"),
        (thing(properties={"kind": {"description": "Any."}}), "any JSON value"),
        (thing(properties={"kind": {"type": "number"}}), '["integer", "number"]'),
        (thing(properties={"kind": {"type": "string", "format": "uri"}}), '"format"'),
        (thing(properties={"kind": thing()}), "an object without a name"),
        (thing(properties={"kind": {"type": "object"}}), "without additionalProperties"),
        (
            thing(properties={"kind": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}),
            "a union of unnamed schemas",
        ),
        (thing(properties={"kind": {"$ref": "#/$defs/Nothing"}}), "leads nowhere"),
        (thing(properties={"kind": {"$ref": "other.json"}}), "is not of the form"),
        (
            thing(properties={"kind": {"$ref": "#/$defs/Thing", "minimum": 1}}),
            '"minimum" beside $ref',
        ),
        (
            {
                "description": "A text or several.",
                "anyOf": [{"type": "string"}, {"type": "array", "minItems": 1}],
            },
            "gets a numbered name",
        ),
        (
            {"description": "An object of anything. Open.", "type": "object"},
            "without additionalProperties",
        ),
        (
            {
                "description": "An object of anything. Open.",
                "type": "object",
                "additionalProperties": True,
            },
            "a free object",
        ),
    ],
)
def test_a_trap_is_named(definition: dict[str, Any], said: str) -> None:
    found = problems(Thing=thing(), Bad=definition)
    assert found
    assert all(problem.startswith("spec/session/toys.json#/$defs/Bad: ") for problem in found)
    assert any(said in problem for problem in found), found


@pytest.mark.parametrize(
    ("definition", "said"),
    [
        (
            {key: value for key, value in union("Thing").items() if key != "discriminator"},
            "oneOf needs a discriminator",
        ),
        (
            union("Thing", discriminator={"propertyName": "kind", "mapping": {}}),
            "does not name exactly the branches",
        ),
        (union("Thing", "Loose"), "has to be a const"),
    ],
)
def test_a_union_that_reports_badly_is_named(definition: dict[str, Any], said: str) -> None:
    loose = thing(properties={"kind": {"enum": ["b", "c"]}})
    found = problems(Thing=thing(), Loose=loose, Bad=definition)
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize("name", ["thing", "Tool/Result", "Tool-Result", "Tool_Result"])
def test_a_name_is_a_pascal_case_word(name: str) -> None:
    assert any("PascalCase" in problem for problem in problems(**{name: thing()}))


def test_two_definitions_of_one_name_do_not_fit_in_a_bundle() -> None:
    files = [
        schema_file("session/a.json", Union=union("Thing"), Thing=thing()),
        schema_file("session/b.json", Thing=thing("b")),
    ]
    with pytest.raises(GenerateError, match=r"one name for .*Thing and .*Thing"):
        bundle(KIND, {file.name: file for file in files})


def test_a_bundle_takes_in_what_it_refers_to_and_its_root_is_the_union() -> None:
    files = [
        schema_file(
            "session/a.json", Union={**union(), "oneOf": [{"$ref": "../far/b.json#/$defs/Thing"}]}
        ),
        schema_file("far/b.json", Thing=thing(), Unused=thing("c")),
    ]
    found = bundle(KIND, {file.name: file for file in files})
    assert set(found["$defs"]) == {"Union", "Thing"}
    assert found["oneOf"] == [{"$ref": "#/$defs/Thing"}]
    assert "$ref" not in found
