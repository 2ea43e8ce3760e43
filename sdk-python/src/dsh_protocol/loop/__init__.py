"""The agent loop: turns queued input into model requests, and writes the same log as the released loops.

Format 4 is written by the algorithm of release 0.2.1, format 3 by the one before it; the format of the session decides.
Everything asynchronous runs on asyncio and trio.
"""

from ._blocking import BlockingAgent, blocking
from ._failures import ModelFailureError, chain_text, turn_failure
from ._journal import EventWriter, Journal, StoreJournal
from ._steps import AgentOptions, AgentParts
from .agent import USER, Agent, Cause, Outcome
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
    FailedRequest,
    Hooks,
    PreStep,
    Reject,
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
    "FailedRequest",
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
