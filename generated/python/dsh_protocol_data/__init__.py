"""Data of the protocol: bundled schemas, rules, event types, routes and texts.

Written by `scripts/generate`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def load(name: str) -> Any:
    """The content of `<name>.json`: `rules`, `rule_examples`, `vocabulary`, `member_history`,
    `enforcement`, `models`, `routes`, `texts` (of the wires), `session_texts`, `prompt_texts`,
    `prompt_orders`, `loop_rules`, `loop_examples` or `schemas/<bundle>`.

    Read once; every caller gets the same object and leaves it as it is.

    Raises:
        FileNotFoundError: no data has this name.
    """
    # Not importlib.resources, whose import costs as much as checking a small log.
    return json.loads((Path(__file__).parent / f"{name}.json").read_bytes())
