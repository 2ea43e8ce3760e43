"""What is said about rules and event types is what `spec/` and the conformance suites say."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from suites import cases
from test_corpus import UNTESTABLE

from dsh_protocol import (
    UsageError,
    event_type,
    event_types,
    explain,
    explain_loop,
    loop_rules,
)
from dsh_protocol.conformance.adapter import answer
from dsh_protocol.reference import LEVELS
from dsh_protocol.rules import rules

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "spec"
TRACE = ROOT / "conformance" / "trace.json"


@cache
def spec(name: str) -> Any:
    return yaml.safe_load((SPEC / f"{name}.yaml").read_text(encoding="utf-8"))


# ---- Rules -------------------------------------------------------------------------------------


def test_a_rule_that_readers_take_differently() -> None:
    found = explain("surface/range-order")
    assert [(r.format, r.release, r.effect) for r in found.readers] == [
        (3, "0.1.5-rc.1", "accept"),
        (4, "0.2.1-rc.2", "refuse"),
    ]
    assert found.readers[0].text == "release 0.1.5-rc.1 opens the log all the same"
    assert found.level == "the append of a live session"


def test_rows_that_are_refused_even_where_they_are_dropped() -> None:
    (entry,) = (r for r in spec("rules/session")["rules"] if r["id"] == "message/object")
    texts = [reader.text for reader in explain("message/object").readers]
    for version, text in zip(("3", "4"), texts, strict=True):
        types = entry["hard"][version]
        assert "even in rows that it drops" in text
        assert all(type_ in text for type_ in ([] if types is True else types))


def test_the_verdicts_that_a_rule_makes_false() -> None:
    def verdicts(rule_id: str) -> dict[int, tuple[str, ...]]:
        return {reader.format: reader.verdicts for reader in explain(rule_id).readers}

    assert verdicts("turn/number") == {
        3: ("valid", "resumable"),
        4: ("readable", "valid", "resumable"),
    }
    assert verdicts("title/earlier") == {3: (), 4: ("readable", "valid", "resumable")}
    assert verdicts("inbox/range") == {3: ("resumable",), 4: ("resumable",)}
    assert verdicts("wire/call-unanswered") == {3: ("wireValid",), 4: ("wireValid",)}
    assert verdicts("schema/payload") == {3: (), 4: ()}


def test_no_case_contradicts_the_verdicts_of_its_rule() -> None:
    """Cases state the verdicts that official releases gave, or leave them to a default (`conformance/README.md`)."""
    asked = 0
    for case in cases():
        refused = case.expect.get("refused")
        if case.op != "check" or not isinstance(refused, dict) or refused["rule"] not in rules():
            continue
        for reader in explain(refused["rule"]).readers:
            if reader.format not in case.formats:
                continue
            for verdict, default in (("readable", None), ("valid", False), ("resumable", False)):
                if verdict in reader.verdicts:
                    asked += 1
                    assert not case.expect.get(verdict, default), (case.id, verdict)
    assert asked > 2000


def test_rows_that_are_refused_although_others_are_dropped() -> None:
    late, current = explain("surface/op-forbidden").readers
    assert late.effect == "drop-tail"
    assert late.late == (
        "deliverables/presented",
        "image/offload",
        "subagent/catalog",
        "workspace/changes",
    )
    assert all(type_ in late.text for type_ in late.late)
    assert late.to_json()["late"] == list(late.late)
    assert current.late == ()


def test_a_rule_of_one_format_has_one_reader() -> None:
    assert [reader.format for reader in explain("developer/role").readers] == [4]


def test_every_rule_is_explained() -> None:
    for rule_id, entry in rules().items():
        found = explain(rule_id)
        shown = found.to_json()
        assert shown["statement"] == entry.statement
        assert shown["formats"] == [v for v in (3, 4) if entry.holds_in(v)]
        assert found.level
        assert found.source
        assert json.loads(json.dumps(shown)) == shown


def test_examples_are_cases_of_the_suites_that_hold_and_break_the_rule() -> None:
    known = {case.id: case for case in cases()}
    without = []
    for rule_id in rules():
        found = explain(rule_id)
        if found.accepts is None or found.refuses is None:
            assert found.accepts is found.refuses, rule_id
            without.append(rule_id)
            continue
        for case in (found.accepts, found.refuses):
            original = known[case.id]
            assert case.value["input"] == original.input
            assert case.value["expect"] == original.expect
            assert rule_id in original.rules
            assert len(json.dumps(case.value)) < 4000, case.id
        assert not known[found.accepts.id].breaks(rule_id)
        expect = found.accepts.value["expect"]
        assert all("refused" not in answer for answer in expect.get("steps", [expect]))
        if not rule_id.startswith("storage/committed-"):
            assert rule_id in {place[0] for place in found.refuses.places}
    # Schemas have files of examples instead.
    assert sorted(without) == sorted({*UNTESTABLE, "schema/payload"})


def test_the_refused_example_of_a_rule_that_follows_is_refused_for_it() -> None:
    for rule_id in ("storage/committed-history", "storage/committed-frame"):
        case = explain(rule_id).refuses
        assert case is not None
        value = case.value
        assert answer(value["op"], value["input"], value["formats"][0])["readable"] is False


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("range", "surface/range-order"),
        ("surface/range-ordre", "surface/range-order"),
        ("", "dsh-protocol explain"),
        ("zzzzzz", "dsh-protocol explain"),
    ],
)
def test_an_unknown_rule_is_refused_with_similar_ones(wrong: str, near: str) -> None:
    with pytest.raises(UsageError) as refused:
        explain(wrong)
    assert refused.value.code == "rules/unknown-id"
    assert near in refused.value.fix


def test_every_rule_of_what_a_loop_writes() -> None:
    cited = {case.id: case for case in cases()}
    untestable = json.loads(TRACE.read_text(encoding="utf-8"))["untestable"]
    stated = {entry["id"]: entry for entry in spec("loop/rules")["rules"]}
    assert list(loop_rules()) == list(stated)
    for rule_id, entry in stated.items():
        found = explain_loop(rule_id)
        assert found.statement == entry["statement"]
        last = entry["until"] or 4
        assert list(found.formats) == [v for v in (3, 4) if entry["since"] <= v <= last]
        assert json.loads(json.dumps(found.to_json())) == found.to_json()
        if found.shown is None:
            assert rule_id.replace("/", ":") in untestable
            continue
        assert rule_id.replace("/", ":") in cited[found.shown.id].cites
        assert found.shown.value["input"] == cited[found.shown.id].input


def test_what_sources_are_called() -> None:
    # Seed 000 is the note about node 0, seed 004 the chapter about assembly.
    assert "node 0" in explain_loop("loop/prompt-single").source


# ---- Types -------------------------------------------------------------------------------------


def test_every_type_of_both_formats() -> None:
    counts = spec("session/vocabulary")["counts"]
    for version in (3, 4):
        types = [entry for entry in event_types().values() if version in entry.formats]
        assert len(types) == counts[str(version)]


def test_members_are_those_that_the_enforcement_lists() -> None:
    for entry in spec("session/enforcement")["types"]:
        found = event_type(entry["type"])
        by_path = {member.path: member for member in found.members}
        assert len(by_path) == len(found.members)
        for path in entry.get("schema_only", []):
            assert not by_path.pop(path).is_enforced
        for stated in entry.get("enforced", []):
            member = by_path.pop(stated["path"])
            assert member.must == stated["must"]
            if 4 in member.by:
                assert list(member.by[4]) == stated["by"]
            if 3 in member.by:
                assert list(member.by[3]) == stated.get("by3", stated["by"])
            assert set(member.by) <= set(stated.get("formats", found.formats))
        assert not by_path
        assert all(level in LEVELS for m in found.members for by in m.by.values() for level in by)


def test_a_member_that_one_format_lacks() -> None:
    members = {member.path: member for member in event_type("tool/result").members}
    assert set(members["/message/toolCallId"].by) == {4}
    assert set(members["/message/content"].by) == {3, 4}


def test_changes_are_those_of_the_history() -> None:
    changes = spec("session/member_history")["members"]
    found = [(entry.type, change) for entry in event_types().values() for change in entry.changes]
    known = [c for c in changes if c["type"] in event_types()]
    assert len(found) == len(known) == len(changes)
    for type_, change in found:
        assert any(
            (c["type"], c["path"], c.get("value"), c["note"])
            == (type_, change.path, change.value, change.note)
            for c in known
        )


def test_releases_that_begin_or_stop_to_write_a_type() -> None:
    assert event_type("job/settled").since == "0.2.1"
    assert event_type("schedule/change").until == "0.2.1"
    assert event_type("image/offload").note


def test_counts_are_per_level() -> None:
    result = event_type("tool/result")
    assert (result.count("append"), result.count("conversion"), result.count("schema")) == (8, 4, 0)
    assert event_type("request/context").count("schema") == 4


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("turn", "turn/start"), ("usr/message", "user/message"), ("zzzz", "dsh-protocol types")],
)
def test_an_unknown_type_is_refused_with_similar_ones(wrong: str, near: str) -> None:
    with pytest.raises(UsageError) as refused:
        event_type(wrong)
    assert refused.value.code == "types/unknown-type"
    assert near in refused.value.fix
