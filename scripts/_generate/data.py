"""The YAML files of `spec/`, checked and compiled to JSON, which loads hundreds of times faster."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from .errors import GenerateError
from .members import check_members
from .schemas import Schema
from .vocabulary import check_vocabulary

PACKAGE = "dsh_protocol_data"


def write_data(spec: Path, bundles: Mapping[str, Schema], output: Path) -> None:
    """Write the data package: compiled YAML, the bundles, and the module that loads them.

    Raises:
        GenerateError: a YAML file does not have the shape its `*.schema.json` describes.
    """
    output.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(__file__).parent / "data_init.py", output / "__init__.py")
    (output / "py.typed").touch()
    write_json(output / "rules.json", compile_rules(spec))
    vocabulary = load_yaml(spec, "session/vocabulary")
    check_vocabulary(vocabulary, bundles)
    write_json(output / "vocabulary.json", vocabulary)
    history = load_yaml(spec, "session/member_history")
    enforcement = load_yaml(spec, "session/enforcement")
    check_members(history, enforcement, bundles)
    write_json(output / "member_history.json", history)
    write_json(output / "enforcement.json", enforcement)
    for source, target in (
        ("wire/routes", "routes"),
        ("wire/texts", "texts"),
        ("session/texts", "session_texts"),
        ("loop/rules", "loop_rules"),
        ("prompt/texts", "prompt_texts"),
        ("prompt/orders", "prompt_orders"),
    ):
        write_json(output / f"{target}.json", load_yaml(spec, source))
    for name, schema in bundles.items():
        write_json(output / "schemas" / f"{name}.json", schema)


def write_json(path: Path, value: Any) -> None:
    """Write JSON as the project does: indented by one space, UTF-8, with a final line feed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def load_yaml(spec: Path, name: str, schema: str | None = None) -> Any:
    """The content of `spec/<name>.yaml`, valid by `spec/<schema or name>.schema.json`.

    Raises:
        GenerateError: a file is missing, no YAML, or not of that shape.
    """
    shape = json.loads(_read(spec / f"{schema or name}.schema.json"))
    Draft202012Validator.check_schema(shape)
    try:
        value = yaml.load(_read(spec / f"{name}.yaml"), Loader=_UniqueKeys)
    except yaml.YAMLError as error:
        raise GenerateError(f"spec/{name}.yaml: {error}") from error
    errors = sorted(
        Draft202012Validator(shape).iter_errors(value), key=lambda e: list(map(str, e.path))
    )
    if errors:
        raise GenerateError(*(f"spec/{name}.yaml: {e.json_path}: {e.message}" for e in errors))
    return value


def compile_rules(spec: Path) -> list[dict[str, Any]]:
    """Every rule of `spec/rules/*.yaml`, with the defaults of its file filled in.

    Raises: GenerateError: a file has another shape, an id occurs twice, or a rule ends before
    it begins.
    """
    names = sorted(path.stem for path in (spec / "rules").glob("*.yaml"))
    rules = []
    for name in names:
        content = load_yaml(spec, f"rules/{name}", "rules/rules")
        rules += [{**content["defaults"], **entry} for entry in content["rules"]]
    problems = [
        f"{id_}: two rules have this id"
        for id_, n in Counter(r["id"] for r in rules).items()
        if n > 1
    ]
    problems += [
        f"{r['id']}: until is before since" for r in rules if (r["until"] or 99) < r["since"]
    ]
    if problems or not rules:
        raise GenerateError(*(f"spec/rules: {text}" for text in problems or ["no rule"]))
    return rules


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise GenerateError(f"{path.name}: {error.strerror}") from error


class _UniqueKeys(yaml.SafeLoader):
    """A safe loader that refuses a key which occurs twice (the library keeps the last one)."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        counts = Counter(key.value for key, _ in node.value)
        for key, _ in node.value:
            if counts[key.value] > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f'the key "{key.value}" occurs twice', key.start_mark
                )
        return super().construct_mapping(node, deep)
