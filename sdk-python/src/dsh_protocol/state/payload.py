"""What the rules ask of an event's data, by event type. Nothing here depends on the events before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from dsh_protocol.dialect import Dialect
from dsh_protocol.findings import Finding, RefusedError
from dsh_protocol.rows import release_payloads
from dsh_protocol.rules import rule
from dsh_protocol.streams import SETTLEMENTS, settlement_findings

from . import forked, headers, messages
from ._report import Report

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_TOOL_RESULT = "tool/result"
_BOTH = frozenset({"assistant/message", "request/header", "system/message", "user/message"})
_INTERPRETED: Mapping[int, frozenset[str]] = {
    3: _BOTH,
    4: _BOTH
    | {
        "assistant/attempt",
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
        _TOOL_RESULT,
        "turn/end",
        "turn/start",
    },
}
"""Per format, the types whose data the reader itself looks into. Of the others it takes any JSON value as data."""
_YOUNG = frozenset(
    {
        "deliverables/presented",
        "feedback/message-delete",
        "feedback/message-put",
        "image/offload",
        "session/end-seed",
        "subagent/catalog",
        "workspace/changes",
    }
)
"""The types that format 2 did not have, and one with a rule of its own: the catalog takes any data of them."""
_ROWS = frozenset({headers.HEADER, _TOOL_RESULT})
_ROW_RULES = frozenset(
    {
        "message/result-data",
        "message/result-error",
        "request/adapter-defaults-empty",
        "request/tools-empty",
    }
)
"""The rules about data for which the reader of format 3 drops a row."""

LEFT_OPEN = frozenset(
    {
        "assistant/attempt",
        "assistant/message",
        "developer/message",
        "request/header",
        "system/message",
        "tool/result",
    }
)
"""The types whose data may break rules although it conforms to its schema."""


def is_sound(dialect: Dialect, event: Event) -> bool:
    """Whether the data of an event of a known type has nothing that a rule is about."""
    kind = event.type
    if kind not in messages.CHECKED and kind not in dialect.surface_types:
        return isinstance(event.data, dict) or _object_rule(dialect, kind) is None
    report = Report(dialect.version, event.seq, event.line)
    check(report, dialect, event)
    return not report.findings


def check(report: Report, dialect: Dialect, event: Event) -> None:
    """Look at the data of an event of a known type."""
    data = event.data
    if not isinstance(data, dict):
        rule_id = _object_rule(dialect, event.type)
        if rule_id is not None:
            report.add(rule_id, "data", type=event.type)
    elif event.type == headers.HEADER:
        headers.check(report, data)
    else:
        messages.check(report, dialect, event.type, data)
        if "error" in data and event.type == _TOOL_RESULT:
            forked.check(report, event)
        if event.type in SETTLEMENTS:
            messages.check_stream(report, event.type, data)
            if not report.findings:
                report.findings += settlement_findings(event)


def row_findings(dialect: Dialect, events: Iterable[Event]) -> Iterator[Finding]:
    """What in their data makes a reader drop these rows, which it otherwise does for envelopes alone."""
    if not dialect.drops_rows_for_data:
        return
    for event in events:
        if event.type in _ROWS and _may_be_dropped(event):
            report = Report(dialect.version, event.seq, event.line)
            check(report, dialect, event)
            yield from (f for f in report.findings if f.rule in _ROW_RULES)
            release_payloads([event])


def _may_be_dropped(event: Event) -> bool:
    """Whether the data of an event has to be decoded to see that: most results have no error."""
    payload = event.payload
    if event.type != _TOOL_RESULT or payload is None:
        return True
    stored = bytes(payload)
    # A member name may be written with escapes.
    return not stored.startswith(b"{") or b'"error"' in stored or b"\\u" in stored


def _object_rule(dialect: Dialect, event_type: str) -> str | None:
    """The rule that data of this type breaks when it is no object, null when nobody minds."""
    if event_type in _INTERPRETED[dialect.version]:
        return "envelope/data-object"
    if event_type == _TOOL_RESULT:
        return "message/result-data"
    if event_type in _YOUNG or not rule("envelope/data-object-current").holds_in(dialect.version):
        return None
    return "envelope/data-object-current"


def require(dialect: Dialect, event: Event) -> None:
    """Make sure that an event's data can be interpreted: for readers that did not check it before.

    Raises:
        RefusedError: the data breaks a rule.
    """
    report = Report(dialect.version, event.seq, event.line)
    check(report, dialect, event)
    if report.refused:
        raise RefusedError(f"the data of {event.type} cannot be used", report.findings)
