"""What counts of a log whose end is damaged: the rows that a writer of it leaves in place, as the official store does."""

from __future__ import annotations

import pytest
from suites import cases

from dsh_protocol.conformance.cases import Case
from dsh_protocol.findings import RefusedError
from dsh_protocol.reading import accept
from dsh_protocol.rows import open_log

PLAIN = [case for case in cases() if case.op == "continue" and "lines" in case.input]


def test_there_are_cases() -> None:
    assert len(PLAIN) > 25


@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.id)
def test_reading_and_writing_take_the_same_rows(case: Case) -> None:
    lines = case.input["lines"]
    log = open_log(("".join(f"{line}\n" for line in lines) + case.input.get("tail", "")).encode())
    if "refused" in case.expect:
        with pytest.raises(RefusedError) as caught:
            accept(log)
        found = [(finding.rule, finding.seq, finding.path) for finding in caught.value.findings]
        assert found == [tuple(case.expect["refused"].values())]
        return
    accepted = accept(log)
    # The header stands in front of what is kept, and the row that the writer adds behind it.
    assert len(accepted.events) == len(case.expect["ok"]["lines"]) - 2
    assert len(accepted.state.surface.nodes) == sum(
        event.surface_op is not None for event in accepted.events
    )
