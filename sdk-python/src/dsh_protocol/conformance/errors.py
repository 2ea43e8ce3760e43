"""What ends a run of the harness: a corpus or an implementation that cannot be used at all."""

from __future__ import annotations

from dsh_protocol.findings import UsageError


class CorpusError(UsageError):
    """The corpus is not there, or a part of it is not what it has to be."""


class ImplementationError(UsageError):
    """An implementation cannot be started, or its own files are not what they have to be."""
