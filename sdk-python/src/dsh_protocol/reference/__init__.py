"""What the specification says about one rule or one event type, ready to be shown: `dsh-protocol explain` and `types`."""

from __future__ import annotations

from ._cases import Case
from ._loop import LoopExplanation, explain_loop, loop_rules
from ._rules import Explanation, ReaderEffect, explain
from ._types import EventType, Member, MemberChange, event_type, event_types
from ._words import LEVELS

__all__ = [
    "LEVELS",
    "Case",
    "EventType",
    "Explanation",
    "LoopExplanation",
    "Member",
    "MemberChange",
    "ReaderEffect",
    "event_type",
    "event_types",
    "explain",
    "explain_loop",
    "loop_rules",
]
