"""The log state: what the events of a log amount to, and what its next event may be."""

from .fold import derive_messages, fold_surface
from .headers import canonical_header, fold_header, header_equals
from .log import LogState, Plan
from .payload import LEFT_OPEN
from .seeds import inherited_event_count
from .surface import MessageView, Replacement, Surface
from .tools import ToolHistory, tool_history

__all__ = [
    "LEFT_OPEN",
    "LogState",
    "MessageView",
    "Plan",
    "Replacement",
    "Surface",
    "ToolHistory",
    "canonical_header",
    "derive_messages",
    "fold_header",
    "fold_surface",
    "header_equals",
    "inherited_event_count",
    "tool_history",
]
