"""What ends a run of the harness: a corpus or an implementation that cannot be used at all."""

from __future__ import annotations

from dsh_protocol.findings import UsageError


class CorpusError(UsageError):
    """The corpus is not there, or a part of it is not what it has to be."""

    def __init__(
        self, code: str, message: str, *, fix: str = "Correct the file, or use a fresh checkout."
    ) -> None:
        super().__init__(code, message, fix=fix)


class ImplementationError(UsageError):
    """An implementation cannot be named, or its own files are not what they have to be."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        fix: str = "Correct the file; conformance/known-failures.schema.json describes it.",
    ) -> None:
        super().__init__(code, message, fix=fix)
