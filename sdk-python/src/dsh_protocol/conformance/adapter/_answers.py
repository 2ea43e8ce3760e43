"""Answers: a value, or what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from dsh_protocol.findings import Finding, ProtocolError

Json = dict[str, Any]
Op = Callable[[Json, int], Json]
"""From the input of a case and one of its formats to an answer, `{ok}` or `{refused}`."""

_UNCOUNTED = "schema/payload"
"""Schema warnings are no part of an answer about a log: an implementation may have no schemas."""


def place(finding: Finding) -> Json:
    """A finding as cases name it."""
    return {"rule": finding.rule, "seq": finding.seq, "path": finding.path}


def one_or_all(places: list[Json]) -> Json | list[Json]:
    """A single finding by itself, several as a list."""
    return places[0] if len(places) == 1 else sorted(places, key=json.dumps)


def of_findings(value: Any, findings: Iterable[Finding]) -> Json:
    """The answer for a value that came with findings; one that follows from another does not count."""
    counted = [f for f in findings if f.because is None and f.rule != _UNCOUNTED]
    errors = [place(f) for f in counted if f.severity == "error"]
    warnings = [place(f) for f in counted if f.severity == "warning"]
    answer: Json = {"refused": one_or_all(errors)} if errors else {"ok": value}
    if warnings:
        answer["warned"] = one_or_all(warnings)
    return answer


def refusal(error: ProtocolError, inside: str = "") -> Json:
    """The answer for an error; `inside` is the pointer of the value that its path begins at."""
    return {"refused": {"rule": error.code, "seq": error.seq, "path": inside + error.path}}
