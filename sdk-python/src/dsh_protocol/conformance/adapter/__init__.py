"""The adapter of this package: every op of the conformance suites in Python.

`python -m dsh_protocol.conformance.adapter` speaks the protocol of `conformance/README.md`; `answer` is the same in
process.
"""

from __future__ import annotations

from ._ops import FORMATS, OPS, REPORTS, answer
from ._serve import serve

__all__ = ["FORMATS", "OPS", "REPORTS", "answer", "serve"]
