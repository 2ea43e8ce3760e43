"""What the tests of tools share: the official library, where it is installed."""

from __future__ import annotations

from collections.abc import Iterator

import official_tools
import pytest


@pytest.fixture(scope="session")
def official() -> Iterator[official_tools.Official]:
    """The official library; a printed skip where it is not installed."""
    if not official_tools.runtime().exists():
        pytest.skip(official_tools.MISSING)
    with official_tools.Official() as running:
        yield running
