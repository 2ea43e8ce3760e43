"""What a list says about a session once its log has been read: title, last activity, verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dsh_protocol.check import check_log
from dsh_protocol.findings import StorageError
from dsh_protocol.jsonvalue import MAX_SAFE_INTEGER, is_count
from dsh_protocol.reading import ReadEffects
from dsh_protocol.rows import Event, ReadLimits, open_log

from ._listing import StoredSession

_TITLE = "session/title"
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class SessionDetails:
    """`readable` is the verdict of a full check, `code` the first rule that speaks against it (null for a format that is
    not read here). `last_activity` is the time of the last event, in milliseconds since 1970, `title` what the last
    session/title says, cut to 200 characters.
    """

    events: int | None = None
    last_activity: int | None = None
    title: str | None = None
    readable: bool | None = None
    code: str | None = None

    def to_json(self) -> dict[str, Any]:
        """These details as members of a JSON object."""
        return {
            "events": self.events,
            "lastActivity": self.last_activity,
            "title": self.title,
            "readable": self.readable,
            "unreadableBecause": self.code,
        }


def details_of(session: StoredSession, *, limits: ReadLimits | None = None) -> SessionDetails:
    """Read the log of a listed session. Whatever is wrong with it is in the result."""
    try:
        log = open_log(session.path, limits=limits or ReadLimits())
    except StorageError as error:
        if session.verdict in ("older", "newer"):
            return SessionDetails()
        return SessionDetails(readable=False, code=error.code)
    title = next((e for e in reversed(log.events) if e.type == _TITLE), None)
    times = (event.time for event in reversed(log.events))
    report = check_log(log)
    refusals = ReadEffects(log, report.findings).refusals()
    return SessionDetails(
        events=len(log.events),
        last_activity=next((time for time in times if _is_time(time)), None),
        title=None if title is None else _text_of(title),
        readable=report.verdicts["readable"],
        code=refusals[0].rule if refusals else None,
    )


def _is_time(time: object) -> bool:
    return is_count(time, least=-MAX_SAFE_INTEGER)


def _text_of(event: Event) -> str | None:
    data = event.data
    title = data.get("title") if isinstance(data, dict) else None
    return title[:_SHOWN] if isinstance(title, str) else None
