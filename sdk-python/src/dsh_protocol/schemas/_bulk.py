"""Many texts of one schema, read and validated in one go."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec import Raw

from ._sites import Site
from ._structs import closed_type

MINUS_ZERO = re.compile(rb"-0(?=[\s,\]}]|\Z)")
"""What structs do not see. It may stand in a string, too."""
_read = msgspec.json.Decoder().decode_lines


def read_all(site: Site, texts: Sequence[bytes | Raw]) -> list[Any] | None:
    """The values of JSON texts without line breaks, if they are what stands at a site: null when some are not, or may not be.

    They are those that `jsonvalue.loads` gives: a closed type has no number that JavaScript reads otherwise, and no member
    that it puts in another place.
    """
    validate = _validator(site)
    block = b"\n".join(texts)
    if validate is None or MINUS_ZERO.search(block) is not None:
        return None
    try:
        validate(block)
        values = _read(block)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    return values if len(values) == len(texts) else None


@cache
def _validator(site: Site) -> Callable[[bytes], object] | None:
    type_ = closed_type(site)
    return None if type_ is None else msgspec.json.Decoder(type_).decode_lines
