"""What a reader takes before it refuses: limits of this specification, all of them options."""

from __future__ import annotations

from dataclasses import dataclass

from dsh_protocol.jsonvalue import MAX_DEPTH

_MIB = 1024 * 1024
ROW_COST = 256
"""What a row costs to keep, in bytes, beside its own."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bounds of one log, so that hostile input costs bounded memory and time.

    `max_row_bytes`: a longer row is passed over and reported (`storage/row-limit`).
    `max_log_bytes`: a log of more decompressed bytes is refused (`storage/log-limit`); a row counts
    as 256 bytes more than it has, because that is what it costs to keep.
    `max_depth`: a row whose arrays and objects nest deeper is passed over (`json/depth`).
    `max_findings`: how many findings about rows are kept; the rest is counted.
    """

    max_row_bytes: int = 64 * _MIB
    max_log_bytes: int = 512 * _MIB
    max_depth: int = MAX_DEPTH
    max_findings: int = 10_000
