"""`dsh-protocol explain` and `types`."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner, Result

from dsh_protocol.cli import app
from dsh_protocol.reference import event_types, explain, explain_loop, loop_rules
from dsh_protocol.rules import rules


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def ask(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_rule() -> None:
    text = ask("explain", "surface/range-order")
    entry = rules()["surface/range-order"]
    for part in (entry.statement, entry.remedy, entry.message, "0.1.5-rc.1", "0.2.1-rc.2"):
        assert part in text
    marked = [line for line in text.splitlines() if line.startswith("  > ")]
    assert [json.loads(line[4:])["seq"] for line in marked] == [4]
    assert "at seq 4 /surfaceOp" in text


@pytest.mark.parametrize("rule_id", list(rules()))
def test_every_rule_in_both_forms(rule_id: str) -> None:
    text = ask("explain", rule_id)
    assert rules()[rule_id].statement in text
    assert all(line.isprintable() for line in text.split("\n"))
    assert json.loads(ask("explain", rule_id, "--format", "json")) == explain(rule_id).to_json()


def test_the_bytes_behind_the_last_row_of_an_example_are_shown() -> None:
    case = explain("storage/torn-tail").refuses
    assert case is not None
    text = ask("explain", "storage/torn-tail")
    assert f"{json.dumps(case.value['input']['tail'])} without a line feed" in text


def test_the_list_of_rules() -> None:
    *lines, last = ask("explain").splitlines()
    known = [*rules(), *loop_rules()]
    assert [line.split()[0] for line in lines] == known
    assert last.startswith(f"{len(known)} rules")
    entries = json.loads(ask("explain", "--format", "json"))
    assert [entry["id"] for entry in entries] == known
    for entry in (entries[0], entries[-1]):
        assert entry.keys() == {"id", "statement", "severity", "formats", "level"}


def test_a_rule_of_what_a_loop_writes() -> None:
    text = ask("explain", "loop/prompt-single")
    assert "At most one event." in text
    assert re.search(r"formats +3\n", text)
    assert "the design document that made the prompt node 0 of the surface" in text
    assert "No release works like this." in text
    assert '"revision":"single"' in text
    assert 'gives {"ok":{"commits":' in text
    asked = json.loads(ask("explain", "loop/prompt-single", "--format", "json"))
    assert asked == explain_loop("loop/prompt-single").to_json()


def test_a_loop_rule_with_a_wrong_or_no_area() -> None:
    for wrong in ("loop/promt-single", "prompt-single"):
        result = run("explain", wrong)
        assert result.exit_code == 2
        assert "loop/prompt-single" in result.stderr


def test_an_unknown_rule() -> None:
    result = run("explain", "surface/range")
    assert result.exit_code == 2
    assert "rules/unknown-id" in result.stderr
    assert "surface/range-order" in result.stderr
    assert result.stdout == ""


def test_a_type() -> None:
    text = ask("types", "tool/result")
    assert text.startswith("tool/result: formats 3, 4, on the surface")
    (row,) = (line for line in text.splitlines() if "/message/toolCallId │" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "/message/toolCallId",
        "(absent)",
        "restore, format",
        "The callId of the source, whose result is still missing (format).",
    ]
    assert "/message/isError in format 4: " in text


@pytest.mark.parametrize("type_", list(event_types()))
def test_every_type_in_both_forms(type_: str) -> None:
    text = ask("types", type_)
    assert text.startswith(f"{type_}: format")
    entry = event_types()[type_]
    assert all(member.path in text for member in entry.members)
    assert json.loads(ask("types", type_, "--format", "json")) == entry.to_json()


def test_the_list_of_types() -> None:
    text = ask("types")
    rows = [line.strip("│").split("│")[0].strip() for line in text.splitlines() if "│" in line]
    assert rows == list(event_types())
    assert "62 types" in text
    entries = json.loads(ask("types", "--format", "json"))
    assert [entry["type"] for entry in entries] == list(event_types())


def test_an_unknown_type() -> None:
    result = run("types", "turn/begin")
    assert result.exit_code == 2
    assert "types/unknown-type" in result.stderr
    assert "turn/end" in result.stderr
