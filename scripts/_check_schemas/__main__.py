"""`scripts/check_schemas`: say which schemas and examples of `spec/` are wrong, and count them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, SchemaError

from dsh_protocol.schemas import ENTRY_POINTS

from .places import BundleValidator

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "spec"
EXAMPLES = SPEC / "examples"

# Short names of definitions, in `definition` members and in names of folders. Any other folder is
# named by an event type, with "." for "/", or by the definition itself.
NAMED = {**ENTRY_POINTS, "unknown-types": "SessionEvent"}

Problems = Iterator[str]


def main() -> int:
    """Check everything; 1 when something is wrong, or when there is nothing to check."""
    schemas = [path for path in sorted(SPEC.rglob("*.json")) if not is_example(path)]
    schemas += sorted((ROOT / "generated" / "bundled").glob("*.json"))
    examples = [path for path in sorted(EXAMPLES.rglob("*.json")) if is_example(path)]
    problems = [problem for path in schemas for problem in check_schema(path)]
    counts = {True: 0, False: 0}
    validators: dict[str, BundleValidator] = {}
    for path in examples:
        example = json.loads(path.read_bytes())
        bundle = bundle_of(path)
        if bundle not in validators:
            validators[bundle] = load_bundle(bundle)
        found = list(check_example(path, example, validators[bundle]))
        problems += [f"{path.relative_to(ROOT)}: {text}" for text in found]
        counts[example.get("valid") is True] += 1
    problems += check_coverage(examples)
    for problem in problems:
        print(problem, file=sys.stderr)
    valid, invalid = counts[True], counts[False]
    print(f"check_schemas: {len(schemas)} schemas, {valid} valid and {invalid} invalid examples")
    if problems or not (schemas and valid and invalid):
        print(f"check_schemas: {len(problems)} problems", file=sys.stderr)
        return 1
    return 0


def check_schema(path: Path) -> Problems:
    """Whether a file is a schema of JSON Schema 2020-12."""
    try:
        Draft202012Validator.check_schema(json.loads(path.read_bytes()))
    except (ValueError, SchemaError) as error:
        yield f"{path.relative_to(ROOT)}: {str(error).splitlines()[0]}"


def check_example(path: Path, example: Any, validator: BundleValidator) -> Problems:
    """Whether an example says all it must, and is valid or refused as it says."""
    shape = list(_example_shape().iter_errors(example))
    if shape:
        yield from (f"{error.json_path}: {error.message}" for error in shape)
        return
    name = definition_of(path, example, validator)
    if name not in validator:
        yield f"no definition {name}"
        return
    places = validator.places(name, example["value"])
    if validator.is_valid_fast(name, example["value"]) == bool(places):
        yield "the two validators do not agree"
    if example["valid"]:
        yield from (f"refused: {keyword} at {at!r}" for keyword, at in sorted(places))
        return
    refusal = example["refusal"]
    if places != {(refusal["keyword"], refusal["path"])}:
        found = ", ".join(f"{keyword} at {at!r}" for keyword, at in sorted(places)) or "nothing"
        yield f"expected {refusal['keyword']} at {refusal['path']!r}, found {found}"


@cache
def _example_shape() -> Draft202012Validator:
    return Draft202012Validator(json.loads((EXAMPLES / "example.schema.json").read_bytes()))


def check_coverage(examples: list[Path]) -> Problems:
    """Whether each event type of a format has its smallest, its largest and a refused example."""
    found = {path.relative_to(EXAMPLES).as_posix() for path in examples}
    for version in ("v3", "v4"):
        for type_ in sorted(load_bundle(f"session-{version}").event_types):
            place = f"session/{version}/{type_.replace('/', '.')}"
            own = {name for name in found if name.startswith(place + "/")}
            for needed in (f"{place}/minimal.json", f"{place}/maximal.json"):
                if needed not in own:
                    yield f"spec/examples/{needed}: missing"
            if len(own) < 3:
                yield f"spec/examples/{place}: no refused example"


def is_example(path: Path) -> bool:
    """Whether a file is an example, not the schema of one."""
    return EXAMPLES in path.parents and not path.name.endswith(".schema.json")


def bundle_of(path: Path) -> str:
    """The bundle that the examples of this folder belong to."""
    area, version, *_ = path.relative_to(EXAMPLES).parts
    return f"session-{version}" if area == "session" else area


def load_bundle(bundle: str) -> BundleValidator:
    """A bundle as it is in `generated/`."""
    path = ROOT / "generated" / "bundled" / f"{bundle}.schema.json"
    return BundleValidator(json.loads(path.read_bytes()))


def definition_of(path: Path, example: dict[str, Any], validator: BundleValidator) -> str:
    """The definition that an example names, or that its folder stands for."""
    folder = str(example.get("definition", path.parent.name)).rpartition("/")[2]
    if folder in NAMED:
        return NAMED[folder]
    return validator.event_types.get(folder.replace(".", "/"), folder)


if __name__ == "__main__":
    sys.exit(main())
