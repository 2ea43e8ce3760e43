from __future__ import annotations

from typing import Any

import pytest

Json = dict[str, Any]


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Everything runs on both event loops."""
    return str(request.param)


@pytest.fixture
def request_options() -> Json:
    """A small request."""
    message = {"role": "user", "content": [{"type": "text", "text": "Hi"}]}
    return {
        "provider": "deepseek-official",
        "model": "deepseek-flash",
        "messages": [message],
        "maxTokens": 16,
    }
