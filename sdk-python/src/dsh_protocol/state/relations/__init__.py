"""Relationships between the events of a log, one module per aspect, each with its rules beside it."""

from ._all import Relations

__all__ = ["Relations"]
