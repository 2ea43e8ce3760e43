"""The rules about limits, whose cases would be too big for the suites: small limits, or many small rows."""

from __future__ import annotations

import json

import pytest

from dsh_protocol.check import MAX_FINDINGS, Report, check_log
from dsh_protocol.findings import StorageError
from dsh_protocol.rows import ReadLimits, open_log

HEADER = {
    "type": "session",
    "version": 4,
    "id": "s-1",
    "createdAt": 1,
    "isSeeded": False,
    "delegationDepth": 0,
}
FORMATS = pytest.mark.parametrize("version", [3, 4])


def row(seq: int, data: object, **more: object) -> dict[str, object]:
    """A row of a type that no schema describes."""
    return {"type": "x", "seq": seq, "time": 1, "data": data, "ignorable": True, **more}


def check(version: int, rows: list[dict[str, object]], limits: ReadLimits) -> Report:
    lines = [json.dumps(line) + "\n" for line in [{**HEADER, "version": version}, *rows]]
    return check_log(open_log("".join(lines).encode(), limits=limits))


def found(report: Report) -> list[tuple[str, str]]:
    return [(finding.rule, finding.severity) for finding in report.findings]


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@FORMATS
def test_depth(version: int) -> None:
    # The row itself and its data are two levels.
    limits = ReadLimits(max_depth=10)
    assert found(check(version, [row(0, {"x": nested(8)})], limits)) == []
    deeper = check(version, [row(0, {"x": nested(9)}), row(1, {})], limits)
    assert found(deeper) == [("json/depth", "error")]
    assert deeper.verdicts["readable"] is True


@FORMATS
def test_row_limit(version: int) -> None:
    longest = row(0, {"x": "y" * 400})
    limits = ReadLimits(max_row_bytes=len(json.dumps(longest)))
    assert found(check(version, [longest], limits)) == []
    longer = check(version, [row(0, {"x": "y" * 401}), row(1, {})], limits)
    assert found(longer) == [("storage/row-limit", "error")]
    assert longer.verdicts["readable"] is True


@FORMATS
def test_log_limit(version: int) -> None:
    rows = [row(seq, {}) for seq in range(100)]
    assert found(check(version, rows, ReadLimits(max_log_bytes=64_000))) == []
    with pytest.raises(StorageError) as caught:
        check(version, rows, ReadLimits(max_log_bytes=16_000))
    assert caught.value.code == "storage/log-limit"


@FORMATS
def test_too_many_findings(version: int) -> None:
    rows = [row(seq, {}, extra=1) for seq in range(MAX_FINDINGS)]
    most = found(check(version, rows, ReadLimits()))
    assert set(most) == {("envelope/unknown-member", "error")}
    assert len(most) == MAX_FINDINGS
    rows.append(row(MAX_FINDINGS, {}, extra=1))
    report = check(version, rows, ReadLimits())
    assert len(report.findings) == MAX_FINDINGS + 1
    assert (report.findings[-1].rule, report.findings[-1].severity) == (
        "storage/too-many-findings",
        "warning",
    )


def _replacing(seq: int, start: int, end: int, sources: list[object]) -> dict[str, object]:
    operation = {"op": "replace", "startSeq": start, "endSeq": end}
    return {**_message(seq), "sourceEventSeqs": sources, "surfaceOp": operation}


def _message(seq: int) -> dict[str, object]:
    data = {"content": [], "source": {"kind": "user"}, "role": "user", "id": f"m{seq}"}
    return {"type": "user/message", "seq": seq, "time": 1, "data": data, "surfaceOp": "append"}


@FORMATS
def test_refused_replacements_cost_a_bounded_amount(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dsh_protocol.state.log.WORK_LIMIT", 500)
    rows = [_message(seq) for seq in range(100)]
    rows += [_replacing(seq, 0, 99, [99]) for seq in range(100, 110)]
    report = check(version, rows, ReadLimits())
    assert [f.rule for f in report.findings[:6]] == ["surface/range-covered"] * 6
    assert [(f.rule, f.because) for f in report.findings[6:]] == [("storage/work-limit", 105)] * 4


def test_ten_thousand_refused_replacements_of_everything_end_soon() -> None:
    rows = [_message(seq) for seq in range(5_000)]
    rows += [_replacing(seq, 0, 4_999, [[0, 4_998]]) for seq in range(5_000, 15_000)]
    report = check(4, rows, ReadLimits())
    assert report.errors == 10_000
    assert report.findings[-2].rule == "surface/range-covered"
