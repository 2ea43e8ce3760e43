"""From events to the bytes of one append: rows that the next reader takes, as they are or as one compressed frame."""

from __future__ import annotations

from collections.abc import Sequence

from dsh_protocol.dialect import dialect
from dsh_protocol.findings import Finding, RefusedError
from dsh_protocol.rows import Event, Header, compress_frame, header_bytes, lossless_findings
from dsh_protocol.state.sequence import EventSequence

from ._errors import StoreError


def encode_header(header: Header, *, compressed: bool) -> bytes:
    """The header line, in a compressed log as a frame of its own."""
    line = header_bytes(header.logical) + b"\n"
    return compress_frame(line) if compressed else line


def encode_rows(rows: Sequence[bytes], *, compressed: bool) -> bytes:
    """Rows without their LF as the bytes of one append."""
    body = b"".join(row + b"\n" for row in rows)
    return compress_frame(body) if compressed else body


def rows_of(
    header: Header, events: Sequence[Event], *, next_seq: int, max_row_bytes: int
) -> list[bytes]:
    """The rows of events that follow each other from `next_seq` on, checked by their envelopes.

    What the events say is the business of a `Session`; what is refused here would end the log for every reader.

    Raises:
        StoreError: `store/not-contiguous`, `store/row-limit`.
        RefusedError: a row breaks a rule about envelopes or numbers.
        JsonError: a payload holds what is no JSON value.
    """
    for expected, event in enumerate(events, next_seq):
        if event.seq != expected:
            raise StoreError(
                "store/not-contiguous", id=header.id, expected=expected, found=event.seq
            )
    sequence = EventSequence(dialect(header.version), header, next_seq=next_seq)
    findings: list[Finding] = []
    for event in events:
        findings += sequence.advance(event)
    findings += lossless_findings(events)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise RefusedError(f"the batch is refused: {errors[0].message}", errors)
    rows = [event.row_bytes() for event in events]
    for row in rows:
        if len(row) > max_row_bytes:
            raise StoreError("store/row-limit", id=header.id, found=len(row), limit=max_row_bytes)
    return rows
