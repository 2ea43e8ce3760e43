"""Two validation engines behind one face: what each reports, reduced to places.

The fast engine is written in Rust; the reference engine in Python takes the values that the fast
one cannot. Nothing else of their reports is used, so that both lead to the same findings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import jsonschema_rs

from ._catalog import Target, standalone

if TYPE_CHECKING:
    import jsonschema
    from jsonschema.protocols import Validator as ReferenceValidator

Engine = Literal["fast", "reference"]
Path = tuple[str | int, ...]


class CannotValidate(Exception):
    """An engine cannot take this value, whatever the schema says."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken keyword: where in the value, and where in the schema.

    References are followed in the schema path, not spelled out. A broken union has what each of its
    branches refused, in order.
    """

    path: Path
    schema_path: Path
    branches: tuple[tuple[Violation, ...], ...] = ()

    @property
    def keyword(self) -> str:
        """The broken keyword."""
        return str(self.schema_path[-1])


def is_valid(target: Target, value: object) -> bool:
    """Whether the fast engine accepts the value.

    Raises:
        CannotValidate: the value has no UTF-8 form or another one that the engine does not take.
    """
    try:
        return _fast(target).is_valid(value)
    except ValueError as error:
        raise CannotValidate from error


def fast_violations(target: Target, value: object) -> tuple[Violation, ...]:
    """Everything the fast engine refuses.

    Raises:
        CannotValidate: as for `is_valid`.
    """
    try:
        return tuple(_from_fast(error) for error in _fast(target).iter_errors(value))
    except ValueError as error:
        raise CannotValidate from error


def reference_violations(target: Target, value: Any) -> tuple[Violation, ...]:
    """Everything the reference engine refuses.

    Raises:
        CannotValidate: the value nests too deep for the interpreter.
    """
    try:
        return tuple(_from_reference(error) for error in _reference(target).iter_errors(value))
    except RecursionError as error:
        raise CannotValidate from error


@cache
def _fast(target: Target) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(standalone(target))


@cache
def _reference(target: Target) -> ReferenceValidator:
    # Imported late: it costs more than a small log takes to check, and few logs need it.
    import jsonschema

    # A non-finite number has no JSON form; JSON.stringify and the fast engine make it null.
    types = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "null": lambda _, value: value is None or _is_non_finite(value),
            "number": lambda _, value: _is_number(value),
        }
    )
    engine = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
        jsonschema.Draft202012Validator, type_checker=types
    )
    reference: ReferenceValidator = engine(standalone(target))
    return reference


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and type(value) is not bool and not _is_non_finite(value)


def _is_non_finite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _from_fast(error: jsonschema_rs.ValidationError) -> Violation:
    context: Iterable[Iterable[jsonschema_rs.ValidationError]]
    context = getattr(error.kind, "context", None) or ()
    return Violation(
        tuple(error.instance_path),
        _keyword_path(error.evaluation_path),
        tuple(tuple(_from_fast(inner) for inner in branch) for branch in context),
    )


def _from_reference(error: jsonschema.ValidationError) -> Violation:
    branches: dict[Any, list[Violation]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(_from_reference(inner))
    return Violation(
        tuple(error.absolute_path),
        _keyword_path(error.absolute_schema_path),
        tuple(tuple(branches[index]) for index in sorted(branches)),
    )


def _keyword_path(path: Iterable[str | int]) -> Path:
    """A schema path without references. What is wrong with a name is the business of its object."""
    steps = tuple(step for step in path if step != "$ref")
    return steps[: steps.index("propertyNames") + 1] if "propertyNames" in steps else steps
