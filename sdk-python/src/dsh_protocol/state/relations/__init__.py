"""Relationships between the events of a log, one module per aspect, each with its rules beside it."""

from ._all import Relations
from .exchanges import check_messages, running_calls

__all__ = ["Relations", "check_messages", "running_calls"]
