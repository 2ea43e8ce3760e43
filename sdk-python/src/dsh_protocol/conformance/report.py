"""What came out of a run, as JSON: `report.schema.json` describes it."""

from __future__ import annotations

from typing import Any

from .cases import Corpus
from .judge import RIGHT
from .run import Result, Run
from .trace import Trace

Json = dict[str, Any]

REPORT_FORMAT = 1
"""The version of the report's shape."""


def report_json(corpus: Corpus, runs: list[Run], traced: Trace) -> Json:
    """The results of several implementations, and what the cases are traced to."""
    return {
        "reportFormat": REPORT_FORMAT,
        "cases": len(corpus.cases),
        "implementations": [_run(run) for run in runs],
        "trace": {
            "items": [item.to_json() for item in traced.items],
            "holes": [item.id for item in traced.holes],
            "problems": list(traced.problems),
        },
    }


def _run(run: Run) -> Json:
    said = run.capabilities
    return {
        "name": run.implementation.name,
        "implementation": None if said is None else said.implementation,
        "ops": None if said is None else {op: list(formats) for op, formats in said.ops.items()},
        "passed": run.passed,
        "problem": run.problem or None,
        "counts": dict(run.counts),
        "stale": run.stale,
        "results": [_result(result) for result in run.results],
    }


def _result(result: Result) -> Json:
    told: Json = {
        "case": result.case.id,
        "format": result.format,
        "verdict": result.verdict.value,
        "milliseconds": round(result.seconds * 1000, 2),
    }
    if result.why and result.verdict not in RIGHT:
        told["why"] = result.why
    if result.reason is not None:
        told["known"] = {"reason": result.reason.id, "right": result.reason.right}
    return told
