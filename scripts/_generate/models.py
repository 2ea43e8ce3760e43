"""Pydantic models: one module for each schema file, as datamodel-code-generator writes it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from .errors import GenerateError
from .schemas import SchemaFile

PACKAGE = "dsh_protocol_models"

# What each option is for is in README.md beside this file.
_OPTIONS = (
    "--input-file-type=jsonschema",
    "--schema-version=2020-12",
    "--output-model-type=pydantic_v2.BaseModel",
    "--target-python-version=3.11",
    "--target-pydantic-version=2.14",
    f"--base-class={PACKAGE}._base.Model",
    "--snake-case-field",
    "--allow-population-by-field-name",
    "--use-missing-sentinel",
    "--use-annotated",
    "--enum-field-as-literal=all",
    "--use-type-alias",
    "--skip-root-model",
    "--use-exact-imports",
    "--use-schema-description",
    "--use-double-quotes",
    "--formatters=ruff-format",
    "--disable-timestamp",
    "--no-allow-remote-refs",
    "--strict-refs",
)
_STRICT_TYPES = ("--strict-types", "int", "float", "bool", "str")


def write_models(files: Mapping[str, SchemaFile], output: Path, work: Path) -> None:
    """Write the package into `output`; `work` is a folder outside any project for the input.

    Raises:
        GenerateError: the generator refuses the schemas.
    """
    source = work / "spec"
    for file in files.values():
        path = source / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(file.value), encoding="utf-8")
    package = work / PACKAGE
    # A project file above the output would lend its formatter settings to the result.
    (work / "ruff.toml").write_text("line-length = 100\n", encoding="utf-8")
    _run(source, package, work)
    shutil.copytree(package, output, dirs_exist_ok=True)
    here = Path(__file__).parent
    shutil.copyfile(here / "model_base.py", output / "_base.py")
    (output / "py.typed").touch()


def modules(homes: Mapping[str, str]) -> dict[str, str]:
    """The module below the package that has the model of each definition, given the files of them."""
    return {name: file.removesuffix(".json").replace("/", ".") for name, file in homes.items()}


def _run(source: Path, package: Path, work: Path) -> None:
    tools = Path(sys.executable).parent
    command = [
        str(tools / "datamodel-codegen"),
        f"--input={source}",
        f"--output={package}",
        *_OPTIONS,
        *_STRICT_TYPES,
    ]
    environment = {
        **os.environ,
        "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', '')}",
        "RUFF_NO_CACHE": "true",
    }
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True)
    if done.returncode or done.stderr.strip():
        raise GenerateError("datamodel-codegen:", *(done.stdout + done.stderr).splitlines())
