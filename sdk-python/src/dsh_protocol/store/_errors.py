"""What can go wrong in a store. Codes are API; each has one entry here and in `docs/store.md`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dsh_protocol.findings import StorageError
from dsh_protocol.rules import refuse


@dataclass(frozen=True, slots=True)
class Code:
    """What a code says. `official` is the error class of the released backend for the same refusal, if it has one."""

    message: str
    fix: str
    official: str | None = None


CODES: dict[str, Code] = {
    "store/not-found": Code(
        "no session {id} in this store",
        "List the store to see which sessions it has.",
        "SessionPersistenceNotFoundError",
    ),
    "store/already-exists": Code(
        "the store has a session {id} already",
        "Open it instead, or choose another id.",
        "SessionAlreadyExistsError",
    ),
    "store/already-owned": Code(
        "another writer holds the session {id}",
        "Close the other writer first; readers need no lock.",
        "SessionAlreadyOwnedError",
    ),
    "store/ownership-lost": Code(
        "the log of session {id} was changed by someone else: {detail}",
        "Close this handle and open the session again.",
        "SessionOwnershipLostError",
    ),
    "store/read-only": Code(
        "this handle of session {id} only reads",
        "Open the session with open_writer.",
        "SessionReadOnlyError",
    ),
    "store/handle-closed": Code(
        "this handle of session {id} is closed",
        "Open the session again.",
        "SessionHandleClosedError",
    ),
    "store/not-contiguous": Code(
        "the next event of session {id} has the number {expected}, not {found}",
        "Append events in order; numbers are dense from 0.",
    ),
    "store/encoding-mismatch": Code(
        "the store has a log of another compression than {compression}: {path}",
        "Open the store with the compression of its logs; a root has one.",
    ),
    "store/legacy-layout": Code(
        "a log lies directly in a project directory: {path}",
        "Move it into a directory of its session, or out of the store.",
    ),
    "store/duplicate-id": Code(
        "the session {id} is in several project directories",
        "Move all but one of them out of the store.",
    ),
    "store/write-failed": Code(
        "session {id} could not be written: {detail}",
        "Nothing of it is in the log; make room and append again.",
    ),
    "store/rollback-failed": Code(
        "a failed write to session {id} could not be taken back: {detail}",
        "Close this handle and open the session again: the next writer repairs the end of the log.",
    ),
    "store/unsupported-platform": Code(
        "this system has no file locks of the kind that the store needs",
        "Write from a POSIX system; reading works everywhere.",
    ),
    "store/row-limit": Code(
        "a row of session {id} has {found} bytes, more than {limit}",
        "Keep large content outside the log, or raise the limit.",
    ),
    "cursor/invalid": Code(
        "this is no cursor: {detail}",
        "Start without a cursor.",
    ),
    "cursor/truncated": Code(
        "the log is shorter than what was read of it ({found} bytes, {expected} were read)",
        "Its writer took rows back; start again without a cursor.",
    ),
    "cursor/changed": Code(
        "the log is not the one that was read: the bytes before {offset} differ",
        "Start again without a cursor.",
    ),
    "cursor/replaced": Code(
        "another file, or none, stands where the log was",
        "Start again without a cursor.",
    ),
    "cursor/superseded": Code(
        "a newer generation of this session exists: {name}",
        "Go on with that file; this one does not grow any more.",
    ),
}


class StoreError(StorageError):
    """A store refuses, or a cursor no longer fits its log. `code` is one of `CODES`, `details` fill its message."""

    def __init__(self, code: str, **details: Any) -> None:
        entry = CODES[code]
        shown = {name: _show(value) for name, value in details.items()}
        super().__init__(code, entry.message.format_map(shown), fix=entry.fix)
        self.details = details


def _show(value: object) -> str:
    text = str(value)
    return text if len(text) <= 200 else text[:200] + "..."


def refusal(rule_id: str, *, line: int | None = None, **details: Any) -> StorageError:
    """The error of a rule about stored bytes that ends the work."""
    finding = refuse(rule_id, line=line, **details)
    return StorageError(rule_id, finding.message, fix=finding.fix, line=line)


def unreadable(error: OSError | ValueError) -> StorageError:
    """The error about a file that cannot be read."""
    return refusal("storage/unreadable", detail=os_detail(error))


def os_detail(error: OSError | ValueError) -> str:
    """What the system said, without the path that it said it about."""
    return (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__
