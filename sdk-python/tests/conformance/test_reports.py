"""What a run leaves behind: the report, the matrix, the trace, and the commands that print them."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from suites import ROOT, corpus
from typer.testing import CliRunner, Result

from dsh_protocol.cli import app
from dsh_protocol.conformance.cases import Case, Corpus, Suite
from dsh_protocol.conformance.implementations import Implementation, find_implementation
from dsh_protocol.conformance.known import KnownFailures, Reason
from dsh_protocol.conformance.matrix import matrix
from dsh_protocol.conformance.report import report_json
from dsh_protocol.conformance.run import run
from dsh_protocol.conformance.trace import Trace, trace

TOY = Path(__file__).parent / "toys" / "toy.py"
TOY_COMMAND = f"{sys.executable} {TOY}"


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["conformance", *arguments])


def toy(way: str) -> Implementation:
    return Implementation(way, (sys.executable, str(TOY), way))


# ---- The example in another language ---------------------------------------------------------------


@pytest.mark.skipif(shutil.which("perl") is None, reason="there is no perl")
def test_an_adapter_in_another_language_passes_the_suite_fold() -> None:
    done = run(corpus(), corpus().select(ops=["fold"]), find_implementation("perl-fold", ROOT))
    assert done.unexplained == []
    assert done.passed
    assert done.counts["passed"] > 100
    assert done.counts["bare"] > 40


def test_that_adapter_is_short() -> None:
    lines = (ROOT / "adapters" / "perl-fold" / "adapter.pl").read_text(encoding="utf-8")
    assert lines.count("\n") <= 130


# ---- The command -----------------------------------------------------------------------------------


def test_run_prints_a_table_and_writes_files(tmp_path: Path) -> None:
    report, page = tmp_path / "report.json", tmp_path / "matrix.html"
    impl = f"{TOY_COMMAND} right"
    files = ("--report", str(report), "--matrix", str(page))
    done = command("run", "--impl", impl, "--impl", "python", "--op", "seqs.encode", *files)
    assert done.exit_code == 0, done.output
    assert f"{impl}: passed, 26 of 26 questions answered right or explained" in done.output
    assert "python: passed, 26 of 26" in done.output
    written = json.loads(report.read_bytes())
    assert [run_["passed"] for run_ in written["implementations"]] == [True, True]
    first = written["implementations"][0]["results"][0]
    assert first["verdict"] == "passed"
    assert first["case"].startswith("envelope/seqs-encode/")
    assert written["trace"]["holes"] == []
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_run_says_what_failed_and_exits_with_1() -> None:
    done = command("run", "--impl", f"{TOY_COMMAND} always-wrong", "--suite", "envelope")
    assert done.exit_code == 1
    assert 'failed envelope/seqs-encode/empty (format 3): "wrong", expected' in done.output
    suites = [suite for name, suite in corpus().suites.items() if name.startswith("envelope")]
    asked = sum(len(case.formats) for suite in suites for case in suite.cases)
    assert f"FAILED, 0 of {asked} questions answered right or explained" in done.output


def test_run_with_known_failures_of_its_own(tmp_path: Path) -> None:
    cases = [case.id for case in corpus().select(ops=["seqs.encode"])]
    reason = {"text": "This toy answers nothing right.", "right": "case"}
    path = tmp_path / "known.json"
    path.write_text(json.dumps({"reasons": {"toy": reason}, "cases": dict.fromkeys(cases, "toy")}))
    listed = ("--known-failures", str(path), "--op", "seqs.encode")
    done = command("run", "--impl", f"{TOY_COMMAND} always-wrong", *listed)
    assert done.exit_code == 0, done.output
    done = command("run", "--impl", f"{TOY_COMMAND} right", *listed)
    assert done.exit_code == 1
    assert f"stale: {cases[0]} is listed as a known failure" in done.output


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("run", "--impl", "python", "--suite", "nothing"), "corpus/no-such-suite"),
        (("run", "--impl", "python", "--op", "nothing"), "corpus/no-cases"),
        (("run", "--impl", ""), "conformance/no-such-implementation"),
        (("run", "--impl", "node 'x"), "conformance/no-such-implementation"),
        (("smoke", "--impl", "node 'x"), "conformance/no-such-implementation"),
        (("run", "--impl", "python", "--report", "/nowhere/report.json"), "output/failed"),
        (("run", "--impl", "python", "--matrix", "/"), "output/failed"),
        (("run", "--impl", "python", "--corpus", "/nowhere"), "corpus/missing"),
        (
            ("run", "--impl", "python", "--impl", "python", "--known-failures", "x"),
            "conformance/known-failures",
        ),
    ],
)
def test_unusable_arguments(arguments: tuple[str, ...], code: str) -> None:
    done = command(*arguments)
    assert done.exit_code == 2
    assert f"error {code}" in done.stderr


@pytest.mark.parametrize("limit", ["0", "-1", "inf", "x"])
def test_a_limit_is_a_time(limit: str) -> None:
    done = command("run", "--impl", "python", "--limit", limit)
    assert done.exit_code == 2
    assert "Invalid value for '--limit'" in done.stderr


def test_texts_that_no_file_can_hold(tmp_path: Path) -> None:
    report, page = tmp_path / "report.json", tmp_path / "page.html"
    files = ("--report", str(report), "--matrix", str(page))
    done = command("run", "--impl", f"{TOY_COMMAND} surrogates", "--op", "seqs.encode", *files)
    assert done.exit_code == 0, done.output
    said = json.loads(report.read_bytes())["implementations"][0]["implementation"]
    assert said == {"name": "\ud800", "version": "\udfff<b>"}
    assert "\\udfff&lt;b&gt;" in page.read_text(encoding="utf-8")


def test_smoke() -> None:
    done = command("smoke", "--impl", f"{TOY_COMMAND} right")
    assert done.exit_code == 0
    assert "the adapter keeps the protocol; 4 of 4 sample answers are right" in done.output
    done = command("smoke", "--impl", f"{TOY_COMMAND} two-ways")
    assert done.exit_code == 1
    assert "adapter: " in done.output


def test_lint_and_trace() -> None:
    assert command("lint").exit_code == 0
    done = command("trace")
    assert done.exit_code == 0
    assert "rule:json/depth (format 4): A case would nest deeper" in done.output
    assert "0 holes" in done.output
    items = json.loads(command("trace", "--format", "json").output)
    assert {item["id"] for item in items} > {"rule:surface/range-order", "type:turn/start"}


# ---- The trace -------------------------------------------------------------------------------------


def corpus_of(tmp_path: Path, cases: list[Case], **listed: Any) -> Corpus:
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "trace.schema.json").write_bytes((ROOT / "trace.schema.json").read_bytes())
    known: dict[str, Any] = {"untestable": {}, "followers": {}, "lists": {}}
    (tmp_path / "trace.json").write_text(json.dumps({**known, **listed}))
    return Corpus(tmp_path, {"area": Suite("area", tuple(cases))})


def case(expect: Any, *rules: str, formats: tuple[int, ...] = (4,), **more: Any) -> Case:
    return Case("area/a/b", "A case", rules, formats, "check", {}, expect, **more)


def missing(found: Trace, id_: str) -> dict[int | None, tuple[str, ...]]:
    return {item.format: item.missing for item in found.items if item.id == id_}


REFUSED = {"rule": "surface/range-order", "seq": 1, "path": ""}


def test_a_rule_without_cases_is_a_hole_in_each_format(tmp_path: Path) -> None:
    cases = [case({"refused": REFUSED}, "surface/range-order"), case({"ok": 1}, "json/finite")]
    found = trace(corpus_of(tmp_path, cases))
    both = ("an accepting case", "a refusing case")
    assert missing(found, "rule:surface/range-order") == {3: both, 4: both[:1]}
    assert missing(found, "rule:json/finite") == {3: both, 4: both[1:]}
    # Rules of format 4 alone.
    assert missing(found, "rule:developer/role") == {4: both}
    assert len(found.holes) > 200


def test_a_type_and_an_entry_of_a_list_have_to_be_cited(tmp_path: Path) -> None:
    cases = [case({"ok": 1}, cites=("type:turn/start", "decision:later-wins"))]
    lists = {"decision": {"later-wins": "The later one counts.", "first-wins": "Or the first."}}
    found = trace(corpus_of(tmp_path, cases, lists=lists))
    assert missing(found, "type:turn/start") == {3: ("a case that cites it",), 4: ()}
    assert missing(found, "decision:later-wins") == {None: ()}
    assert missing(found, "decision:first-wins") == {None: ("a case that cites it",)}
    assert found.problems == ()


def test_a_rule_of_the_loop_has_to_be_cited_in_its_formats(tmp_path: Path) -> None:
    cases = [case({"ok": 1}, cites=("loop:prompt-first", "loop:tools-told", "loop:prompt-single"))]
    found = trace(corpus_of(tmp_path, cases))
    hole = ("a case that cites it",)
    assert missing(found, "loop:prompt-first") == {3: hole, 4: ()}
    # Format 4 alone, and format 3 alone.
    assert missing(found, "loop:tools-told") == {4: ()}
    assert missing(found, "loop:prompt-single") == {3: hole}


def test_steps_accept_and_refuse(tmp_path: Path) -> None:
    refused = {"refused": {"rule": "scope/cycle", "seq": None, "path": ""}}
    steps = [{"ok": None}, None, refused]
    cases = [case({"steps": steps}, "scope/cycle", "scope/already-bound")]
    found = trace(corpus_of(tmp_path, cases))
    assert missing(found, "rule:scope/cycle") == {4: ("an accepting case",)}
    assert missing(found, "rule:scope/already-bound") == {4: ("a refusing case",)}


def test_the_untestable_is_no_hole(tmp_path: Path) -> None:
    reasons = {
        "rule:json/depth": "It would be too deep for any parser.",
        "rule:json/finite": "It has cases all the same, says this test.",
        "rule:no/rule": "There is no such rule, says this test.",
    }
    cases = [
        case({"ok": 1}, "json/finite", formats=(3, 4)),
        case({"refused": {**REFUSED, "rule": "json/finite"}}, "json/finite", formats=(3, 4)),
        case({"ok": 1}, cites=("type:no/type",)),
    ]
    found = trace(corpus_of(tmp_path, cases, untestable=reasons))
    assert not [item for item in found.holes if item.id == "rule:json/depth"]
    assert found.problems == (
        "rule:json/finite is listed as untestable and has cases",
        "rule:no/rule is listed as untestable and does not exist",
        "area/a/b cites type:no/type, which does not exist",
    )


# ---- The matrix ------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.texts += [value or "" for name, value in attrs if name == "title"]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_nothing_in_the_matrix_is_taken_for_html() -> None:
    hostile = '<script>alert("x")</script>'
    named = Implementation(hostile, (sys.executable, str(TOY), "always-fails"))
    chosen = corpus().select(ops=["seqs.encode"])
    done = run(corpus(), chosen, named)
    titled = replace(chosen[0], title=hostile)
    done.results[0] = replace(done.results[0], case=titled, why=hostile)
    page = matrix(corpus(), [done], trace(corpus()))
    found = Tags(page)
    assert "script" not in found.tags
    assert hostile in found.texts
    assert set(found.tags) <= {
        *("html", "meta", "title", "style", "h1", "h2", "p", "table", "tr", "th", "td"),
        *("code", "details", "summary"),
    }


def test_the_matrix_shows_what_cannot_be_tested_in_red() -> None:
    done = run(corpus(), corpus().select(ops=["seqs.encode"]), toy("right"))
    page = matrix(corpus(), [done], trace(corpus()))
    row = next(line for line in page.splitlines() if "rule:json/depth" in line)
    assert row.startswith("<tr class=untestable>")
    assert "3, 4" in row
    assert page.count('<td class="v passed"') > 25


def test_a_report_has_reasons() -> None:
    done = run(corpus(), corpus().select(ops=["seqs.encode"]), toy("crash"))
    (told,) = report_json(corpus(), [done], trace(corpus()))["implementations"]
    assert told["results"][0]["why"].startswith("ended with code 3")
    assert told["counts"] == {"crashed": 26}
    assert told["passed"] is False


@pytest.mark.parametrize("way", ["right", "crash", "crash-at-start", "always-wrong", "no-stop"])
def test_a_report_has_the_published_shape(tmp_path: Path, way: str) -> None:
    cases = corpus().select(ops=["seqs.encode"])
    reason = Reason("toy", "It is a toy and nothing else.", "case")
    known = KnownFailures({"toy": reason}, {cases[0].id: reason, "no/such/case": reason})
    done = run(corpus(), cases, toy(way), known=known)
    schema = json.loads((ROOT / "report.schema.json").read_bytes())
    told = json.loads(json.dumps(report_json(corpus(), [done], trace(corpus()))))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(told)] == []
