"""Every asynchronous test runs on both event loops, and no test depends on the time it takes or on chance."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# What a terminal or a build server asks of programs changes what they print.
for _name in ("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "COLUMNS", "LINES"):
    os.environ.pop(_name, None)

# A busy machine is no failure, and each run tries the same examples.
settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("steady")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The event loop of a test that is marked with `anyio`."""
    return str(request.param)
