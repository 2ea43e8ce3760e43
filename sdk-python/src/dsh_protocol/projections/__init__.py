"""What a loop puts into the log before each request: the system prompt, the runtime context, the header.

The results of prompt assembly are compared with the state of the log, and only differences become events. All of it follows
the released loops, of format 4 and format 3 alike; `SingleCommitProjection` is the earlier design.
"""

from ._commit import Commit, SurfaceOp
from .attempt import Attempt, RequestProjections
from .config import CallOptions, seed_config, with_defaults
from .header import (
    HeaderDecision,
    LogFacts,
    PreparedCall,
    SeriesMemory,
    decide_header,
    series_generation,
    tools_changed,
)
from .runtime_context import CLEARED, Retained, RuntimeContextProjection, Told
from .system_prompt import PromptProjection, SingleCommitProjection, SystemPromptProjection

__all__ = [
    "CLEARED",
    "Attempt",
    "CallOptions",
    "Commit",
    "HeaderDecision",
    "LogFacts",
    "PreparedCall",
    "PromptProjection",
    "RequestProjections",
    "Retained",
    "RuntimeContextProjection",
    "SeriesMemory",
    "SingleCommitProjection",
    "SurfaceOp",
    "SystemPromptProjection",
    "Told",
    "decide_header",
    "seed_config",
    "series_generation",
    "tools_changed",
    "with_defaults",
]
