"""Findings and errors of the rules about stored bytes."""

from __future__ import annotations

from typing import Any

from dsh_protocol.findings import Finding, StorageError, UnsupportedFormatError
from dsh_protocol.rules import is_active, refuse

UNUSABLE = "storage/unusable"
"""The code of an error whose rule is switched off, where there is no way to go on without it."""


class RowFindings:
    """Findings in the order of the rows, up to a limit; what is beyond it is counted."""

    __slots__ = ("_limit", "findings", "omitted")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.findings: list[Finding] = []
        self.omitted = 0

    def add(self, rule_id: str, **details: Any) -> None:
        """Note that a rule is broken; `details` are those of `refuse`."""
        if not is_active(rule_id):
            return
        if len(self.findings) < self._limit:
            self.findings.append(refuse(rule_id, **details))
        else:
            self.omitted += 1

    def drain(self) -> list[Finding]:
        """The findings so far; what comes next has the whole room again."""
        findings, self.findings = self.findings, []
        return findings


def storage_error(
    rule_id: str, *, line: int | None = None, path: str = "", **details: Any
) -> StorageError:
    """The error that ends the reading of a log for breaking this rule."""
    finding = refuse(rule_id, line=line, path=path, **details)
    code = rule_id if is_active(rule_id) else UNUSABLE
    return StorageError(code, finding.message, fix=finding.fix, path=path, line=line)


def format_error(rule_id: str, version: int, **details: Any) -> UnsupportedFormatError:
    """The error about a log of a format generation that is not read here."""
    finding = refuse(rule_id, found=version, **details)
    code = rule_id if is_active(rule_id) else UNUSABLE
    return UnsupportedFormatError(code, finding.message, version=version, fix=finding.fix)
