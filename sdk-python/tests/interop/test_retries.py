"""Retries: what the official runtime logs of them is what our policy decides and writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from loopback import Reply, serve
from official_runtime import OfficialRuntime
from responses import WHOLE

from dsh_protocol.llm import RetryPolicy, next_retry, retry_data, retry_started_data

pytestmark = pytest.mark.official
Json = dict[str, Any]

SLOW = [("retry-after", "1"), ("content-type", "application/json")]
OVER = b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
REPLIES = [
    Reply([OVER], status=529),
    Reply([OVER], status=429, headers=SLOW),
    Reply([]),
    Reply([WHOLE]),
]
POLICIES: dict[str, tuple[Json, RetryPolicy]] = {
    "default": ({}, RetryPolicy()),
    "always": (
        {"retryPolicy": {"mode": "always", "backoff": {"initialDelayMs": 100, "maxDelayMs": 900}}},
        RetryPolicy("always", initial_delay_ms=100, max_delay_ms=900),
    ),
    "codes": (
        {
            "retryPolicy": {
                "mode": "normal",
                "maxRetries": 9,
                "retryableCodes": ["SERVER", "RATE_LIMIT"],
            }
        },
        RetryPolicy(max_retries=9, retryable_codes=("SERVER", "RATE_LIMIT")),
    ),
}


def official_events(folder: Path, config: Json) -> list[Json]:
    patch = folder / "patch.json"
    plugins = [
        {"id": "llm-deepseek", "config": config},
        {"insert": [{"id": "test-retry", "name": "@deepseek-ai/dsh-llm-retry"}]},
    ]
    patch.write_text(json.dumps(plugins))
    with (
        serve(*REPLIES) as server,
        OfficialRuntime(folder, server.url, patches=(patch,)) as runtime,
    ):
        runtime.initialize("deepseek-v4-pro")
        runtime.prompt("s-1", "Hi")
        return runtime.events("s-1")


@pytest.mark.parametrize("name", POLICIES)
def test_the_official_runtime_tries_again_as_our_policy_says(tmp_path: Path, name: str) -> None:
    config, policy = POLICIES[name]
    retries = 0
    decided: list[Json] = []
    written: list[Json] = []
    for event in official_events(tmp_path, config):
        data = event["data"]
        if event["type"] == "assistant/attempt":
            failure = data["stream"][-1]["chunk"]["reason"]["failure"]
            low = next_retry(policy, failure, retries, 0)
            high = next_retry(policy, failure, retries, 1)
            decided.append({"failure": failure, "low": low, "high": high})
        elif event["type"] == "llm/retry":
            low, high = decided[-1]["low"], decided[-1]["high"]
            assert low.delay_ms <= data["delayMs"] <= high.delay_ms
            retries = low.retry
            known = {"retry_id": data["retryId"], "turn": data["turn"], "step": data["step"]}
            made = retry_data(
                policy, low, decided[-1]["failure"], provider=data["provider"], **known
            )
            assert json.dumps({**made, "delayMs": data["delayMs"]}) == json.dumps(data)
            written.append(retry_started_data(low, **known))
        elif event["type"] == "llm/retry-started":
            assert json.dumps(written[-1]) == json.dumps(data)
    # One retry for each failure that our policy tries again; the chain ends where it says so.
    again = [entry["low"] is not None for entry in decided]
    assert len(written) == sum(again)
    assert (
        again
        == {
            "default": [True, True, False],
            "always": [True, True, True],
            "codes": [True, True, False],
        }[name]
    )
