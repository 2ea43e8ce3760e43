"""`check_append` says before the fact what a full check of the log says after it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_logs import arguments, mutated, sessions
from sessions import state_of, stored

from dsh_protocol.check import check_log
from dsh_protocol.findings import Finding, RefusedError
from dsh_protocol.rows import open_log

MANY = settings(
    max_examples=1000,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
FORMATS = pytest.mark.parametrize("version", [3, 4])


def places(findings: Any) -> list[tuple[str, str, str]]:
    return sorted((found.rule, found.path, found.severity) for found in findings)


def checked_afterwards(log: bytes, row: dict[str, Any]) -> list[Finding]:
    """What a full check finds once the row stands at the end of the log, as a careless writer puts it there."""
    # Not our own writer: it would lose what makes the row wrong, such as a minus zero.
    line = json.dumps(row, ensure_ascii=False).encode()
    found = check_log(open_log(log + line + b"\n")).findings
    # What follows from another finding is about what a reader then does with the file.
    return [finding for finding in found if finding.because is None]


@FORMATS
@MANY
@given(data=st.data())
def test_check_append_agrees_with_a_full_check(version: int, data: st.DataObject) -> None:
    writer = data.draw(sessions(version))
    session = writer.session
    row = writer.next_row(data.draw)
    if data.draw(st.integers(0, 3)):
        row = mutated(data.draw, row, session.next_seq)
    given_, more = arguments(row)
    before = stored(session), state_of(session)
    found = session.check_append(*given_, **more)
    assert (stored(session), state_of(session)) == before
    after = checked_afterwards(before[0], {"seq": session.next_seq, "time": 1, **row})
    assert places(found) == places(after)
    if not any(finding.severity == "error" for finding in found):
        event = session.append(*given_, **more)
        assert places(check_log(open_log(stored(session))).findings) == places(found)
        assert event.row_bytes() == stored(session).splitlines()[-1]
        return
    with pytest.raises(RefusedError) as caught:
        session.append(*given_, **more)
    assert list(caught.value.findings) == found
    assert (stored(session), state_of(session)) == before
