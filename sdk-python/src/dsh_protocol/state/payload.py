"""What the rules ask of an event's data, by event type. Nothing here depends on the events before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dsh_protocol.dialect import Dialect
from dsh_protocol.findings import RefusedError
from dsh_protocol.streams import SETTLEMENTS, is_ordinary, settlement_findings

from . import headers, messages
from ._report import Report

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_BOTH = frozenset(
    {
        "assistant/attempt",
        "assistant/message",
        "request/header",
        "system/message",
        "tool/result",
        "user/message",
    }
)
_INTERPRETED: Mapping[int, frozenset[str]] = {
    3: _BOTH,
    4: _BOTH
    | {
        "command/done",
        "command/run",
        "compaction/end",
        "compaction/prune",
        "compaction/start",
        "compaction/summary",
        "developer/message",
        "llm/retry",
        "llm/retry-started",
        "request/context",
        "session-log-deepseek/delivery-accepted",
        "session/title",
        "session/title-llm-request",
        "step/end",
        "step/start",
        "subagent/catalog",
        "tool/call",
        "tool/ptc-dispatch",
        "tool/ptc-dispatch-start",
        "turn/end",
        "turn/start",
    },
}
"""Per format, the types whose data the reader itself looks into. Of the others it takes any JSON value as data."""


def is_sound(dialect: Dialect, event: Event) -> bool:
    """Whether the data of an event of a known type has nothing that a rule is about."""
    kind = event.type
    if kind not in messages.CHECKED and kind not in dialect.surface_types:
        return isinstance(event.data, dict) or kind not in _INTERPRETED[dialect.version]
    report = Report(dialect.version, event.seq, event.line)
    check(report, dialect, event)
    return not report.findings


def check(report: Report, dialect: Dialect, event: Event) -> None:
    """Look at the data of an event of a known type."""
    data = event.data
    if not isinstance(data, dict):
        if event.type in _INTERPRETED[dialect.version]:
            report.add("envelope/data-object", "data", type=event.type)
    elif event.type == headers.HEADER:
        headers.check(report, data)
    else:
        messages.check(report, dialect, event.type, data)
        if event.type in SETTLEMENTS and not is_ordinary(data):
            messages.check_stream(report, event.type, data)
            if not report.findings:
                report.findings += settlement_findings(event)


def require(dialect: Dialect, event: Event) -> None:
    """Make sure that an event's data can be interpreted: for readers that did not check it before.

    Raises:
        RefusedError: the data breaks a rule.
    """
    report = Report(dialect.version, event.seq, event.line)
    check(report, dialect, event)
    if report.refused:
        raise RefusedError(f"the data of {event.type} cannot be used", report.findings)
