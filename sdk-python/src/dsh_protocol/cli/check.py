"""`dsh-protocol check`: the findings and verdicts of logs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dsh_protocol.check import Report, check_path
from dsh_protocol.findings import StorageError

from . import _output as output


class Format(StrEnum):
    """How a result is printed."""

    text = "text"
    json = "json"


def check(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Logs or directories.")],
    format: Annotated[Format, typer.Option(help="How to print the reports.")] = Format.text,
) -> None:
    """Check logs, or all sessions below a directory."""
    code = output.FINE
    reports: list[Report] = []
    with output.progress("checking") as tick:
        for path in paths:
            try:
                for report in check_path(path, tick=tick):
                    code = max(code, _exit_code(report))
                    reports.append(report)
            except StorageError as error:
                code = output.UNUSABLE
                reports.append(Report.of_error(str(path), error))
    if format is Format.json:
        output.print_json([report.to_json() for report in reports])
    else:
        _print_text(reports)
    raise typer.Exit(code)


def _exit_code(report: Report) -> int:
    if report.unusable:
        return output.UNUSABLE
    return output.ERRORS if report.errors else output.FINE


def _print_text(reports: list[Report]) -> None:
    for report in reports:
        _print_report(report)
    bad = sum(1 for report in reports if report.errors)
    output.print_line(
        f"{len(reports)} checked, {len(reports) - bad} without errors, {bad} with errors"
    )


def _print_report(report: Report) -> None:
    version = (
        "unknown format" if report.format_version is None else f"format {report.format_version}"
    )
    verdicts = ", ".join(
        f"{name} {'yes' if value else 'no'}"
        for name, value in report.verdicts.items()
        if value is not None
    )
    output.print_line(report.path)
    counts = ", ".join(
        output.counted(number, noun)
        for number, noun in (
            (report.stats.get("events", 0), "event"),
            (report.errors, "error"),
            (report.warnings, "warning"),
        )
    )
    output.print_line(f"  {version}; {verdicts}; {counts}")
    for finding in report.findings:
        output.print_line(f"  {output.finding_line(finding)}")
        output.print_line(f"    {finding.fix}")
    for line in _skipped_lines(report):
        output.print_line(f"  {line}")


def _skipped_lines(report: Report) -> list[str]:
    stats = report.stats
    lines = []
    for key, what in (
        ("withoutSchema", "of a type without a schema yet"),
        ("opaque", "ignorable, of unknown types, kept as they are"),
        ("skipped", "skipped beside the log"),
        ("skippedElsewhere", "skipped in directories without a log"),
    ):
        counts: dict[str, int] = stats.get(key, {})
        if counts:
            detail = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
            noun = "file" if key.startswith("skipped") else "event"
            lines.append(f"{output.counted(sum(counts.values()), noun)} {what}: {detail}")
    superseded: list[str] = stats.get("superseded", [])
    if superseded:
        lines.append(f"older generations beside this log, not read: {', '.join(superseded)}")
    return lines
