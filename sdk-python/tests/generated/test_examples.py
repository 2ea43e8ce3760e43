"""The models and the schemas give the same verdict on every example."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from pydantic import TypeAdapter, ValidationError

from _check_schemas.__main__ import EXAMPLES, bundle_of, definition_of, is_example, load_bundle
from _generate.layout import HERE
from _generate.schemas import load_schemas

# What validators enforce and generated models do not.
BEYOND_MODELS = {"uniqueItems", "minProperties", "dependentRequired", "propertyNames"}
FILES = load_schemas(HERE.spec)

validator = cache(load_bundle)


@cache
def models(version: str, name: str) -> TypeAdapter[Any]:
    """The model of a definition, in a format or in what the formats share."""
    for file in FILES.values():
        folder = file.name.rpartition("/")[0]
        shared = folder in ("session/common", f"session/{version}", version)
        if shared and name in file.value["$defs"]:
            module = import_module(f"dsh_protocol_models.{file.name[:-5].replace('/', '.')}")
            return TypeAdapter(getattr(module, name))
    raise LookupError(name)


def examples() -> Iterator[tuple[str, TypeAdapter[Any], dict[str, Any]]]:
    for path in filter(is_example, sorted(EXAMPLES.rglob("*.json"))):
        example = json.loads(path.read_bytes())
        bundle = bundle_of(path)
        name = definition_of(path, example, validator(bundle))
        model = models(bundle.removeprefix("session-"), name)
        yield str(path.relative_to(EXAMPLES)), model, example


def as_text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def test_valid_examples_pass_and_come_back_equal() -> None:
    count = 0
    for place, model, example in examples():
        if example["valid"]:
            value = example["value"]
            loaded = model.validate_python(value, by_name=False)
            assert as_text(model.dump_python(loaded, mode="json")) == as_text(value), place
            count += 1
    assert count > 300


def test_invalid_examples_are_refused() -> None:
    taken: Counter[str] = Counter()
    places = []
    for place, model, example in examples():
        if example["valid"]:
            continue
        keyword = example["refusal"]["keyword"]
        try:
            model.validate_python(example["value"], by_name=False)
        except ValidationError:
            taken[keyword] += 1
        else:
            places += [] if keyword in BEYOND_MODELS else [f"{place}: {keyword}"]
    assert places == []
    assert taken["type"] > 500
    assert taken["required"] > 500
    assert not taken.keys() & BEYOND_MODELS
