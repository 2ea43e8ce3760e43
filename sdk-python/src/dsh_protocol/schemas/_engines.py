"""Two validation engines behind one face: what each reports, reduced to places.

The fast engine is written in Rust; the reference engine in Python takes the values that the fast one
cannot. Nothing else of their reports is used, so that both lead to the same findings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import jsonschema_rs

from ._sites import Site, Step, list_of, whole, without_unions

if TYPE_CHECKING:
    from jsonschema.protocols import Validator as ReferenceValidator

Engine = Literal["fast", "reference"]
Path = tuple[Step, ...]
_Compiled = TypeVar("_Compiled")


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken keyword: where in the value, and where in the schema (references left out)."""

    path: Path
    schema_path: Path


def is_valid(site: Site, value: Any) -> bool | None:
    """Whether the fast engine accepts the value; null when it cannot say."""
    try:
        return _whole_fast(site).is_valid(value)
    except ValueError:  # A lone surrogate, for instance, which JSON and the log allow.
        return None


def are_valid(site: Site, values: list[Any]) -> bool:
    """Whether the fast engine accepts each of the values, asked once for all of them; no when it cannot say."""
    try:
        return _each_fast(site).is_valid(values)
    except ValueError:  # As above.
        return False


def violations(site: Site, value: Any, engine: Engine) -> set[Violation]:
    """Everything that is refused outside of unions."""
    if engine == "fast":
        try:
            errors = list(_fast(site).iter_errors(value))
        except ValueError:  # As above, or too deep for a copy.
            return violations(site, value, "reference")
        return {_violation(error.instance_path, error.evaluation_path) for error in errors}
    found = _reference(site).iter_errors(value)
    return {_violation(error.absolute_path, error.absolute_schema_path) for error in found}


def _once(compile_: Callable[[Site], _Compiled]) -> Callable[[Site], _Compiled]:
    """A cache that compiles each site once, however many threads ask for it at the same time."""
    compiled: dict[Site, _Compiled] = {}
    lock = Lock()

    def get(site: Site) -> _Compiled:
        found = compiled.get(site)
        if found is None:
            with lock:
                found = compiled.get(site)
                if found is None:
                    found = compiled[site] = compile_(site)
        return found

    return get


@_once
def _whole_fast(site: Site) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(whole(site))


@_once
def _each_fast(site: Site) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(list_of(site))


@_once
def _fast(site: Site) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(without_unions(site))


@_once
def _reference(site: Site) -> ReferenceValidator:
    # Imported late: it costs more than a small log takes to check, and few logs need it.
    import jsonschema

    # A non-finite number has no JSON form, and the fast engine takes it for no type at all.
    types = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "number", lambda _, value: _is_number(value)
    )
    engine = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
        jsonschema.Draft202012Validator, type_checker=types
    )
    reference: ReferenceValidator = engine(without_unions(site))
    return reference


def is_non_finite(value: object) -> bool:
    """Whether the value is a number that JSON has no form for."""
    return isinstance(value, float) and not math.isfinite(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and type(value) is not bool and not is_non_finite(value)


def _violation(path: Iterable[Step], schema_path: Iterable[Step]) -> Violation:
    steps = tuple(step for step in schema_path if step != "$ref")
    if "propertyNames" in steps:  # What is wrong with a name is the business of its object.
        steps = steps[: steps.index("propertyNames") + 1]
    return Violation(tuple(path), steps)
