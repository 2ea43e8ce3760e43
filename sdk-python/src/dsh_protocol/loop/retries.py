"""Failed requests are sent again by the policy of their provider (rules `loop/retry-codes`, `loop/retry-limit` and others)."""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from dsh_protocol.abort import cancel_on
from dsh_protocol.llm import Retry as NextRetry
from dsh_protocol.llm import RetryPolicy, next_retry, retry_data, retry_started_data

from .hooks import FailedRequest, Proceed, Retry

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

    from .agent import Agent

_LOG = logging.getLogger("dsh_protocol.loop")
_RESETS = frozenset({"step/start", "turn/end"})


@dataclass(slots=True)
class _Chain:
    """Retries in a row."""

    id: str
    retries: int = 0


class Retries:
    """The retries of one agent: `agent.hooks.request_error.use(Retries(agent))`.

    Counts per provider and policy, anew in each step (rule `loop/retry-count`). Logs `llm/retry` before a wait and
    `llm/retry-started` behind it (rule `loop/retry-logged`).
    """

    def __init__(
        self,
        agent: Agent,
        *,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        spread: Callable[[], float] = random.random,
    ) -> None:
        """`sleep` waits for seconds; `spread` gives numbers from 0 up to 1 that spread the waits of many clients."""
        self._session = agent.session
        self._sleep = sleep
        self._spread = spread
        self._chains: dict[tuple[str, str], _Chain] = {}
        self._session.subscribe(self._observe)

    async def __call__(self, about: FailedRequest, proceed: Proceed[Retry | None]) -> Retry | None:
        """Wait and have the request sent again, or leave the failure to the other hooks."""
        policy = about.retry_policy
        if policy is None:
            return await proceed()
        # A policy without limits comes behind everybody who knows what to do about the failure (`loop/retry-always`).
        if policy.mode == "always" and await _decided_by_others(proceed) == "retry":
            return "retry"
        key = (about.provider, policy.key)
        chain = self._chains.get(key) or _Chain(self._session.options.new_id())
        retry = next_retry(policy, about.failure, chain.retries, self._spread())
        if about.signal.aborted or retry is None:
            return None if policy.mode == "always" else await proceed()
        self._chains[key] = chain
        chain.retries = retry.retry
        return "retry" if await self._wait(about, policy, retry, chain.id) else None

    async def _wait(
        self, about: FailedRequest, policy: RetryPolicy, retry: NextRetry, retry_id: str
    ) -> bool:
        """Wait, between the two events of a retry; false when the turn was asked to stop meanwhile.

        Rule `loop/retry-canceled`.
        """
        turn, step = about.turn, about.step
        data = retry_data(
            policy,
            retry,
            about.failure,
            retry_id=retry_id,
            turn=turn,
            step=step,
            provider=about.provider,
        )
        self._session.append("llm/retry", data)
        with cancel_on(about.signal):
            await self._sleep(retry.delay_ms / 1000)
        if about.signal.aborted:
            return False
        started = retry_started_data(retry, retry_id=retry_id, turn=turn, step=step)
        self._session.append("llm/retry-started", started)
        return True

    def _observe(self, event: Event) -> None:
        if event.type in _RESETS:
            self._chains.clear()


async def _decided_by_others(proceed: Proceed[Retry | None]) -> Retry | None:
    """What the other hooks say; one that fails says nothing."""
    try:
        return await proceed()
    except Exception as error:
        _LOG.warning("a hook for failed requests has failed: %s", error)
        return None
