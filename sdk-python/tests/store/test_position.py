"""Where a log ends, in memory that does not grow with it: the same answer as the reader gives that holds everything."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

import synthetic
from corpus import corpus

from dsh_protocol.dialect import dialect
from dsh_protocol.findings import RefusedError, StorageError
from dsh_protocol.reading import accept
from dsh_protocol.rows import Event, log_path, open_log
from dsh_protocol.state import LogState
from dsh_protocol.state.sequence import EventSequence
from dsh_protocol.store import Store

_OF_A_SEQUENCE = ("envelope/", "seed/", "surface/op-", "surface/sources-")
"""What a sequence looks at: each event for itself, and its number; not which nodes it replaces."""

_WOULD_LOSE_ITS_MARKER = "seed/marker-missing/marker-with-"
"""A reader looks at the marker in a row that it drops; a writer would cut that row off, and the marker with it."""


def test_the_writer_goes_on_where_the_reader_stops(tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for place, (name, data, log) in enumerate(corpus()):
        zstd = log.stats["compression"] == "zstd"
        compression: Literal["zstd", "none"] = "zstd" if zstd else "none"
        root = tmp_path / str(place)
        path = log_path(root, log.header, compressed=zstd)
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        try:
            accepted = accept(open_log(path))
        except RefusedError as error:
            accepted = None
            reason = error.code
        try:
            writer = Store(root, compression).open_writer(log.header.id)
        except (RefusedError, StorageError):
            assert accepted is None or name.startswith(_WOULD_LOSE_ITS_MARKER), name
            seen["refused"] += 1
            continue
        with writer:
            if accepted is None:
                assert not reason.startswith(_OF_A_SEQUENCE), name
                seen["left to the state"] += 1
                continue
            assert writer.count == len(accepted.events), name
            marker = synthetic.event(writer.count, "session/end-seed", {})
            writer.append([Event.from_value(marker)])
        again = open_log(path)
        rows = [event.row_bytes() for event in accepted.events]
        assert [event.raw for event in again.events[:-1]] == rows, name
        assert not any(f.rule.startswith("storage/torn") for f in again.findings), name
        seen["written"] += 1
    assert seen["written"] > 1000
    assert seen["refused"] > 100


def test_a_sequence_finds_what_the_state_finds() -> None:
    for name, _, log in corpus():
        version = log.header.version
        state = LogState(dialect(version), log.header, rules="envelope")
        sequence = EventSequence(dialect(version), log.header)
        for event in log.events:
            expected = [f for f in state.advance(event) if f.rule.startswith(_OF_A_SEQUENCE)]
            assert sequence.advance(event) == expected, name
            assert sequence.next_seq == state.next_seq, name
