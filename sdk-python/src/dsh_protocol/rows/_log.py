"""Open a log: what a caller gets, and the rules about its name and place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from dsh_protocol.dialect import Dialect
from dsh_protocol.findings import Finding

from ._event import Event, decode_payloads, lossless_findings, paused_gc
from ._header import Header
from ._limits import ReadLimits
from ._paths import parse_log_name, path_findings, require_version
from ._reader import Reader
from ._source import file_chunks, memory_chunks


class Stats(TypedDict):
    """Counts of one log. `rows` are complete lines behind the header; `bytes` are decompressed.

    `tornBytes` at the end of the file belong to no row that was read. `frames` is 0 in a plain log.
    """

    events: int
    rows: int
    bytes: int
    fileBytes: int
    compression: str
    frames: int
    tornBytes: int
    omittedFindings: int


@dataclass(frozen=True, slots=True)
class Log:
    """An opened log. `events` has every row that is a JSON object, also behind a bad row.

    `findings` are those of the bytes (storage, JSON, encodings), not of what events say.
    `complete_lines` is how many lines stand in complete compressed frames: only rows behind them
    may be dropped as a torn end. It is null in a plain log, where any row may be.
    """

    name: str
    header: Header
    dialect: Dialect
    events: list[Event]
    findings: list[Finding]
    stats: Stats
    complete_lines: int | None

    def decode_payloads(self) -> None:
        """Decode every payload that is not decoded yet: faster at once than one by one."""
        decode_payloads(self.events)

    def lossless_findings(self) -> list[Finding]:
        """Findings about numbers in payloads that do not survive a round trip; decodes them all."""
        return lossless_findings(self.events)


def open_log(
    source: Path | str | bytes, *, name: str | None = None, limits: ReadLimits | None = None
) -> Log:
    """Read a log from a file, or from the bytes of one (whose file name `name` may say).

    A canonical file name decides whether the bytes are compressed; any other name leaves that to
    the content, and has no rules about names and places.

    Raises:
        UnsupportedFormatError: the log has a format that is not read here (`header/newer-format`,
            `header/older-format`).
        StorageError: the bytes are no log at all, beyond a limit, or of another format than the
            file name says.
    """
    path = None if isinstance(source, bytes) else Path(source)
    name = name or ("" if path is None else path.name)
    named = parse_log_name(name)
    chunks = memory_chunks(source) if isinstance(source, bytes) else file_chunks(Path(source))
    reader = Reader(limits or ReadLimits())
    with paused_gc():
        header = reader.read(chunks, compressed=None if named is None else named.compressed)
    require_version(name, header)
    findings = reader.report.findings
    if path is not None:
        findings.extend(path_findings(path, header))
    return Log(
        name=name,
        header=header,
        dialect=reader.dialect,
        events=reader.events,
        findings=findings,
        stats={
            "events": len(reader.events),
            "rows": reader.line_count - 1,
            "bytes": reader.bytes,
            "fileBytes": reader.file_bytes,
            "compression": "zstd" if reader.compressed else "none",
            "frames": reader.frames,
            "tornBytes": reader.torn_bytes,
            "omittedFindings": reader.report.omitted,
        },
        complete_lines=reader.complete_lines,
    )
