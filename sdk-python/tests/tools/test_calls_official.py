"""Random calls inside random listeners: the same result as the official library's, as JSON text, and the same traces."""

from __future__ import annotations

import json
from typing import Any

import anyio
from hypothesis import HealthCheck, given, settings
from official_tools import Official
from scenario_strategies import SCENARIOS
from tool_scenarios import Scenario

from dsh_protocol.jsonvalue import loads


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(scenario=SCENARIOS)
def test_a_call(official: Official, scenario: Any) -> None:
    read = loads(json.dumps(scenario))
    assert anyio.run(Scenario(read).play) == official.ask("run", **scenario)["answer"]
