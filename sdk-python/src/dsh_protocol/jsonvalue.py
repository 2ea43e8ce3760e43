"""JSON as JavaScript reads and writes it, held in Python without loss.

The only module that knows bytes of JSON. `loads` gives what `JSON.parse` gives and `dumps` what
`JSON.stringify` gives (no indentation), so text written by the official runtime survives a round
trip byte for byte.

What differs from Python's own `json`:

- an integral number is an `int` (`3.0` and `1e3` too), because JavaScript does not tell them apart;
  beyond 2^53 it is the nearest double's value, and a number too large for a double is `inf`;
- minus zero is the float `-0.0`, so that the lossless rules can see it;
- object members keep their order, except that array-index keys (`"0"` to `"4294967294"`) come
  first, ascending;
- a lone surrogate stays in the `str`.

Both directions try a fast C codec first and take an exact, slower path wherever the fast one could
differ.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from json.encoder import encode_basestring
from threading import Thread
from typing import Any, TypeAlias, TypeGuard, TypeVar

import msgspec

from ._jsontext import has_odd_numbers, reads_otherwise, writes_otherwise
from ._jsontext import is_deeper as is_deeper
from .findings import JsonError

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
_T = TypeVar("_T")

MAX_DEPTH = 512
"""Arrays and objects nested in each other, at most, unless a caller says otherwise."""
MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer that JavaScript counts with exactly."""
_BATCH = 64
_FAST_LEVELS = 6
_MAX_WRITE_DEPTH = 8 * MAX_DEPTH
_MAX_ARRAY_INDEX = 2**32 - 2
_DIGITS = frozenset("0123456789")


def loads(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> JsonValue:
    """The value of a JSON text, as `JSON.parse` gives it.

    Raises:
        JsonError: `json/syntax` (not JSON), `json/encoding` (bytes that are not UTF-8) or
            `json/depth` (nested deeper than `max_depth`); the message names the byte.
    """
    text = data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass")
    if is_deeper(text, max_depth):
        raise JsonError("json/depth", f"the value nests deeper than {max_depth} levels")
    if not reads_otherwise(text):
        try:
            value: JsonValue = _FAST_DECODER.decode(text)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            pass  # The exact reader decides: the fast one refuses lone surrogates, too.
        else:
            return value
    return _read_exactly(data)


def loads_many(
    texts: Sequence[bytes | msgspec.Raw],
    lossy: list[int] | None = None,
    *,
    max_depth: int = MAX_DEPTH,
) -> list[JsonValue]:
    """`loads` of each text, faster than one by one when there are thousands.

    `lossy` gets the indexes of the texts that break a lossless number rule (`check_lossless`), which
    costs next to nothing here.

    Raises:
        JsonError: as `loads`, for the first text that has no value.
    """
    values: list[JsonValue] = []
    for start in range(0, len(texts), _BATCH):
        before = _odd_numbers.seen
        batch = _read_batch(texts[start : start + _BATCH], max_depth)
        if lossy is not None and _odd_numbers.seen != before:
            lossy.extend(i for i, value in enumerate(batch, start) if check_lossless(value))
        values.extend(batch)
    return values


def load_members(
    texts: Sequence[bytes | msgspec.Raw], name: str, *, max_depth: int = MAX_DEPTH
) -> list[JsonValue]:
    """The member `name` of each text, as `loads` gives it, without building what stands beside it.

    Null for a text that is no object, or has no such member.

    Raises:
        JsonError: as `loads`, for the first text that has no value.
    """
    decode = _member_decoder(name).decode
    try:
        found: list[msgspec.Raw] = [decode(text).member for text in texts]
    except (msgspec.MsgspecError, RecursionError):
        values = [loads(bytes(text), max_depth=max_depth) for text in texts]
        return [value.get(name) if isinstance(value, dict) else None for value in values]
    members: list[JsonValue] = []
    for start in range(0, len(found), _BATCH):
        members += _read_batch(found[start : start + _BATCH], max_depth)
    return members


@cache
def _member_decoder(name: str) -> msgspec.json.Decoder[Any]:
    member = ("member", msgspec.Raw, msgspec.Raw(b"null"))
    return msgspec.json.Decoder(
        msgspec.defstruct("Holder", [member], rename={"member": name}, gc=False)
    )


def dumps(value: JsonValue) -> str:
    """The text that `JSON.stringify` gives: minus zero is `0`, a number without JSON form `null`.

    Raises:
        JsonError: `json/value` for anything that is not a JSON value, `json/depth` for a cycle.
    """
    return dump_bytes(value).decode("utf-8")


def dump_bytes(value: JsonValue) -> bytes:
    """`dumps` in UTF-8; lone surrogates are escaped, so there is always an encoding.

    Raises:
        JsonError: as `dumps`.
    """
    return _write_fast(value) or _write_exactly(value).encode("utf-8")


def check_lossless(value: JsonValue) -> list[tuple[str, str]]:
    """Where a value breaks the lossless rules: JSON Pointers and rule ids, in document order.

    The rules are `json/finite`, `json/negative-zero` and `json/depth`; nothing below a place that
    is too deep is looked at.

    Raises:
        JsonError: `json/value` for something that is no JSON value at all, such as a tuple or an
            integer that no double equals; `path` says where.
    """
    found: list[tuple[str, str]] = []
    pending: list[tuple[str, object, int]] = [("", value, 0)]
    while pending:
        path, node, depth = pending.pop()
        if isinstance(node, dict | list) and depth >= MAX_DEPTH:
            found.append((path, "json/depth"))
        elif isinstance(node, dict):
            members = [(path + pointer(_key(k, path)), v, depth + 1) for k, v in node.items()]
            pending.extend(reversed(members))
        elif isinstance(node, list):
            elements = [(f"{path}/{i}", v, depth + 1) for i, v in enumerate(node)]
            pending.extend(reversed(elements))
        elif isinstance(node, int | float) and not _is_small(node):
            found.extend((path, rule) for rule in _number_rules(node, path))
        elif not (node is None or isinstance(node, bool | int | float | str)):
            raise _no_json_value(node, path)
    return found


def is_surely_lossless(text: bytes | msgspec.Raw) -> bool:
    """Whether a JSON text cannot break a lossless number rule: a cheap test for many texts.

    `False` only means that `check_lossless` has to look.
    """
    return not has_odd_numbers(bytes(text))


def equal(left: JsonValue, right: JsonValue) -> bool:
    """Whether two values are the same JSON value.

    Member order is irrelevant, `1` is not `True`, two halves of a character equal the character.
    """
    pending: list[tuple[Any, Any]] = [(left, right)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pending.extend((v, b[k]) for k, v in a.items())
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pending.extend(zip(a, b, strict=True))
        elif isinstance(a, str) and isinstance(b, str):
            if a != b and join_surrogates(a) != join_surrogates(b):
                return False
        elif a is not b and (isinstance(a, bool) or isinstance(b, bool) or a != b):
            return False
    return True


def join_surrogates(text: str) -> str:
    """The text with adjacent halves of a character joined, as they are in a JavaScript string.

    Two chunks of a stream may each hold one half; Python keeps them apart when it concatenates.
    """
    if text.isascii():
        return text
    return _PAIR.sub(lambda found: _whole(found[0]), text)


def pointer(*parts: str | int) -> str:
    """A JSON Pointer (RFC 6901) to the member names and indexes given, `""` for none."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def utf8_error(data: bytes) -> int | None:
    """The offset of the first byte that is not UTF-8, or `None`."""
    if data.isascii():
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def is_count(value: object, *, least: int = 0, most: int = MAX_SAFE_INTEGER) -> TypeGuard[int]:
    """Whether a value from `loads` is an integer in this range (not minus zero, not a boolean)."""
    return type(value) is int and least <= value <= most


# ---- Reading -------------------------------------------------------------------------------------


def _read_batch(texts: Sequence[bytes | msgspec.Raw], max_depth: int) -> list[JsonValue]:
    values = _read_lines(_FAST_DECODER, texts, max_depth)
    if values is None:
        return [loads(bytes(text), max_depth=max_depth) for text in texts]
    return values


def _read_lines(
    decoder: msgspec.json.Decoder[Any], texts: Sequence[bytes | msgspec.Raw], max_depth: int
) -> list[Any] | None:
    """All texts at once, null when some need the exact reader."""
    block = b"\n".join(texts)
    if len(block) > 2 * max_depth and any(is_deeper(bytes(text), max_depth) for text in texts):
        return None
    if reads_otherwise(block):
        return None
    try:
        values = decoder.decode_lines(block)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    return values if len(values) == len(texts) else None


class _OddNumbers:
    """How often a text held minus zero or an infinite number: every float passes our hands once."""

    seen = 0


_odd_numbers = _OddNumbers()


def _number_with_fraction(text: str) -> int | float:
    number = float(text)
    if number.is_integer() and not _is_negative_zero(number):
        return int(number)
    if number == 0 or math.isinf(number):
        _odd_numbers.seen += 1
    return number


def _whole_number(text: str) -> int | float:
    if len(text) <= 15 and text != "-0":
        return int(text)
    return _number_with_fraction(text)


def _is_small(number: int | float) -> bool:
    """An integer that every double-based reader keeps exactly."""
    return isinstance(number, int) and -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER


def _number_rules(number: int | float, path: str) -> Iterator[str]:
    try:
        double = float(number)
    except OverflowError:
        double = math.inf
    if not math.isfinite(double):
        yield "json/finite"
    elif double != number:
        raise JsonError("json/value", f"no double equals the integer {number}", path=path)
    elif _is_negative_zero(double):
        yield "json/negative-zero"


def _is_negative_zero(number: float) -> bool:
    return number == 0 and math.copysign(1, number) < 0


def _refuse_constant(name: str) -> JsonValue:
    raise JsonError("json/syntax", f"{name} is not JSON")


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    return ordered(dict(pairs))


def ordered(members: dict[str, _T]) -> dict[str, _T]:
    """The members of an object in JavaScript's order: array-index keys first, ascending."""
    indexes = [key for key in members if key[:1] in _DIGITS and _is_array_index(key)]
    if not indexes:
        return members
    first = {key: members[key] for key in sorted(indexes, key=int)}
    return first | members


def _is_array_index(key: str) -> bool:
    if not (key.isascii() and key.isdecimal()) or len(key) > 10:
        return False
    return key == "0" or (key[0] != "0" and int(key) <= _MAX_ARRAY_INDEX)


_FAST_DECODER = msgspec.json.Decoder(float_hook=_number_with_fraction)
_EXACT_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_whole_number,
    parse_float=_number_with_fraction,
    parse_constant=_refuse_constant,
)


def _read_exactly(data: bytes | str) -> JsonValue:
    try:
        text = data if isinstance(data, str) else data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the text is not UTF-8 at byte {error.start}"
        raise JsonError("json/encoding", message) from None
    try:
        value: JsonValue = _with_room(lambda: _EXACT_DECODER.decode(text))
    except json.JSONDecodeError as error:
        offset = len(text[: error.pos].encode("utf-8", "surrogatepass"))
        problem = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        raise JsonError("json/syntax", f"{problem} at byte {offset}") from None
    except RecursionError:
        raise JsonError("json/depth", "the value nests too deep for this interpreter") from None
    return value


def _with_room(work: Callable[[], _T]) -> _T:
    """Run a recursive C codec; on the empty stack of a new thread if the caller's is too full."""
    try:
        return work()
    except RecursionError:
        pass
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


# ---- Writing -------------------------------------------------------------------------------------

_FAST_ENCODER = msgspec.json.Encoder()
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")


def _write_fast(value: object) -> bytes | None:
    """The C writer's text, unless JavaScript seems to write something in it otherwise."""
    try:
        data = _FAST_ENCODER.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None
    return None if writes_otherwise(data) else data


def _write_exactly(value: object, fast_levels: int = _FAST_LEVELS) -> str:
    """The text, member by member; parts less than `fast_levels` deep may still come from C."""
    out: list[str] = []
    open_nodes: list[tuple[Iterator[tuple[str, object]], str]] = []
    prefix, node, path = "", value, ""
    while True:
        out.append(prefix)
        fast = _write_fast(node) if 0 < len(open_nodes) < fast_levels else None
        if fast is not None:
            out.append(fast.decode("utf-8"))
        elif isinstance(node, dict):
            out.append("{")
            open_nodes.append((_members(node, path), "}"))
        elif isinstance(node, list):
            out.append("[")
            open_nodes.append((_elements(node), "]"))
        else:
            out.append(_scalar(node))
        if len(open_nodes) > _MAX_WRITE_DEPTH:
            raise JsonError("json/depth", "the value contains itself or nests too deep to write")
        following = None
        while open_nodes and (following := next(open_nodes[-1][0], None)) is None:
            out.append(open_nodes.pop()[1])
        if following is None:
            return "".join(out)
        prefix, node = following


def _members(members: dict[Any, object], path: str) -> Iterator[tuple[str, object]]:
    comma = ""
    for key in members:
        _key(key, path)
    for key, node in ordered(members).items():
        yield f"{comma}{_string(key)}:", node
        comma = ","


def _elements(elements: list[object]) -> Iterator[tuple[str, object]]:
    comma = ""
    for node in elements:
        yield comma, node
        comma = ","


def _key(key: object, path: str) -> str:
    if isinstance(key, str):
        return key
    raise _no_json_value(key, path)


def _no_json_value(node: object, path: str) -> JsonError:
    return JsonError("json/value", f"{type(node).__name__} is not a JSON value", path=path)


def _scalar(node: object) -> str:
    if node is None:
        return "null"
    if isinstance(node, bool):
        return "true" if node else "false"
    if isinstance(node, str):
        return _string(node)
    if isinstance(node, int | float):
        return _number(node)
    raise _no_json_value(node, "")


def _string(text: str) -> str:
    escaped: str = encode_basestring(text)
    if escaped.isascii():
        return escaped
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", join_surrogates(escaped))


def _whole(halves: str) -> str:
    return halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _number(value: int | float) -> str:
    """A number as JavaScript writes it: the shortest digits that read back as the same double."""
    if isinstance(value, int) and _is_small(value):
        return str(int(value))
    try:
        double = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(double):
        return "null"
    mantissa, _, exponent = repr(abs(double)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return "0"
    point = int(exponent or 0) + len(whole) - (len(whole + fraction) - len(digits))
    return ("-" if double < 0 else "") + _place_point(digits.rstrip("0"), point)


def _place_point(digits: str, point: int) -> str:
    """Digits with the decimal point after the first `point`, laid out as in Number::toString."""
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = "." + digits[1:] if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"
