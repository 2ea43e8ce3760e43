"""The official library says of recordings and cases what this package says. Skipped where it is not installed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import official
import pytest
from jsonschema import Draft202012Validator
from recorded import SHIPPED
from suites import cases

from dsh_protocol.reading import accept
from dsh_protocol.rows import open_log

Json = dict[str, Any]

MESSAGES = json.loads((official.ADAPTERS / "messages.schema.json").read_bytes())
LINES = Draft202012Validator(MESSAGES)


@pytest.fixture
def command() -> Path:
    found = official.installed()
    if found is None:
        pytest.skip("the official runtime is not installed: run scripts/official_runtime")
    return found


def logs() -> list[Path]:
    found = sorted(SHIPPED.glob("v*/*/sessions/*/*/session*.jsonl"))
    assert len(found) >= 16
    return found


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def ask(command: Path, home: Path, requests: list[Json]) -> list[Json]:
    hello, answers = official.ask(command, home, requests)
    assert hello["formats"]["check"] == [3, 4]
    for message in (hello, *requests, *answers):
        LINES.validate(message)
    assert [answer["id"] for answer in answers] == [request["id"] for request in requests]
    return answers


def question(id_: str, op: str, given: Json) -> Json:
    return {"id": id_, "op": op, "input": given}


def test_the_messages_have_a_schema_that_bites() -> None:
    Draft202012Validator.check_schema(MESSAGES)
    assert LINES.is_valid({"id": "1", "unsupported": "format 2"})
    for wrong in ({"id": "1"}, {"id": "1", "ok": 1, "refused": {}}, {"op": "fold", "input": {}}):
        assert not LINES.is_valid(wrong)


def test_recorded_logs(command: Path, tmp_path: Path) -> None:
    requests = [
        question(f"{op} {path.relative_to(SHIPPED)}", op, {"lines": lines_of(path)})
        for path in logs()
        for op in ("check", "fold", "messages")
    ]
    answers = {answer["id"]: answer for answer in ask(command, tmp_path, requests)}
    count: Counter[str] = Counter()
    for path in logs():
        accepted = accept(open_log(path))
        surface = accepted.state.surface
        ours = {
            "check": {"events": len(accepted.events)},
            "fold": {
                "nodes": list(surface.nodes),
                "replaceGeneration": surface.replace_generation,
                "contentGeneration": surface.content_generation,
            },
            "messages": list(surface.messages()),
        }
        for op, value in ours.items():
            answer = answers[f"{op} {path.relative_to(SHIPPED)}"]
            if "unsupported" in answer:
                assert (accepted.log.header.version, op == "check") == (3, False)
                count["unsupported"] += 1
            else:
                assert answer["ok"] == value, answer["id"]
                count[op] += 1
    assert count["check"] == len(logs())
    assert count["fold"] == count["messages"] >= 10


def test_folded_cases(command: Path, tmp_path: Path) -> None:
    asked = [c for c in cases() if c["op"] in ("fold", "messages") and c["formats"] == [4]]
    requests = [question(case["id"], case["op"], case["input"]) for case in asked]
    assert len(requests) > 30
    for case, answer in zip(asked, ask(command, tmp_path, requests), strict=True):
        expected = case["expect"]
        assert ("refused" in answer) == ("refused" in expected), answer
        assert answer.get("ok") == expected.get("ok"), case["id"]


def test_checked_cases(command: Path, tmp_path: Path) -> None:
    """A strict restore refuses whatever the reader refuses, and takes what has no defect at all."""
    asked = [c for c in cases() if c["op"] == "check" and c["formats"] == [4]]
    asked = [c for c in asked if c["input"].keys() <= {"header", "events", "lines"}]
    answers = ask(
        command, tmp_path, [question(case["id"], case["op"], case["input"]) for case in asked]
    )
    count: Counter[str] = Counter()
    for case, answer in zip(asked, answers, strict=True):
        if "unsupported" in answer:
            count["unsupported"] += 1
        elif "ok" in case["expect"]:
            count["accepted"] += 1
            assert answer.get("ok") == case["expect"]["ok"], answer
        elif not case["expect"]["readable"]:
            count["refused"] += 1
            assert "refused" in answer, case["id"]
    assert count["accepted"] > 100
    assert count["refused"] > 300
    assert count["unsupported"] < 10
