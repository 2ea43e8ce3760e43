"""What the schemas of `spec/` keep to, so that generators give good types without a patch.

Each function looks at one definition and yields the reasons to refuse it. The traps behind them: a
generator drops a keyword without a word, invents a name, or makes twins of a type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from .schemas import Definition, Schema, SchemaFile, split_ref, subschemas

_NAME = re.compile(r"^[A-Z][A-Za-z0-9]*$")
_OPENNESS = re.compile(r"\b(Open|Closed)\b")
_SHORTEST_DESCRIPTION = 15

# No generator turns these into a type: the model would accept what the schema refuses.
_DROPPED = (
    "if",
    "then",
    "else",
    "not",
    "allOf",
    "patternProperties",
    "dependentSchemas",
    "unevaluatedProperties",
)
_COMPOSITION = ("oneOf", "anyOf")
_NULL = {"type": "null"}
_SIMPLE = {"$ref", "type", "const", "enum", "description"}
_MEANING = {"$ref", "type", "const", "enum", "oneOf", "anyOf", "tsType"}

Problems = Iterator[str]
Known = Mapping[tuple[str, str], Definition]


def lint(files: Mapping[str, SchemaFile]) -> list[str]:
    """One line for each place of `spec/` that breaks the style; empty when all is well."""
    known = {(d.file, d.name): d for file in files.values() for d in file.definitions()}
    problems = [problem for file in files.values() for problem in _file_problems(file)]
    for file in files.values():
        for definition in file.definitions():
            problems += [f"{definition.place}: {text}" for text in _problems(definition, known)]
    return problems


def _file_problems(file: SchemaFile) -> Problems:
    place = f"spec/{file.name}"
    if file.value.get("$schema") != "https://json-schema.org/draft/2020-12/schema":
        yield f"{place}: $schema is not JSON Schema 2020-12"
    if not str(file.value.get("$id", "")).endswith("/" + file.name):
        yield f'{place}: $id does not end in "/{file.name}"'
    if not file.value.get("$defs"):
        yield f"{place}: no definition"
    for key in sorted(file.value.keys() - {"$schema", "$id", "$comment", "description", "$defs"}):
        yield f'{place}: member "{key}" at the top: everything is a named definition'


def _problems(definition: Definition, known: Known) -> Problems:
    for check in _CHECKS:
        yield from check(definition)
    for path, schema in subschemas(definition.schema):
        if "$ref" in schema:
            yield from (f"{path}: {text}" for text in _ref_problems(schema, definition.file, known))
        if "oneOf" in schema:
            yield from (f"{path}: {text}" for text in _tag_problems(schema, definition.file, known))


def _ref_problems(schema: Schema, file: str, known: Known) -> Problems:
    ref = schema["$ref"]
    try:
        if split_ref(ref, file) not in known:
            yield f'$ref "{ref}" leads nowhere'
    except ValueError as error:
        yield str(error)
    for key in sorted(schema.keys() - {"$ref", "description"}):
        yield f'"{key}" beside $ref is dropped: name a definition that says both'


def _named(definition: Definition) -> Problems:
    if not _NAME.match(definition.name):
        yield "a definition's name is a PascalCase identifier"
    if definition.schema.get("title", definition.name) != definition.name:
        yield "a title wins over the name in TypeScript only: remove it"


def _described(definition: Definition) -> Problems:
    text = definition.schema.get("description", "")
    if len(text) < _SHORTEST_DESCRIPTION:
        yield "no description that a reader without the source understands"
    if not _is_object(definition.schema):
        return
    said = set(_OPENNESS.findall(text))
    closed = definition.schema.get("additionalProperties") is False
    if said != {"Closed" if closed else "Open"}:
        word = "Closed" if closed else "Open"
        yield f'the description of this object says "{word}", and not the other word'


def _objects(definition: Definition) -> Problems:
    for path, schema in subschemas(definition.schema):
        if not _is_object(schema):
            continue
        if "additionalProperties" not in schema:
            yield f"{path}: an object without additionalProperties"
        if "properties" not in schema and schema.get("additionalProperties") is True and not path:
            yield "a free object: give the schema of its members in additionalProperties"
        if path and "properties" in schema:
            yield f"{path}: an object without a name: make it a definition"
        for name in sorted(set(schema.get("required", ())) - schema.get("properties", {}).keys()):
            yield f'{path}: requires "{name}", which it does not declare'


def _keywords(definition: Definition) -> Problems:
    for path, schema in subschemas(definition.schema):
        for key in _DROPPED:
            if key in schema:
                yield f'{path}: "{key}" is lost in the generated types'
        if not schema.keys() & _MEANING:
            yield f"{path}: any JSON value has a definition of its own: refer to it"
        for key in ("properties", "items", *_COMPOSITION):
            if _holds_boolean(schema.get(key)):
                yield f"{path}: a boolean schema in {key}: use the definition of any JSON value"
        if "type" in schema and schema["type"] in ("number", ["number", "integer"]):
            yield f'{path}: write a number as ["integer", "number"], in this order'
        if "format" in schema:
            yield f'{path}: "format" changes values in generated types: describe it'


def _unions(definition: Definition) -> Problems:
    for path, schema in subschemas(definition.schema):
        branches = [branch for key in _COMPOSITION for branch in schema.get(key, ())]
        if path and any("$ref" not in branch and branch != _NULL for branch in branches):
            yield f"{path}: a union of unnamed schemas: make it a definition"
        elif any(branch.keys() - _SIMPLE for branch in branches):
            yield f"{path}: a branch with constraints gets a numbered name: make it a definition"


def _tag_problems(schema: Schema, file: str, known: Known) -> Problems:
    discriminator = schema.get("discriminator")
    if discriminator is None:
        yield "oneOf needs a discriminator, or else errors of every branch are shown (or use anyOf)"
        return
    refs = [branch.get("$ref", "") for branch in schema["oneOf"]]
    if "mapping" in discriminator:
        if set(discriminator["mapping"].values()) != set(refs):
            yield "the discriminator's mapping does not name exactly the branches"
        return
    for ref in refs:
        if not _has_constant(known, ref, file, discriminator["propertyName"]):
            yield f'without a mapping the tag of "{ref}" has to be a const'


def _has_constant(known: Known, ref: str, file: str, tag: str) -> bool:
    try:
        branch = known.get(split_ref(ref, file))
    except ValueError:
        return False
    return branch is not None and "const" in branch.schema.get("properties", {}).get(tag, {})


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" or "properties" in schema


def _holds_boolean(child: object) -> bool:
    if isinstance(child, dict):
        return any(isinstance(inner, bool) for inner in child.values())
    if isinstance(child, list):
        return any(isinstance(inner, bool) for inner in child)
    return isinstance(child, bool)


_CHECKS: tuple[Callable[[Definition], Problems], ...] = (
    _named,
    _described,
    _objects,
    _keywords,
    _unions,
)
