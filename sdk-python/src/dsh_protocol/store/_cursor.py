"""A place in a growing log to go on reading from, in this process or another one."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

from dsh_protocol.jsonvalue import is_count

from ._errors import StoreError

ANCHOR = 256
"""How many bytes in front of a place are compared, at most, to see that the log is still the same."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """What has been read of a log.

    `offset` is the byte where a row or a compressed frame begins, `rows` how many rows behind it were read (0 in a plain
    log), `line` the number of the last line that was read (1 is the header), `seq` the number of the next event in a sound
    log. `anchor` is a digest of the bytes in front of `offset`.
    """

    offset: int
    rows: int
    line: int
    seq: int
    anchor: str

    def to_json(self) -> dict[str, Any]:
        """This cursor as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> Cursor:
        """The cursor in a JSON object that `to_json` gave.

        Raises:
            StoreError: `cursor/invalid`.
        """
        if not isinstance(value, dict) or value.keys() != set(cls.__slots__):
            raise StoreError("cursor/invalid", detail="its members are others")
        counts = (value[name] for name in ("offset", "rows", "line", "seq"))
        if not all(map(is_count, counts)) or not isinstance(value["anchor"], str):
            raise StoreError("cursor/invalid", detail="a member has another type")
        return cls(**value)


def anchor_of(before: bytes) -> str:
    """The digest of the bytes in front of a place; of more than `ANCHOR`, the last ones count."""
    return hashlib.blake2b(before[-ANCHOR:], digest_size=8).hexdigest()
