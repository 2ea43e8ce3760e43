"""Write a session: append with every check beforehand, fork, repair, salvage.

`Session` is the log in memory; storing its events is the business of `dsh_protocol.store`.
"""

from ._observers import Observer
from ._session import Clock, Session, SessionOptions, system_clock
from ._turns import PendingCall
from .closers import end_interruption, repair, turn_closers
from .forks import ForkError, fork_seed
from .messages import Messages, random_id

__all__ = [
    "Clock",
    "ForkError",
    "Messages",
    "Observer",
    "PendingCall",
    "Session",
    "SessionOptions",
    "end_interruption",
    "fork_seed",
    "random_id",
    "repair",
    "system_clock",
    "turn_closers",
]
