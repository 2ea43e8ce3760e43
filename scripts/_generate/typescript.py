"""TypeScript types from the bundles, written by json-schema-to-typescript and left as they are."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import GenerateError
from .schemas import Schema

_OPTIONS = (
    "--no-additionalProperties",
    "--unknownAny",
    "--maxItems=-1",
    "--bannerComment=",
)


def why_not() -> str | None:
    """Why this machine cannot write TypeScript, or None when it can.

    Raises:
        GenerateError: it cannot, and `REQUIRE_TYPESCRIPT=1` or `CI=true` requires it.
    """
    if shutil.which("node") and shutil.which("npm"):
        return None
    reason = "Node.js (node and npm) is not on PATH"
    if os.environ.get("REQUIRE_TYPESCRIPT") == "1" or os.environ.get("CI") == "true":
        raise GenerateError(f"TypeScript is required here, and {reason}")
    return reason


def write_types(bundles: Mapping[str, Schema], tools: Path, output: Path, work: Path) -> None:
    """Write `<bundle>.ts` into `output` for each bundle, and compile all of them.

    Raises:
        GenerateError: the npm packages cannot be installed, or a tool refuses its input.
    """
    install(tools)
    output.mkdir(parents=True, exist_ok=True)
    running = []
    for name, schema in bundles.items():
        source = work / f"{name}.json"
        source.write_text(json.dumps(_for_typescript(schema)), encoding="utf-8")
        command = ["json2ts", "-i", str(source), "-o", str(output / f"{name}.ts"), *_OPTIONS]
        running.append(_start(tools, command))
    for process in running:
        _finish(process)
    check_types(tools, sorted(output.glob("*.ts")))


def check_types(tools: Path, files: list[Path]) -> None:
    """Compile files with `tsc --strict`.

    Raises:
        GenerateError: the compiler's own messages.
    """
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--types", ""]
    _finish(_start(tools, ["tsc", *options, *(str(path) for path in files)]))


def install(tools: Path) -> None:
    """`npm ci` in the folder of the pinned packages, unless that is what it already holds.

    Raises:
        GenerateError: npm's own messages.
    """
    lock = hashlib.sha256((tools / "package-lock.json").read_bytes()).hexdigest()
    stamp = tools / "node_modules" / ".installed"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == lock:
        return
    print("installing the npm packages of scripts/typescript ...", flush=True)
    command = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=tools, capture_output=True, text=True)
    if done.returncode:
        raise GenerateError("npm ci:", *(done.stdout + done.stderr).splitlines())
    stamp.write_text(lock, encoding="utf-8")


def _start(tools: Path, command: list[str]) -> subprocess.Popen[str]:
    program = str(tools / "node_modules" / ".bin" / command[0])
    return subprocess.Popen(
        [program, *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _finish(process: subprocess.Popen[str]) -> None:
    said, _ = process.communicate()
    if process.returncode:
        name = Path(str(process.args[0] if isinstance(process.args, list) else process.args)).name
        raise GenerateError(f"{name}:", *said.splitlines())


def _for_typescript(schema: Schema) -> Schema:
    """The same definitions in the shape this generator needs.

    It writes what it reaches from the root, so the root becomes an object with one member for each
    definition, which is also a type to look others up by name. A member beside `$ref` makes a
    second, numbered type: only the `$ref` stays.
    """
    names = list(schema["$defs"])
    return {
        "$schema": schema["$schema"],
        "title": "Definitions",
        "description": "Every type of this file by its name.",
        "type": "object",
        "properties": {name: {"$ref": f"#/$defs/{name}"} for name in names},
        "required": names,
        "additionalProperties": False,
        "$defs": _plain(schema["$defs"]),
    }


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(child) for child in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("$ref"), str):
        return {"$ref": value["$ref"]}
    return {key: _plain(child) for key, child in value.items()}
