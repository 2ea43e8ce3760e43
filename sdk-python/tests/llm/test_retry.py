"""The retry policy: the table of released behaviour (which failures, which waits, which key)."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_protocol.findings import UsageError
from dsh_protocol.llm import Retry, RetryPolicy, next_retry, retry_data, retry_started_data
from dsh_protocol.schemas import Validator

ALWAYS = RetryPolicy(mode="always")


def failure(code: str = "SERVER", **facts: Any) -> dict[str, Any]:
    return {"message": "x", "code": code, **facts}


@pytest.mark.parametrize("code", ["EMPTY_RESPONSE", "RATE_LIMIT", "SERVER", "TIMEOUT", "TRANSPORT"])
def test_codes_that_are_tried_again(code: str) -> None:
    assert next_retry(RetryPolicy(), failure(code), 0, 0.5) == Retry(1, 500)


@pytest.mark.parametrize(
    "code",
    [
        *("STREAM_CLOSED", "MALFORMED_RESPONSE", "HTTP_404", "UNKNOWN", "AUTH", "QUOTA"),
        *("INVALID_REQUEST", "CONTEXT_WINDOW_EXCEEDED", "IMAGE_OFFLOAD_REQUIRED", "ABORTED"),
        "RESPONSE_TOO_LARGE",
    ],
)
def test_codes_that_are_not(code: str) -> None:
    assert next_retry(RetryPolicy(), failure(code), 0, 0.5) is None
    assert next_retry(ALWAYS, failure(code), 0, 0.5) == Retry(1, 500)


@pytest.mark.parametrize(
    ("retries", "random", "delay"),
    [
        *((0, 0.5, 500), (1, 0.5, 1000), (2, 0.5, 2000), (3, 0.5, 4000), (4, 0.5, 8000)),
        *((0, 0.0, 450), (0, 0.25, 475), (4, 0.0, 7200), (4, 0.9999, 8799.84)),
    ],
)
def test_waits_grow_and_spread(retries: int, random: float, delay: float) -> None:
    retry = next_retry(RetryPolicy(), failure(), retries, random)
    assert retry is not None
    assert retry.retry == retries + 1
    assert retry.delay_ms == pytest.approx(delay)


def test_waits_do_not_exceed_the_longest_one() -> None:
    for retries in (5, 50, 5000):
        for random in (0.5, 0.999):
            retry = next_retry(ALWAYS, failure(), retries, random)
            assert retry is not None
            assert retry.delay_ms == 10_000
        low = next_retry(ALWAYS, failure(), retries, 0)
        assert low is not None
        assert low.delay_ms == 9000


def test_a_normal_chain_ends() -> None:
    assert next_retry(RetryPolicy(), failure(), 4, 0.5) is not None
    assert next_retry(RetryPolicy(), failure(), 5, 0.5) is None
    assert next_retry(RetryPolicy(max_retries=0), failure(), 0, 0.5) is None


def test_the_wait_that_a_provider_asks_for() -> None:
    asked = failure(providerRetryAfterMs=7000)
    assert next_retry(RetryPolicy(), asked, 3, 0.99) == Retry(4, 7000)
    assert next_retry(ALWAYS, asked, 3, 0.99) == Retry(4, 7000)
    limit = failure(providerRetryAfterMs=10_000)
    assert next_retry(RetryPolicy(), limit, 0, 0.5) == Retry(1, 10_000)
    long = failure(providerRetryAfterMs=10_001)
    assert next_retry(RetryPolicy(), long, 0, 0.5) is None
    assert next_retry(ALWAYS, long, 0, 0.5) == Retry(1, 500)


def test_keys() -> None:
    assert RetryPolicy().key == (
        '["normal",5,["EMPTY_RESPONSE","RATE_LIMIT","SERVER","TIMEOUT","TRANSPORT"],500,10000,0.1]'
    )
    assert RetryPolicy(retryable_codes=("B", "A")).key == '["normal",5,["A","B"],500,10000,0.1]'
    assert ALWAYS.key == '["always",500,10000,0.1]'


@pytest.mark.parametrize("policy", [RetryPolicy(), ALWAYS])
def test_events(policy: RetryPolicy) -> None:
    retry = Retry(2, 987.5)
    place: dict[str, Any] = {"retry_id": "r-1", "turn": 1, "step": 2}
    data = retry_data(policy, retry, failure(), provider="p", **place)
    started = retry_started_data(retry, **place)
    assert list(data) == [
        *("retryId", "turn", "step", "provider", "mode", "policyKey", "retry"),
        *(["maxRetries"] if policy.mode == "normal" else []),
        *("delayMs", "failure"),
    ]
    events = Validator("session/v4/event")
    for kind, value in (("llm/retry", data), ("llm/retry-started", started)):
        assert events.findings({"type": kind, "seq": 5, "time": 1, "data": value}) == []


@pytest.mark.parametrize(
    "settings",
    [
        *({"initial_delay_ms": 0}, {"max_delay_ms": 0}, {"initial_delay_ms": 20_000}),
        *({"jitter_ratio": 1.5}, {"jitter_ratio": -0.1}, {"max_retries": -1}),
        {"max_delay_ms": 2.0**31},
    ],
)
def test_policies_that_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        RetryPolicy(**settings)
    assert caught.value.code == "llm/retry-policy"
