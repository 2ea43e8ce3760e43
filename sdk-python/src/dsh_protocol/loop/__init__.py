"""The agent loop: turns queued input into model requests, and writes the same log as the released loops.

Format 4 is written by the algorithm of release 0.2.1, format 3 by the one before it; the format of the session decides.
Everything asynchronous runs on asyncio and trio.
"""

from ._failures import ModelFailureError, chain_text, turn_failure
from ._journal import EventWriter, Journal, StoreJournal
from ._steps import AgentOptions, AgentParts
from .agent import USER, Agent, Cause, Outcome
from .blocking import BlockingAgent, blocking
from .frames import (
    Committed,
    Frame,
    FrameStream,
    StatusChanged,
    StreamChunk,
    StreamEnd,
    StreamStart,
)
from .hooks import (
    Chain,
    Decision,
    Enter,
    Hooks,
    PreStep,
    Reject,
    RequestError,
    StepHook,
    StreamCall,
    TurnStopping,
)
from .inbox import Inbox, InboxError, Target
from .retries import Retries
from .titles import FallbackTitle

__all__ = [
    "USER",
    "Agent",
    "AgentOptions",
    "AgentParts",
    "BlockingAgent",
    "Cause",
    "Chain",
    "Committed",
    "Decision",
    "Enter",
    "EventWriter",
    "FallbackTitle",
    "Frame",
    "FrameStream",
    "Hooks",
    "Inbox",
    "InboxError",
    "Journal",
    "ModelFailureError",
    "Outcome",
    "PreStep",
    "Reject",
    "RequestError",
    "Retries",
    "StatusChanged",
    "StepHook",
    "StoreJournal",
    "StreamCall",
    "StreamChunk",
    "StreamEnd",
    "StreamStart",
    "Target",
    "TurnStopping",
    "blocking",
    "chain_text",
    "turn_failure",
]
