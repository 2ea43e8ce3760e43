"""What is lossless JSON, and copies of it that nobody else can change."""

from __future__ import annotations

import math
from typing import Any, NoReturn, TypeGuard

from dsh_protocol.findings import JsonError
from dsh_protocol.jsonvalue import MAX_DEPTH, MAX_SAFE_INTEGER, JsonValue, ordered, pointer

from ._walk import Walk, run


class FrozenDict(dict[str, Any]):
    """A JSON object that cannot be changed; `dict(value)` and `copy.deepcopy` give one that can."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            "this JSON object is a snapshot and cannot be changed; copy it with dict(...)"
        )

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def __deepcopy__(self, _: object) -> dict[str, Any]:
        return {**thaw(self)}

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


class FrozenList(list[Any]):
    """A JSON array that cannot be changed; `list(value)` and `copy.deepcopy` give one that can."""

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            "this JSON array is a snapshot and cannot be changed; copy it with list(...)"
        )

    def __reduce__(self) -> Any:
        return list, (list(self),)

    def __deepcopy__(self, _: object) -> list[Any]:
        return [*thaw(self)]

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse


def snapshot(value: object) -> Any:
    """A frozen copy of a JSON value, with members in JavaScript's order and integral numbers as `int`.

    Raises:
        JsonError: `json/value`, something in it is no JSON value (a tuple, a key that is no string, an integer that no double
            equals) or it contains itself; `json/finite`, `json/negative-zero`, `json/depth`. `path` says where.
    """
    return run(_copy(value, "", 0, set()))


def is_lossless(value: object) -> bool:
    """Whether `snapshot` takes a value."""
    try:
        snapshot(value)
    except JsonError:
        return False
    return True


def thaw(value: Any) -> Any:
    """A copy of a JSON value that can be changed."""
    return run(_thawed(value))


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a JSON object, as far as one level can tell."""
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number that survives JSON: finite, not minus zero, and some double's value."""
    if type(value) is int and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return True
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return _number_problem(value) is None


def is_integer(value: object) -> TypeGuard[int | float]:
    """Whether a value is a JSON number without a fraction; `3.0` is one."""
    return is_number(value) and value == math.floor(value)


def _copy(value: object, path: str, depth: int, above: set[int]) -> Walk[JsonValue]:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return _number(value, path)
    if not isinstance(value, dict | list):
        raise JsonError("json/value", f"{type(value).__name__} is not a JSON value", path=path)
    if id(value) in above:
        raise JsonError("json/value", "the value contains itself", path=path)
    if depth >= MAX_DEPTH:
        raise JsonError("json/depth", f"the value nests deeper than {MAX_DEPTH} levels", path=path)
    above.add(id(value))
    if isinstance(value, dict):
        result: Any = yield _copy_object(value, path, depth + 1, above)
    else:
        result = yield _copy_array(value, path, depth + 1, above)
    above.discard(id(value))
    copied: JsonValue = result
    return copied


def _copy_object(
    value: dict[Any, object], path: str, depth: int, above: set[int]
) -> Walk[FrozenDict]:
    for key in value:
        if not isinstance(key, str):
            raise JsonError(
                "json/value", f"{type(key).__name__} is not the name of a JSON member", path=path
            )
    copied = FrozenDict()
    for key, member in ordered(value).items():
        item = yield _copy(member, path + pointer(key), depth, above)
        dict.__setitem__(copied, key, item)
    return copied


def _copy_array(value: list[object], path: str, depth: int, above: set[int]) -> Walk[FrozenList]:
    copied = FrozenList()
    for index, element in enumerate(value):
        item = yield _copy(element, f"{path}/{index}", depth, above)
        list.append(copied, item)
    return copied


def _number(value: int | float, path: str) -> int | float:
    problem = None if is_number(value) else _number_problem(value)
    if problem is not None:
        raise JsonError(problem[0], problem[1], path=path)
    return int(value) if value == math.floor(value) else float(value)


def _number_problem(value: int | float) -> tuple[str, str] | None:
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if not math.isfinite(double):
        return "json/finite", "the number is not finite"
    if double != value:
        return "json/value", f"no double equals the integer {value}"
    if double == 0 and math.copysign(1, double) < 0:
        return "json/negative-zero", "the number is minus zero"
    return None


def _thawed(value: Any) -> Walk[Any]:
    if isinstance(value, dict):
        members = {}
        for key, member in value.items():
            members[key] = yield _thawed(member)
        return members
    if isinstance(value, list):
        elements = []
        for element in value:
            item = yield _thawed(element)
            elements.append(item)
        return elements
    return value
