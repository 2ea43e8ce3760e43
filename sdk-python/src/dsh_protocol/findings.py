"""What is wrong with a log, and the exceptions that say so.

A `Finding` is a report about one place of a log; an exception of the `ProtocolError` tree ends the work. Both carry a
stable code (a rule id of `spec/rules/` where a rule exists). Codes are API, wording is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

Severity = Literal["error", "warning"]


class FindingJson(TypedDict):
    """The JSON form of a finding, as `dsh-protocol check --format json` prints it."""

    rule: str
    severity: Severity
    seq: int | None
    line: int | None
    path: str
    message: str
    fix: str
    because: int | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule at one place.

    `seq` is the event's own number (null for the header and for rows that have none), `line` counts from 1 (the header
    line) in decompressed text, `path` is a JSON Pointer from the event (`""` is the whole event). `because` names the
    refused event without which this finding would not exist.
    """

    rule: str
    severity: Severity
    seq: int | None
    line: int | None
    path: str
    message: str
    fix: str
    because: int | None = None

    def to_json(self) -> FindingJson:
        """This finding as a JSON object with all members present."""
        return {
            "rule": self.rule,
            "severity": self.severity,
            "seq": self.seq,
            "line": self.line,
            "path": self.path,
            "message": self.message,
            "fix": self.fix,
            "because": self.because,
        }


class ProtocolError(Exception):
    """Base of every error this package raises on purpose.

    `code` is stable; `fix` says what to do next; `path`, `line` and `seq` say where, as in `Finding`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        fix: str = "",
        path: str = "",
        line: int | None = None,
        seq: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix
        self.path = path
        self.line = line
        self.seq = seq

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


class JsonError(ProtocolError):
    """A text is not JSON, or a value has no JSON form that survives a round trip."""


class StorageError(ProtocolError):
    """Stored bytes cannot be used as a session log at all."""


class UnsupportedFormatError(StorageError):
    """An intact log of a format generation this operation does not take; `version` is the log's format."""

    def __init__(self, code: str, message: str, *, version: int, fix: str = "") -> None:
        super().__init__(code, message, fix=fix, path="/version", line=1)
        self.version = version


class WireError(ProtocolError):
    """A request cannot be expressed on a wire; `code` is the protocol's failure code."""


class UsageError(ProtocolError):
    """A caller asked for something that does not exist: an unknown name, an index out of range."""


class ScopeError(ProtocolError):
    """Scope keys cannot be linked this way."""


class RegistrationError(ProtocolError):
    """A contribution cannot be registered, and nothing of it was.

    `first` says where the name was registered before (owner, file and line); it is empty where no earlier registration
    is in the way.
    """

    def __init__(
        self, code: str, message: str, *, fix: str = "", path: str = "", first: str = ""
    ) -> None:
        super().__init__(code, message, fix=fix, path=path)
        self.first = first

    def __str__(self) -> str:
        where = f" (first registered by {self.first})" if self.first else ""
        return f"{self.message}{where} [{self.code}]"


class PromptError(ProtocolError):
    """A prompt cannot be assembled or rendered; `message` is the text that the end of the turn has in its log."""


class RefusedError(ProtocolError):
    """A value breaks rules; `findings` has all of them, errors first."""

    def __init__(self, message: str, findings: Sequence[Finding]) -> None:
        first = findings[0]
        super().__init__(
            first.rule, message, fix=first.fix, path=first.path, line=first.line, seq=first.seq
        )
        self.findings = tuple(findings)
