"""When a failed model call is tried again, and after which wait.

The policy belongs to the provider of a call. `next_retry` decides, without any clock or state: the
loop counts, waits and logs `llm/retry` before and `llm/retry-started` after the wait.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dsh_protocol import jsonvalue
from dsh_protocol.findings import UsageError

Json = dict[str, Any]
DEFAULT_CODES = ("EMPTY_RESPONSE", "RATE_LIMIT", "SERVER", "TIMEOUT", "TRANSPORT")
"""The failure codes that released runtimes try again unless told otherwise."""
MAX_DELAY_MS = 2**31 - 1
"""The longest wait that a timer of the official runtime can hold."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, for which failures, and how long to wait. Waits are in ms.

    `normal` tries again for `retryable_codes`, at most `max_retries` times in a row; `always` for
    every failure, without a limit.

    Raises:
        UsageError: `llm/retry-policy`: a value is out of its range.
    """

    mode: Literal["normal", "always"] = "normal"
    max_retries: int = 5
    retryable_codes: tuple[str, ...] = DEFAULT_CODES
    initial_delay_ms: float = 500
    max_delay_ms: float = 10_000
    jitter_ratio: float = 0.1

    def __post_init__(self) -> None:
        delays = (self.initial_delay_ms, self.max_delay_ms)
        if not all(0 < delay <= MAX_DELAY_MS for delay in delays) or delays[0] > delays[1]:
            raise _bad("delays are positive, and the initial one is not above the longest one")
        if not 0 <= self.jitter_ratio <= 1:
            raise _bad("jitter_ratio is from 0 to 1")
        if not jsonvalue.is_count(self.max_retries):
            raise _bad("max_retries is a count")

    @property
    def key(self) -> str:
        """The `policyKey` of `llm/retry`: policies with the same key share a counter."""
        waits = [self.initial_delay_ms, self.max_delay_ms, self.jitter_ratio]
        if self.mode == "always":
            return jsonvalue.dumps([self.mode, *waits])
        codes = sorted(self.retryable_codes, key=lambda code: code.encode("utf-16-be"))
        return jsonvalue.dumps([self.mode, self.max_retries, [*codes], *waits])


@dataclass(frozen=True, slots=True)
class Retry:
    """One more try: its number from 1, and the wait before it in ms."""

    retry: int
    delay_ms: float


def next_retry(
    policy: RetryPolicy, failure: Mapping[str, Any], retries: int, random: float
) -> Retry | None:
    """Whether a failed call is tried again; null: it is not, by this policy.

    `failure` is an `LlmFailure`, `retries` how many tries this chain has had already, `random` a
    number from 0 up to 1 that spreads the wait. A wait that the provider asks for is kept as it is;
    one that is longer than the policy allows ends a `normal` chain, and `always` waits as long as
    it would without it (rule `loop/retry-delay`).
    """
    if policy.mode == "normal" and (
        failure["code"] not in policy.retryable_codes or retries >= policy.max_retries
    ):
        return None
    number = retries + 1
    asked = failure.get("providerRetryAfterMs")
    if asked is None or asked <= 0:
        return Retry(number, _local_delay(policy, number, random))
    if asked <= policy.max_delay_ms:
        return Retry(number, asked)
    if policy.mode == "normal":
        return None
    return Retry(number, _local_delay(policy, number, random))


def retry_data(
    policy: RetryPolicy,
    retry: Retry,
    failure: Mapping[str, Any],
    *,
    retry_id: str,
    turn: int,
    step: int,
    provider: str,
) -> Json:
    """The data of `llm/retry`, logged before the wait. `retry_id` is the same in one chain."""
    data: Json = {
        "retryId": retry_id,
        "turn": turn,
        "step": step,
        "provider": provider,
        "mode": policy.mode,
        "policyKey": policy.key,
        "retry": retry.retry,
    }
    if policy.mode == "normal":
        data["maxRetries"] = policy.max_retries
    return {**data, "delayMs": retry.delay_ms, "failure": dict(failure)}


def retry_started_data(retry: Retry, *, retry_id: str, turn: int, step: int) -> Json:
    """The data of `llm/retry-started`, logged after the wait."""
    return {"retryId": retry_id, "turn": turn, "step": step, "retry": retry.retry}


def _local_delay(policy: RetryPolicy, number: int, random: float) -> float:
    # Beyond 2^1000 every delay is above every maximum; a float could not hold it.
    grown = policy.initial_delay_ms * 2.0 ** min(number - 1, 1000)
    base = min(grown, policy.max_delay_ms)
    spread = 1 - policy.jitter_ratio + 2 * policy.jitter_ratio * random
    delay = min(base * spread, policy.max_delay_ms)
    return int(delay) if delay == math.floor(delay) else delay


def _bad(detail: str) -> UsageError:
    return UsageError(
        "llm/retry-policy", f"the retry policy is not usable: {detail}", fix="Correct it."
    )
