"""From stored bytes to events and back: lines, compressed frames, range encoding, names and places.

`open_log` reads one log, `find_logs` finds those below a directory. What an event says is not looked
at here; everything that is wrong with the bytes is in the log's findings, or an error when there is
no log to give.
"""

from ._decoder import RowDecoder
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
from ._frames import FrameError, Layout, decompress, decompress_torn
from ._frames import compress as compress_frame
from ._frames import scan as scan_frames
from ._head import Head, ReadAt, read_head
from ._header import Header, header_bytes, make_header
from ._limits import ROW_COST, ReadLimits
from ._lines import Lines, LineSplitter
from ._log import Log, Stats, open_log
from ._paths import (
    LogName,
    decode_session,
    encode_project,
    encode_session,
    log_path,
    parse_log_name,
    path_findings,
    require_version,
)
from ._report import RowFindings
from ._search import LogSearch, Neighbours, Skipped, find_logs, search_logs
from ._seqs import CitedRanges, decode_seqs, encode_seqs, encoding_problem

__all__ = [
    "EVENT_CLASSES",
    "ROW_COST",
    "CitedRanges",
    "Event",
    "FrameError",
    "Head",
    "Header",
    "Layout",
    "LineSplitter",
    "Lines",
    "Log",
    "LogName",
    "LogSearch",
    "Neighbours",
    "ReadAt",
    "ReadLimits",
    "RowDecoder",
    "RowFindings",
    "Skipped",
    "Stats",
    "compress_frame",
    "decode_payloads",
    "decode_seqs",
    "decode_session",
    "decompress",
    "decompress_torn",
    "encode_project",
    "encode_seqs",
    "encode_session",
    "encoding_problem",
    "find_logs",
    "header_bytes",
    "log_path",
    "lossless_findings",
    "make_event",
    "make_header",
    "open_log",
    "parse_log_name",
    "path_findings",
    "paused_gc",
    "payload_members",
    "read_head",
    "release_payloads",
    "require_version",
    "scan_frames",
    "search_logs",
]
