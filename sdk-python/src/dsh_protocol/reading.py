"""Open one session for reading and fold it as the released reader would."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .findings import Finding, RefusedError, UsageError
from .rows import Log, find_logs, open_log
from .rules import rule
from .state import LogState


@dataclass(frozen=True, slots=True)
class Replay:
    """The state after a prefix of a log. `warnings` says what the log has that did not stop the reading."""

    state: LogState
    warnings: tuple[Finding, ...]


def open_session(path: Path) -> Log:
    """Open a log, or the one session that a directory holds (its highest generation).

    Raises:
        UsageError: `reading/several-sessions`, when the directory holds more than one session.
        StorageError: the file cannot be used as a log.
    """
    if not path.is_dir():
        return open_log(path)
    search = find_logs(path)
    if len(search.chosen) > 1:
        raise UsageError(
            "reading/several-sessions",
            f"the directory holds {len(search.chosen)} sessions",
            fix="Name one of them.",
        )
    return open_log(search.chosen[0])
