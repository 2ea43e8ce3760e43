"""Data of the protocol: bundled schemas, rules, event types, routes and texts.

Written by `scripts/generate`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
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
    return json.loads(files(__name__).joinpath(f"{name}.json").read_bytes())
