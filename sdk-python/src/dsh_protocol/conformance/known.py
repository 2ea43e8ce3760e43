"""Known failures: what an implementer knows to be different, case by case, with the reason.

The file belongs to the implementation (`adapters/<name>/known-failures.json`, or `--known-failures`); its shape is
`known-failures.schema.json`. An entry whose case no longer fails is stale, and fails the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import CorpusError, ImplementationError
from .files import read_json, read_schema, require_shape

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why some cases fail: who is right, and the rule whose `divergence` says the same, where there is one."""

    id: str
    text: str
    right: str
    rule: str | None = None


@dataclass(frozen=True)
class KnownFailures:
    """The explained failures of one implementation, by case id."""

    reasons: Mapping[str, Reason] = field(default_factory=dict)
    cases: Mapping[str, Reason] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, corpus: Path) -> KnownFailures:
        """The known failures in a file.

        Raises:
            ImplementationError: `conformance/known-failures`: the file cannot be read, or has another shape.
        """
        schema = read_schema(corpus / "known-failures.schema.json")
        try:
            raw = read_json(path)
            require_shape(path, raw, schema)
        except CorpusError as error:
            raise ImplementationError("conformance/known-failures", error.message) from None
        reasons = {name: Reason(name, **entry) for name, entry in raw["reasons"].items()}
        unknown = set(raw["cases"].values()) - reasons.keys()
        if unknown:
            shown = f"{path}: no reason is called {sorted(unknown)[0]}"
            raise ImplementationError("conformance/known-failures", shown)
        return cls(reasons, {case: reasons[name] for case, name in raw["cases"].items()})
