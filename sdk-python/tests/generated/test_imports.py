"""The generated packages stand alone, and load no more than what is asked for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import dsh_protocol_data

ALONE = """\
import importlib, pkgutil, sys

ALLOWED = sys.stdlib_module_names | {"dsh_protocol_models", *PACKAGES}

class Refuse:
    def find_spec(self, name, path=None, target=None):
        # The standard library has one module that it does not list: the settings of its build.
        if name.partition(".")[0] not in ALLOWED and not name.startswith("_sysconfigdata_"):
            raise ImportError(f"{name} is not part of pydantic")

sys.meta_path.insert(0, Refuse())
import dsh_protocol_models
found = pkgutil.walk_packages(dsh_protocol_models.__path__, "dsh_protocol_models.")
names = [module.name for module in found]
for name in names:
    importlib.import_module(name)
print(len(names))
"""
PYDANTIC = (
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "typing_extensions",
    "typing_inspection",
)

LOADED = """\
import json, sys
import dsh_protocol_models.session.{version}.events
print(json.dumps([name for name in sys.modules if name.startswith("dsh_protocol")]))
"""


def run(code: str) -> str:
    command = [sys.executable, "-I", "-W", "error", "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_models_import_with_pydantic_alone() -> None:
    assert int(run(f"PACKAGES = {PYDANTIC!r}\n{ALONE}")) > 30


@pytest.mark.parametrize(("version", "other"), [("v3", "v4"), ("v4", "v3")])
def test_one_format_does_not_load_the_other(version: str, other: str) -> None:
    loaded = json.loads(run(LOADED.format(version=version)))
    assert f"dsh_protocol_models.session.{version}.events" in loaded
    assert not [name for name in loaded if f".{other}" in name or ".wire" in name]
    assert {name.partition(".")[0] for name in loaded} == {"dsh_protocol_models"}


def test_data_are_read_once_and_named() -> None:
    assert dsh_protocol_data.load("rules") is dsh_protocol_data.load("rules")
    with pytest.raises(FileNotFoundError):
        dsh_protocol_data.load("nothing-of-this-name")
