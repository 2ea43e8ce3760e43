"""Every definition of `spec/` arrives everywhere once, and nothing else does."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from _generate.layout import BUNDLES, HERE, Bundle
from _generate.schemas import load_schemas

FILES = load_schemas(HERE.spec)
DEFINITIONS = [definition for file in FILES.values() for definition in file.definitions()]


def bundled(kind: Bundle) -> dict[str, Any]:
    path = HERE.generated / "bundled" / f"{kind.name}.schema.json"
    content: dict[str, Any] = json.loads(path.read_bytes())
    return content


@pytest.mark.parametrize("kind", BUNDLES, ids=lambda kind: kind.name)
def test_a_bundle_holds_the_definitions_of_its_folders(kind: Bundle) -> None:
    own = {d.name for d in DEFINITIONS if d.file.startswith(tuple(f"{f}/" for f in kind.folders))}
    assert own
    assert own <= bundled(kind)["$defs"].keys()


def test_every_definition_is_in_a_bundle() -> None:
    names = {name for kind in BUNDLES for name in bundled(kind)["$defs"]}
    assert {definition.name for definition in DEFINITIONS} == names


@pytest.mark.parametrize("kind", BUNDLES, ids=lambda kind: kind.name)
def test_the_wheel_carries_the_same_bundle(kind: Bundle) -> None:
    data = HERE.generated / "python" / "dsh_protocol_data" / "schemas" / f"{kind.name}.json"
    assert json.loads(data.read_bytes()) == bundled(kind)


@pytest.mark.parametrize("kind", BUNDLES, ids=lambda kind: kind.name)
def test_typescript_exports_each_definition_once(kind: Bundle) -> None:
    text = (HERE.generated / "typescript" / f"{kind.name}.ts").read_text(encoding="utf-8")
    exported = re.findall(r"^export (?:interface|type) (\w+)", text, re.MULTILINE)
    assert sorted(exported) == sorted([*bundled(kind)["$defs"], "Definitions"])


@pytest.mark.parametrize("name", FILES)
def test_a_python_module_defines_each_definition_once(name: str) -> None:
    module = "dsh_protocol_models." + Path(name).with_suffix("").as_posix().replace("/", ".")
    importlib.import_module(module)
    source = HERE.generated / "python" / (module.replace(".", "/") + ".py")
    text = source.read_text(encoding="utf-8")
    defined = re.findall(r"^(?:class (\w+)\(|(\w+) = TypeAliasType)", text, re.MULTILINE)
    found = sorted(left or right for left, right in defined)
    assert found == sorted(definition.name for definition in FILES[name].definitions())
