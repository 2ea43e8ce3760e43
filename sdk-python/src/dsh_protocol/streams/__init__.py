"""Assistant streams: how the chunks of one model answer are stored, and what message they make.

A settlement event keeps its whole stream in a compact form (`data.stream`): runs of deltas become
one record each. `accumulate` and `expand` translate between timed chunks and records without loss;
`assemble` gives the blocks, usage, finish and replay state that a stream amounts to. Rules
`stream/*`.
"""

from ._assembly import Assembled, Assembler, assemble
from ._ordinary import Ordinary
from ._records import accumulate, expand
from ._settlement import SETTLEMENTS, settlement_findings
from ._shapes import Chunk, StreamError, TimedChunk, check_record

__all__ = [
    "SETTLEMENTS",
    "Assembled",
    "Assembler",
    "Chunk",
    "Ordinary",
    "StreamError",
    "TimedChunk",
    "accumulate",
    "assemble",
    "check_record",
    "expand",
    "settlement_findings",
]
