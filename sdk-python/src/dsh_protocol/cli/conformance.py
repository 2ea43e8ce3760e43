"""`dsh-protocol conformance`: the shared cases, and any implementation's answers to them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from dsh_protocol.conformance.cases import Case, Corpus, find_corpus
from dsh_protocol.conformance.errors import ImplementationError
from dsh_protocol.conformance.implementations import Implementation, find_implementation
from dsh_protocol.conformance.known import KnownFailures
from dsh_protocol.conformance.lint import lint as lint_corpus
from dsh_protocol.conformance.lint import manifest
from dsh_protocol.conformance.matrix import matrix as matrix_page
from dsh_protocol.conformance.report import report_json
from dsh_protocol.conformance.run import CASE_LIMIT, Run
from dsh_protocol.conformance.run import run as run_cases
from dsh_protocol.conformance.smoke import smoke as smoke_adapter
from dsh_protocol.conformance.trace import trace as trace_cases
from dsh_protocol.findings import UsageError
from dsh_protocol.jsonvalue import dumps

from . import _output as output
from .check import Format

app = typer.Typer(
    help="The conformance cases, and any implementation's answers to them.", no_args_is_help=True
)

CorpusPath = Annotated[
    Path | None,
    typer.Option(
        "--corpus", metavar="DIR", help="The conformance folder (default: of this checkout)."
    ),
]
Limit = Annotated[
    float,
    typer.Option(metavar="SECONDS", min=0.01, max=86400, help="The longest time for one answer."),
]

_COLUMNS = (
    "passed",
    "bare",
    "known",
    "failed",
    "errored",
    "crashed",
    "hung",
    "invalid",
    "unsupported",
)
_SHOWN = 40


@app.command("run")
@output.guarded
def run(
    impl: Annotated[
        list[str],
        typer.Option(
            help="python, a folder of conformance/adapters, or a command. May be repeated."
        ),
    ],
    suite: Annotated[
        list[str] | None,
        typer.Option(help="A suite, or the first words of several (prompt: all prompt-*)."),
    ] = None,
    op: Annotated[list[str] | None, typer.Option(help="Only cases of this op.")] = None,
    known_failures: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Known failures of the one implementation (default: its own)."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write all results as JSON.")
    ] = None,
    matrix: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write cases by implementations as HTML.")
    ] = None,
    limit: Limit = CASE_LIMIT,
    corpus: CorpusPath = None,
) -> None:
    """Ask implementations the cases, and print what came of it."""
    _look_for_folders(report, matrix)
    opened = Corpus.open(corpus or find_corpus())
    cases = opened.select(suite or (), op or ())
    runs = [_run(opened, cases, name, known_failures, len(impl), limit) for name in impl]
    traced = trace_cases(opened)
    for done in runs:
        _print_run(done)
    if report is not None:
        report.write_text(dumps(report_json(opened, runs, traced)) + "\n", encoding="utf-8")
    if matrix is not None:
        page = matrix_page(opened, runs, traced)
        # What adapters say may hold lone surrogates, which no file can.
        matrix.write_text(page, encoding="utf-8", errors="backslashreplace")
    raise typer.Exit(output.FINE if all(done.passed for done in runs) else output.ERRORS)


def _look_for_folders(*files: Path | None) -> None:
    """A long run should not be for nothing."""
    for file in files:
        if file is not None and (file.is_dir() or not file.parent.is_dir()):
            raise UsageError(
                "output/failed",
                f"{file} cannot be written",
                fix="Name a file in a folder that exists.",
            )


def _run(
    corpus: Corpus,
    cases: list[Case],
    name: str,
    known: Path | None,
    implementations: int,
    limit: float,
) -> Run:
    if known is not None and implementations > 1:
        raise ImplementationError(
            "conformance/known-failures",
            "--known-failures is about one implementation",
            fix="Run the implementations one by one.",
        )
    found = find_implementation(name, corpus.root)
    path = known or found.known_failures
    failures = None if path is None else KnownFailures.read(path, corpus.root)
    with output.progress(f"asking {output.printable(name)}") as tick:
        return run_cases(corpus, cases, found, known=failures, limit=limit, tick=tick)


def _print_run(done: Run) -> None:
    about = {} if done.capabilities is None else done.capabilities.implementation
    said = " ".join(str(about[name]) for name in ("name", "version", "language") if name in about)
    output.print_line(f"{done.implementation.name}" + (f": {said}" if said else ""))
    columns = [name for name in _COLUMNS if done.counts[name]]
    suites: dict[str, Counter[str]] = {}
    for result in done.results:
        name = "known" if result.reason else result.verdict.value
        suites.setdefault(result.case.suite, Counter())[name] += 1
    # Suites that were not asked for at all only count.
    shown = {suite: n for suite, n in suites.items() if n.total() > n["unsupported"]}
    shown["all"] = done.counts
    rows = [[suite, *(str(n[name] or "") for name in columns)] for suite, n in shown.items()]
    output.print_table(["suite", *columns], rows)
    _print_faults(done)


def _print_faults(done: Run) -> None:
    unexplained = done.unexplained
    for result in unexplained[:_SHOWN]:
        output.print_line(
            f"  {result.verdict.value} {result.case.id} (format {result.format}): {result.why}"
        )
    if len(unexplained) > _SHOWN:
        output.print_line(f"  ... and {len(unexplained) - _SHOWN} more; --report has all of them")
    for case_id in done.stale:
        output.print_line(f"  stale: {case_id} is listed as a known failure and does not fail")
    if done.problem:
        output.print_line(f"  the adapter {done.problem}")
    verdict = "passed" if done.passed else "FAILED"
    output.print_line(
        f"{done.implementation.name}: {verdict}, {done.answered} of {len(done.results)} questions answered right "
        f"or explained, {done.counts['unsupported']} not asked, {len(unexplained)} unexplained, {len(done.stale)} stale"
    )


@app.command("smoke")
@output.guarded
def smoke(
    impl: Annotated[str, typer.Option(help="A folder of conformance/adapters, or a command.")],
    limit: Limit = CASE_LIMIT,
    corpus: CorpusPath = None,
) -> None:
    """Find out in a few questions whether an adapter keeps the protocol."""
    opened = Corpus.open(corpus or find_corpus())
    found: Implementation = find_implementation(impl, opened.root)
    shown = smoke_adapter(opened, found, limit=limit)
    for problem in shown.problems:
        output.print_line(f"adapter: {problem}")
    for doubt in shown.doubts:
        output.print_line(f"implementation: {doubt}")
    verdict = "the adapter keeps the protocol" if shown.passed else "the adapter is not usable"
    output.print_line(f"{verdict}; {shown.right} of {shown.asked} sample answers are right")
    raise typer.Exit(output.FINE if shown.passed else output.ERRORS)


@app.command("trace")
@output.guarded
def trace(
    format: Annotated[Format, typer.Option(help="How to print it.")] = Format.text,
    corpus: CorpusPath = None,
) -> None:
    """Print which rule, event type and listed decision is shown by which cases, and what is shown by none."""
    traced = trace_cases(Corpus.open(corpus or find_corpus()))
    if format is Format.json:
        output.print_json([item.to_json() for item in traced.items])
    else:
        for item in traced.items:
            if item.missing:
                why = item.untestable or f"HOLE: {' and '.join(item.missing)} is missing"
                output.print_line(f"{item.id} (format {item.format}): {why}")
        for problem in traced.problems:
            output.print_line(problem)
        untestable = sum(1 for item in traced.items if item.missing and not item.is_hole)
        output.print_line(
            f"{len(traced.items)} traced, {untestable} untestable, {len(traced.holes)} holes"
        )
    raise typer.Exit(output.ERRORS if traced.holes or traced.problems else output.FINE)


@app.command("lint")
@output.guarded
def lint(
    write_manifest: Annotated[
        bool, typer.Option("--write-manifest", help="Write MANIFEST instead of comparing it.")
    ] = False,
    corpus: CorpusPath = None,
) -> None:
    """Check the corpus itself: shapes, ids, manifest, rules, references."""
    opened = Corpus.open(corpus or find_corpus())
    if write_manifest:
        (opened.root / "MANIFEST").write_text("\n".join(manifest(opened)) + "\n", encoding="utf-8")
    lines = lint_corpus(opened)
    for line in lines:
        output.print_line(line)
    output.print_line(
        f"{len(opened.cases)} cases in {len(opened.suites)} suites, {len(lines)} faults"
    )
    raise typer.Exit(output.ERRORS if lines else output.FINE)
