"""From stored bytes to events and back: lines, compressed frames, range encoding, names and places.

`open_log` reads one log, `find_logs` finds those below a directory. What an event says is not looked
at here; everything that is wrong with the bytes is in the log's findings, or an error when there is
no log to give.
"""

from ._event import (
    EVENT_CLASSES,
    Event,
    decode_payloads,
    lossless_findings,
    make_event,
    paused_gc,
    payload_members,
    release_payloads,
)
from ._header import Header, header_bytes
from ._limits import ReadLimits
from ._log import Log, Stats, open_log
from ._paths import (
    LogName,
    encode_project,
    encode_session,
    log_path,
    parse_log_name,
    path_findings,
)
from ._search import LogSearch, Neighbours, Skipped, find_logs
from ._seqs import CitedRanges, decode_seqs, encode_seqs, encoding_problem

__all__ = [
    "EVENT_CLASSES",
    "CitedRanges",
    "Event",
    "Header",
    "Log",
    "LogName",
    "LogSearch",
    "Neighbours",
    "ReadLimits",
    "Skipped",
    "Stats",
    "decode_payloads",
    "decode_seqs",
    "encode_project",
    "encode_seqs",
    "encode_session",
    "encoding_problem",
    "find_logs",
    "header_bytes",
    "log_path",
    "lossless_findings",
    "make_event",
    "open_log",
    "parse_log_name",
    "path_findings",
    "paused_gc",
    "payload_members",
    "release_payloads",
]
