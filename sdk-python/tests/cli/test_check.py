"""`dsh-protocol check` on bad input: each defect has its own code, and the exit code says whether the input was usable."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import synthetic
from typer.testing import CliRunner

from dsh_protocol.cli import app

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Rows = list[dict[str, Any]]


def run(*paths: Path) -> tuple[int, list[dict[str, Any]]]:
    result = CliRunner().invoke(app, ["check", *map(str, paths), "--format", "json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, json.loads(result.stdout)


def one(path: Path) -> tuple[int, dict[str, Any]]:
    code, reports = run(path)
    assert len(reports) == 1
    return code, reports[0]


def found(report: dict[str, Any]) -> list[tuple[str, int | None, str]]:
    """The independent findings: rule, seq and path of each."""
    return [(f["rule"], f["seq"], f["path"]) for f in report["findings"] if f["because"] is None]


@pytest.mark.parametrize("version", [3, 4])
def test_a_valid_log_has_no_finding(tmp_path: Path, version: int) -> None:
    path = synthetic.write_log(tmp_path / "a.jsonl", synthetic.events(version), version=version)
    code, report = one(path)
    assert (code, report["findings"]) == (0, [])
    assert report["formatVersion"] == version
    assert report["verdicts"] == {
        "readable": True,
        "migratable": None,
        "valid": True,
        "resumable": True,
        "wireValid": True,
    }


UNUSABLE: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "empty": ("storage/empty-file", lambda _: b""),
    "not JSON": ("header/missing", lambda _: b"hello\n"),
    "byte order mark": ("storage/byte-order-mark", lambda log: b"\xef\xbb\xbf" + log),
    "header missing": ("header/missing", lambda log: log.split(b"\n", 1)[1]),
    "newer format": ("header/newer-format", lambda log: log.replace(b'n":4', b'n":5', 1)),
    "format 2": ("header/older-format", lambda log: log.replace(b'n":4', b'n":2', 1)),
    "format 1": ("header/older-format", lambda log: log.replace(b'n":4', b'n":1', 1)),
    "format 0": ("header/older-format", lambda log: log.replace(b'n":4', b'n":0', 1)),
    "version missing": ("header/version", lambda log: log.replace(b'"version":4,', b"", 1)),
    "unknown header member": ("header/unknown-member", lambda log: b'{"x":1,' + log[1:]),
    "relative cwd": ("header/member", lambda log: log.replace(b'"/w"', b'"w"', 1)),
}


@pytest.mark.parametrize(("rule", "change"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_unusable_input_has_a_code_of_its_own(
    tmp_path: Path, rule: str, change: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(change(synthetic.log_bytes(synthetic.events())))
    code, report = one(path)
    assert code == 2
    assert [f["rule"] for f in report["findings"]] == [rule]
    assert report["findings"][0]["fix"]
    assert report["verdicts"]["readable"] is False


def test_a_directory_without_logs(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    code, report = one(tmp_path)
    assert (code, found(report)) == (2, [("storage/no-logs", None, "")])


def test_a_missing_path(tmp_path: Path) -> None:
    code, report = one(tmp_path / "nowhere.jsonl")
    assert (code, found(report)) == (2, [("storage/unreadable", None, "")])


def test_file_name_and_header_disagree(tmp_path: Path) -> None:
    folder = tmp_path / "--w--" / "s-1"
    folder.mkdir(parents=True)
    path = synthetic.write_log(folder / "session.v3.jsonl", synthetic.events())
    code, report = one(path)
    assert code == 2
    assert [f["rule"] for f in report["findings"]] == ["storage/name-version"]


def test_a_lone_file_is_judged_by_its_content(tmp_path: Path) -> None:
    path = synthetic.write_log(tmp_path / "copy-of-session.v3.jsonl", synthetic.events())
    assert one(path)[0] == 0


def changed(at: int, /, **changes: Any) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        rows[at].update(changes)

    return change


def removed(at: int, member: str) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        del rows[at][member]

    return change


def added(row: dict[str, Any]) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        rows.append(row)

    return change


def gap(rows: Rows) -> None:
    for row in rows[6:]:
        row["seq"] += 1


FOUR_KEYS = {"op": "replace", "startSeq": 3, "endSeq": 3, "start": 3}
OLD_KEYS = {"op": "replace", "start": 3, "end": 3}

REFUSED: dict[str, tuple[str, int | None, str, Callable[[Rows], None]]] = {
    "seq gap": ("envelope/seq-gap", 7, "/seq", gap),
    "duplicate seq": ("envelope/seq-repeated", 5, "/seq", changed(6, seq=5)),
    "fractional seq": ("envelope/seq", None, "/seq", changed(6, seq=6.5)),
    "unknown required event": (
        "envelope/unknown-type",
        8,
        "/type",
        added(synthetic.event(8, "x/y", {})),
    ),
    "surfaceOp missing": ("surface/op-missing", 3, "", removed(3, "surfaceOp")),
    "surfaceOp on a log-only event": (
        "surface/op-forbidden",
        4,
        "/surfaceOp",
        changed(4, surfaceOp="append"),
    ),
    "four keys": ("surface/op-shape", 3, "/surfaceOp", changed(3, surfaceOp=FOUR_KEYS)),
    "V2 keys": ("surface/op-retired-keys", 3, "/surfaceOp", changed(3, surfaceOp=OLD_KEYS)),
    "range not on the surface": (
        "surface/range-on-surface",
        8,
        "/surfaceOp/startSeq",
        added(synthetic.replacement(8, 4, 5, [3, 4, 5])),
    ),
    "range reversed by position": (
        "surface/range-order",
        8,
        "/surfaceOp",
        added(synthetic.replacement(8, 5, 3, [3, 5])),
    ),
    "sources not covered": (
        "surface/range-covered",
        8,
        "/sourceEventSeqs",
        added(synthetic.replacement(8, 3, 5, [5])),
    ),
    "head in the range": (
        "surface/head-protected",
        8,
        "/surfaceOp",
        added(synthetic.replacement(8, 2, 3, [2, 3])),
    ),
}


@pytest.mark.parametrize("version", [3, 4])
@pytest.mark.parametrize(("rule", "seq", "path", "change"), REFUSED.values(), ids=REFUSED.keys())
def test_a_refused_row_names_rule_seq_and_path(
    tmp_path: Path,
    version: int,
    rule: str,
    seq: int | None,
    path: str,
    change: Callable[[Rows], None],
) -> None:
    rows = synthetic.events(version)
    change(rows)
    log = synthetic.write_log(tmp_path / "a.jsonl", rows, version=version)
    code, report = one(log)
    assert code == 1
    assert found(report) == [(rule, seq, path)]
    assert report["findings"][0]["line"] is not None
    assert report["findings"][0]["fix"]


def test_a_minus_zero_seq(tmp_path: Path) -> None:
    log = synthetic.log_bytes(synthetic.events()).replace(b'"seq":0', b'"seq":-0', 1)
    path = tmp_path / "a.jsonl"
    path.write_bytes(log)
    code, report = one(path)
    assert code == 1
    rules = [f["rule"] for f in report["findings"] if f["because"] is None]
    assert rules == ["envelope/seq-minus-zero"]
    # The released reader keeps the row; what the log says is no JSON that can be written again.
    assert report["verdicts"]["readable"] is True


def test_a_torn_last_line_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(synthetic.log_bytes(synthetic.events()) + b'{"type":"turn/st')
    code, report = one(path)
    assert (code, report["verdicts"]["readable"]) == (0, True)
    assert [(f["rule"], f["severity"]) for f in report["findings"]] == [
        ("storage/torn-tail", "warning")
    ]


def test_garbage_before_a_turn_end_spoils_the_log(tmp_path: Path) -> None:
    lines = synthetic.log_bytes(synthetic.events()).split(b"\n")
    lines[5] = b"garbage"
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(lines))
    code, report = one(path)
    assert (code, report["verdicts"]["readable"]) == (1, False)
    assert ("json/syntax", None, "") in found(report)
    history = [f for f in report["findings"] if f["rule"] == "storage/committed-history"]
    assert len(history) == 1
    assert history[0]["because"] is not None


def test_garbage_without_a_later_turn_end_ends_the_log(tmp_path: Path) -> None:
    log = synthetic.log_bytes(synthetic.events()[:5]) + b"garbage\n"
    path = tmp_path / "a.jsonl"
    path.write_bytes(log)
    code, report = one(path)
    assert (code, report["verdicts"]["readable"]) == (1, True)
    assert found(report) == [("json/syntax", None, "")]
    assert report["findings"][0]["line"] == 7


def test_five_independent_defects_give_five_errors(tmp_path: Path) -> None:
    rows = synthetic.events()
    rows[0]["ignorable"] = False
    del rows[3]["surfaceOp"]
    rows[4]["data"]["header"]["system"] = "x"
    rows[6]["extra"] = 1
    rows.append(synthetic.replacement(8, 2, 2, [2]))
    path = synthetic.write_log(tmp_path / "a.jsonl", rows)
    code, report = one(path)
    assert code == 1
    assert sorted(found(report)) == [
        ("envelope/ignorable", 0, "/ignorable"),
        ("envelope/unknown-member", 6, "/extra"),
        ("request/system-retired", 4, "/data/header/system"),
        ("surface/head-protected", 8, "/surfaceOp"),
        ("surface/op-missing", 3, ""),
    ]


def test_one_bad_log_does_not_spoil_a_directory(tmp_path: Path) -> None:
    for id_, rows in (("good", synthetic.events()), ("bad", synthetic.events())):
        folder = tmp_path / "--w--" / id_
        folder.mkdir(parents=True)
        synthetic.write_log(folder / "session.v4.jsonl", rows, id=id_)
    (tmp_path / "--w--" / "bad" / "session.v4.jsonl").write_bytes(b"")
    (tmp_path / "--w--" / "good" / "session.v3.jsonl").write_bytes(b"")
    (tmp_path / "--w--" / "good" / "session.v04.jsonl").write_bytes(b"")
    code, reports = run(tmp_path)
    assert code == 2
    by_name = {Path(report["path"]).parent.name: report for report in reports}
    assert found(by_name["bad"]) == [("storage/empty-file", None, "")]
    assert by_name["good"]["findings"] == []
    assert by_name["good"]["stats"]["superseded"] == ["session.v3.jsonl"]
    assert sum(by_name["good"]["stats"]["skipped"].values()) == 1


def test_a_flood_of_findings_is_bounded_and_counted(tmp_path: Path) -> None:
    warning = synthetic.event(0, "plan/mode", {"active": True, "x": 1})
    rows = [{**warning, "seq": seq} for seq in range(2500)]
    rows.append(synthetic.event(2500, "no/such-type", {}))
    code, report = one(synthetic.write_log(tmp_path / "a.jsonl", rows))
    assert code == 1
    assert report["verdicts"]["readable"] is False
    assert len(report["findings"]) == 1001
    last = report["findings"][-1]
    assert (last["rule"], last["severity"]) == ("storage/too-many-findings", "warning")
    assert "1501 more" in last["message"]


def test_skipped_files_are_counted_wherever_they_lie(tmp_path: Path) -> None:
    folder = tmp_path / "--w--" / "s-1"
    folder.mkdir(parents=True)
    synthetic.write_log(folder / "session.v4.jsonl", synthetic.events())
    (tmp_path / "notes.txt").write_bytes(b"hello")
    code, report = one(tmp_path)
    assert code == 0
    assert sum(report["stats"]["skippedElsewhere"].values()) == 1


def test_a_truncated_frame_is_a_warning(tmp_path: Path) -> None:
    data = frames(synthetic.events(), size=2)
    path = tmp_path / "a.jsonl.zstd"
    path.write_bytes(data[:-7])
    code, report = one(path)
    assert (code, report["verdicts"]["readable"]) == (0, True)
    assert [f["rule"] for f in report["findings"]] == ["storage/torn-frame"]


def test_a_damaged_frame_spoils_the_log(tmp_path: Path) -> None:
    data = bytearray(frames(synthetic.events(), size=2))
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / "a.jsonl.zstd"
    path.write_bytes(bytes(data))
    code, report = one(path)
    assert (code, report["verdicts"]["readable"]) == (1, False)
    assert found(report)[0][0] == "storage/frame-corrupt"


def frames(rows: Rows, *, size: int) -> bytes:
    lines = [synthetic.line(row) for row in (synthetic.header(), *rows)]
    batches = [lines[:1], *(lines[at : at + size] for at in range(1, len(lines), size))]
    return b"".join(compress(b"".join(batch)) for batch in batches)


def compress(data: bytes) -> bytes:
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


MEMORY = """
import resource, sys
limit = 600 * 1024 * 1024
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from dsh_protocol.cli import app
app(["check", sys.argv[1], "--format", "json"])
"""


def bounded(path: Path) -> tuple[int, dict[str, Any]]:
    """Check in a process that has 600 MiB of address space and no more."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    (report,) = json.loads(done.stdout)
    return done.returncode, report


def test_a_line_of_200_megabytes_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.write(synthetic.line(synthetic.header()))
        file.write(b'{"type":"x","data":"')
        for _ in range(200):
            file.write(b"x" * 1_000_000)
        file.write(b'"}\n')
    code, report = bounded(path)
    assert code == 1
    assert [f["rule"] for f in report["findings"]] == ["storage/row-limit"]


def test_a_compressed_bomb_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zstd"
    bomb = compress(b"0" * 100_000_000)
    path.write_bytes(compress(synthetic.line(synthetic.header())) + bomb * 20)
    code, report = bounded(path)
    assert code in {1, 2}
    assert {f["rule"] for f in report["findings"]} & {"storage/row-limit", "storage/log-limit"}
    assert report["verdicts"]["readable"] is not True or code == 1


def test_citations_of_whole_histories_stay_cheap(tmp_path: Path) -> None:
    """20,000 short rows that cite everything before them: two hundred million citations, none written out."""
    rows = [synthetic.event(0, "user/message", synthetic.events()[3]["data"], surfaceOp="append")]
    for seq in range(1, 20_000):
        data = synthetic.message("user", "x", {"kind": "user"}, f"m{seq}")
        sources: list[Any] = [[0, seq - 1]]
        row = synthetic.event(seq, "user/message", data)
        rows.append({**row, "sourceEventSeqs": sources, "surfaceOp": "append"})
    operation = {"op": "replace", "startSeq": 0, "endSeq": 19_999}
    last = synthetic.event(20_000, "user/message", rows[1]["data"])
    rows.append({**last, "sourceEventSeqs": [[0, 19_999]], "surfaceOp": operation})
    code, report = bounded(synthetic.write_log(tmp_path / "a.jsonl", rows))
    assert (code, report["findings"]) == (0, [])


def test_a_seeded_log_whose_marker_is_missing_is_not_readable(tmp_path: Path) -> None:
    rows = synthetic.events()[:6]
    gapped = [*rows[:3], *({**row, "seq": row["seq"] + 1} for row in rows[3:])]
    for name, lost in (("gap", gapped), ("none", [])):
        path = synthetic.write_log(tmp_path / f"{name}.jsonl", lost, isSeeded=True)
        code, report = one(path)
        assert (code, report["verdicts"]["readable"]) == (1, False)
        rules = [f["rule"] for f in report["findings"]]
        assert rules.count("seed/marker-missing") == 1
        for command in ("requests", "surface", "messages"):
            result = CliRunner().invoke(app, [command, str(path)])
            assert (result.exit_code, result.stdout) == (1, "")
            assert "seed/marker-missing" in result.stderr


def test_what_follows_names_the_event_it_follows_from(tmp_path: Path) -> None:
    rows = [row for row in synthetic.events() if row["seq"] != 3]
    _, report = one(synthetic.write_log(tmp_path / "a.jsonl", rows))
    by_rule = {f["rule"]: f for f in report["findings"]}
    assert by_rule["storage/committed-history"]["because"] == by_rule["envelope/seq-gap"]["seq"]


def test_long_names_are_shortened_in_a_report(tmp_path: Path) -> None:
    rows = [synthetic.event(seq, "x" * 200_000, {"y" * 200_000: 1}) for seq in range(3)]
    path = synthetic.write_log(tmp_path / "a.jsonl", rows)
    code, report = one(path)
    assert code == 1
    assert len(json.dumps(report)) < 20_000
