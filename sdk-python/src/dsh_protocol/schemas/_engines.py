"""Two validation engines behind one face: what each reports, reduced to places.

The fast engine is written in Rust; the reference engine in Python takes the values that the fast one
cannot. Nothing else of their reports is used, so that both lead to the same findings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import jsonschema_rs

from ._sites import Site, Step, list_of, whole, without_unions

if TYPE_CHECKING:
    from jsonschema.protocols import Validator as ReferenceValidator

Engine = Literal["fast", "reference"]
Path = tuple[Step, ...]
_Compiled = TypeVar("_Compiled")
_MOST_PARTS = 20_000
"""Of a value with more parts than this only one violation is asked for: each costs time and memory, and there could be as many
as there are parts."""


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


def violations(site: Site, value: Any, engine: Engine) -> list[Violation]:
    """Everything that is refused outside of unions; of a very large value the first that is found."""
    is_large = _has_more_parts(value, _MOST_PARTS)
    if engine == "fast":
        try:
            errors = _first_error(site, value) if is_large else _fast(site).iter_errors(value)
            return _distinct(_violation(e.instance_path, e.evaluation_path) for e in errors)
        except ValueError:  # As above, or too deep for a copy.
            return violations(site, value, "reference")
    found = islice(_reference(site).iter_errors(value), 1 if is_large else None)
    return _distinct(_violation(e.absolute_path, e.absolute_schema_path) for e in found)


def _distinct(found: Iterable[Violation]) -> list[Violation]:
    return list(dict.fromkeys(found))


def _first_error(site: Site, value: Any) -> list[jsonschema_rs.ValidationError]:
    try:
        _fast(site).validate(value)
    except jsonschema_rs.ValidationError as error:
        return [error]
    return []


def _has_more_parts(value: Any, most: int) -> bool:
    """Whether a value has more members and entries than this, at all depths together."""
    waiting, parts = [value], 0
    while waiting and parts <= most:
        part = waiting.pop()
        if isinstance(part, dict | list):
            parts += len(part)
            if parts <= most:
                waiting.extend(part.values() if isinstance(part, dict) else part)
    return parts > most


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

    def unique_items(_: Any, unique: bool, value: Any, __: Any) -> Iterator[Any]:
        # Its own way compares each entry with all others.
        if unique and isinstance(value, list) and len(set(map(_key, value))) < len(value):
            yield jsonschema.ValidationError("entries are not unique")

    engine = jsonschema.validators.extend(  # type: ignore[no-untyped-call]
        jsonschema.Draft202012Validator, {"uniqueItems": unique_items}, type_checker=types
    )
    reference: ReferenceValidator = engine(without_unions(site))
    return reference


def _key(value: Any) -> Hashable:
    """Equal for values that JSON Schema takes for the same, and no others."""
    if isinstance(value, dict):
        return frozenset((name, _key(member)) for name, member in value.items())
    if isinstance(value, list):
        return tuple(map(_key, value))
    return (isinstance(value, bool), value)


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
