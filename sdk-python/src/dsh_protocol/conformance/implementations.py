"""Implementations: how each is started, what it can do, and the conversation with its adapter."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from .errors import ImplementationError
from .files import read_schema
from .process import PROTOCOL, Adapter, AdapterFailure

Json = dict[str, Any]

START_LIMIT = 60.0
"""Seconds for an adapter to start and say what it can do."""
_PYTHON = "python"


@dataclass(frozen=True)
class Implementation:
    """What `--impl` names. `folder` is the one of a known adapter, null for a command."""

    name: str
    command: tuple[str, ...]
    folder: Path | None = None

    @property
    def known_failures(self) -> Path | None:
        """The file in which this implementation explains its failures, if it has one."""
        path = None if self.folder is None else self.folder / "known-failures.json"
        return path if path is not None and path.is_file() else None


def find_implementation(name: str, corpus: Path) -> Implementation:
    """The implementation of this name (`python`, or a folder of `adapters/` with a `run`), or the command `name`.

    Raises:
        ImplementationError: `conformance/no-such-implementation`.
    """
    folder = corpus / "adapters" / name
    known = folder if folder.is_dir() else None
    if name == _PYTHON:
        command = (sys.executable, "-m", "dsh_protocol.conformance.adapter")
        return Implementation(name, command, known)
    if known is not None and (known / "run").is_file():
        return Implementation(name, (str(known / "run"),), known)
    return Implementation(name, _words(name))


def _words(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
        problem = "" if words else "it is empty"
    except ValueError as error:
        words, problem = (), str(error)
    if problem:
        raise ImplementationError(
            "conformance/no-such-implementation",
            f"--impl is no command: {problem}",
            fix="Name python, a folder of conformance/adapters, or a command.",
        )
    return words


@dataclass(frozen=True)
class Capabilities:
    """What an adapter says about itself."""

    implementation: Json
    ops: Mapping[str, tuple[int, ...]]
    reports: frozenset[str]

    def takes(self, op: str, version: int) -> bool:
        """Whether the adapter answers this op in this format."""
        return version in self.ops.get(op, ())


@dataclass
class Conversation:
    """Questions to one adapter, its answers checked for their shape."""

    adapter: Adapter
    schemas: Mapping[str, Draft202012Validator] = field(repr=False)
    limit: float
    capabilities: Capabilities | None = None
    _number: int = 0

    @classmethod
    def with_(cls, implementation: Implementation, corpus: Path, limit: float) -> Conversation:
        """A conversation with a new adapter; nothing is started yet."""
        return cls(Adapter(implementation.command), _schemas(corpus), limit)

    def start(self) -> Capabilities:
        """Start the adapter, or a new one, and ask what it can do.

        Raises:
            AdapterFailure: it does not start, or does not say.
        """
        started = self._ask("started", {"cmd": "start", "protocol": PROTOCOL}, START_LIMIT)
        said = self._ask("capabilities", {"cmd": "capabilities"}, START_LIMIT)
        ops = {op: tuple(formats) for op, formats in said["ops"].items()}
        self.capabilities = Capabilities(
            started["implementation"], ops, frozenset(said.get("reports", ()))
        )
        return self.capabilities

    def ask(self, case_id: str, op: str, version: int, given: Json) -> Json:
        """The answer to a case.

        Raises:
            AdapterFailure: there is none. The next question goes to a new process.
        """
        if not self.adapter.running:
            self.start()
        self._number += 1
        message = {
            "cmd": "case",
            "number": self._number,
            "id": case_id,
            "op": op,
            "format": version,
            "input": given,
        }
        answer = self._ask("answer", message, self.limit)
        if answer["number"] != self._number:
            self.adapter.kill()
            raise AdapterFailure("invalid", "an answer to another question")
        return answer

    def _ask(self, kind: str, message: Json, limit: float) -> Json:
        answer = self.adapter.ask(message, limit=limit)
        errors = list(self.schemas[kind].iter_errors(answer))
        if errors:
            self.adapter.kill()
            place = errors[0].json_path
            raise AdapterFailure("invalid", f"{kind} {place}: {errors[0].message[:200]}")
        return answer


@cache
def _schemas(corpus: Path) -> Mapping[str, Draft202012Validator]:
    schema = read_schema(corpus / "protocol.schema.json")
    return {
        kind: Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]})
        for kind in ("started", "capabilities", "answer")
    }
