"""The numbered rules of what a loop writes: each is named in the code, and shown by a test or by cases of whole loops."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import dsh_protocol
import dsh_protocol_data

RULES = {rule["id"]: rule for rule in dsh_protocol_data.load("loop_rules")["rules"]}
PROMPT, CONTEXT, HEADER = "test_system_prompt", "test_runtime_context", "test_header"
OFFICIAL = "test_official.test_every_attempt_writes_what_the_release_wrote"

SHOWN = {
    "loop/prompt-first": f"{PROMPT}.test_the_first_prompt_is_appended_also_when_it_is_empty",
    "loop/prompt-text": f"{PROMPT}.test_content_that_is_not_one_text_equals_no_rendering_and_is_cleared",
    "loop/prompt-latest": f"{PROMPT}.test_dormant_nodes_supply_no_text_and_are_left_alone",
    "loop/prompt-consolidated": (
        f"{PROMPT}.test_without_the_capability_or_in_a_new_series_the_prompt_moves_to_the_head"
    ),
    "loop/prompt-appended": (
        f"{PROMPT}.test_a_capable_route_that_continues_gets_the_new_text_behind_the_old"
    ),
    "loop/prompt-replacement": f"{PROMPT}.test_an_empty_rendering_clears_all",
    "loop/prompt-capability": f"{PROMPT}.test_a_route_that_reads_the_newest",
    "loop/prompt-single": f"{PROMPT}.test_the_earlier_rule_replaces_exactly_the_last_prompt",
    "loop/context-owned": f"{CONTEXT}.test_any_message_with_its_source_counts",
    "loop/context-due": f"{CONTEXT}.test_nothing_after_something_is_told_once",
    "loop/context-removed": f"{CONTEXT}.test_what_a_compaction_took_away_is_told_again",
    "loop/context-restored": f"{CONTEXT}.test_an_older_message_counts_only_for_who_restores",
    "loop/context-renewed": OFFICIAL,
    "loop/context-once": OFFICIAL,
    "loop/series-starts": f"{HEADER}.test_an_equal_header_is_logged_for_a_new_series_only",
    "loop/series-generation": f"{HEADER}.test_an_offload_of_images_moves_the_generation_of_format_4",
    "loop/series-memory": f"{HEADER}.test_the_memory_moves_on_in_any_case",
    "loop/series-tools": f"{HEADER}.test_changed_tools_start_a_series_for_the_prompt_only",
    "loop/header-reason": f"{HEADER}.test_the_first_header_of_a_loop",
    "loop/header-starts-series": (
        f"{HEADER}.test_the_first_header_says_that_it_starts_a_series_since_format_4"
    ),
    "loop/header-starts-change": f"{HEADER}.test_a_changed_header",
    "loop/header-canonical": f"{HEADER}.test_what_makes_a_header_another_one",
    "loop/tools-told": f"{HEADER}.test_additions_in_the_new_order_and_removals_in_the_old",
    "loop/route-logged": f"{HEADER}.test_a_route_is_logged_when_it_differs",
    "loop/config-first": "test_official.test_the_configuration_that_a_request_starts_from",
    "loop/config-later": f"{HEADER}.test_later_configurations_leave_out_what_adapters_filled_in",
    "loop/config-defaults": f"{HEADER}.test_defaults_come_last_and_are_flagged",
    "loop/attempt-order": OFFICIAL,
}
CASES = Path(__file__).parents[3] / "conformance" / "suites"
NOT_SHOWN = {"loop/prompt-before-step"}
"""What only a loop can show; the one here is of no release."""


def _tests() -> set[str]:
    found = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found.add(f"{path.stem}.{node.name}")
    return found


def _shown_by_cases() -> set[str]:
    """The rules that cases of the op `loop.replay` are about."""
    suites = [json.loads(path.read_bytes()) for path in CASES.glob("loop-*.json")]
    cited = {name for suite in suites for case in suite["cases"] for name in case["cites"]}
    return {name.replace("loop:", "loop/") for name in cited}


def test_every_rule_is_shown_by_a_test_or_a_case() -> None:
    assert RULES.keys() == SHOWN.keys() | NOT_SHOWN | _shown_by_cases()
    assert not (SHOWN.keys() | _shown_by_cases()) & NOT_SHOWN
    assert set(SHOWN.values()) <= _tests()


@pytest.mark.parametrize("rule_id", RULES)
def test_every_rule_is_named_in_the_code(rule_id: str) -> None:
    package = Path(dsh_protocol.__path__[0])
    texts = (path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    assert any(f"`{rule_id}`" in text for text in texts)


def test_the_rules_are_consistent() -> None:
    assert len(RULES) == len(dsh_protocol_data.load("loop_rules")["rules"])
    for rule in RULES.values():
        assert rule["until"] is None or rule["since"] <= rule["until"]
        if "supersedes" in rule:
            assert RULES[rule["supersedes"]]["until"] is not None
    assert {r["id"] for r in RULES.values() if r["source"] != "released"} == {
        "loop/prompt-single",
        "loop/prompt-before-step",
    }
