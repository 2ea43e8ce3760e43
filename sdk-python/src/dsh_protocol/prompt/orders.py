"""The places of released contributions: `spec/prompt/orders.yaml`. A plugin may use any number; these help to find one."""

from __future__ import annotations

from functools import cache
from typing import Literal

import dsh_protocol_data
from dsh_protocol.findings import UsageError


def section_order(key: str) -> float:
    """The order of a released section by the key of its place, such as `TOOL_BASH`.

    Raises:
        UsageError: `prompt/unknown-order`, there is no such place.
    """
    return _order("sections", key)


def context_order(key: str) -> float:
    """The order of a released context by the key of its place, such as `WORKING_DIRECTORY`.

    Raises:
        UsageError: `prompt/unknown-order`, there is no such place.
    """
    return _order("contexts", key)


def _order(kind: Literal["sections", "contexts"], key: str) -> float:
    orders = _orders(kind)
    if key in orders:
        return orders[key]
    raise UsageError(
        "prompt/unknown-order",
        f"released software has no place {key!r} among its {kind}",
        fix=f"Use one of {', '.join(orders)}, or a number.",
    )


@cache
def _orders(kind: Literal["sections", "contexts"]) -> dict[str, float]:
    return {entry["key"]: entry["order"] for entry in dsh_protocol_data.load("prompt_orders")[kind]}
