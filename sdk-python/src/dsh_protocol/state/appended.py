"""What the released runtime looks at when an event is appended to a live session, and nothing else.

It is less than what the readers of the log look at: a session can be appended to until no reader takes it. The findings have
the ids of the rules that the full check knows (`spec/rules`), so a rule has one text wherever it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dsh_protocol.dialect import Dialect

from . import developer
from ._losses import Losses
from ._report import Report
from ._values import member
from .headers import HEADER, Headers
from .tools import DEVELOPER

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

_TOOL_RESULT = "tool/result"
_DEVELOPER_ROLE = "developer"
_NOTHING_LOST = Losses()


def check(report: Report, dialect: Dialect, event: Event, headers: Headers) -> None:
    """Look at the data of an event of a known type as the released append does."""
    data = event.data
    if event.type in dialect.surface_types and isinstance(data, dict):
        _check_message(report, dialect, event.type, data)
    if event.type == HEADER:
        _check_header(report, data)
    elif event.type == _TOOL_RESULT:
        _check_result(report, dialect, data)
    elif event.type == DEVELOPER and data is None:
        report.add("envelope/data-object", "data", type=DEVELOPER)
    elif event.type == DEVELOPER and isinstance(data, dict) and "headerSeq" in data:
        _check_additions(report, data, headers)


def _check_message(
    report: Report, dialect: Dialect, event_type: str, data: Mapping[str, Any]
) -> None:
    message = dialect.message(event_type, data)
    if not isinstance(message, dict):
        return
    place = ("data",) if message is data else ("data", "message")
    role, content = message.get("role"), message.get("content")
    if (event_type == DEVELOPER) != (role == _DEVELOPER_ROLE):
        report.add("developer/role", *member(message, "role", *place), type=event_type, found=role)
    elif event_type == DEVELOPER and isinstance(content, list):
        developer.check_changes(report, data, message)
    for index, block in developer.changes(message):
        if event_type != DEVELOPER:
            where = (*place, "content", index)
            report.add("developer/blocks-elsewhere", *where, type=event_type, block=block["type"])


def _check_additions(report: Report, data: Mapping[str, Any], headers: Headers) -> None:
    if report.findings:
        return
    message = data.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        developer.check_header(report, data, headers.by_seq, _NOTHING_LOST)
    else:
        report.add("message/content", "data", "message", type=DEVELOPER)


def _check_header(report: Report, data: Any) -> None:
    place = ("data", "header")
    header = data.get("header") if isinstance(data, dict) else None
    if not isinstance(data, dict):
        report.add("envelope/data-object", "data", type=HEADER)
    elif not isinstance(header, dict):
        report.add("request/header-object", *member(data, "header", "data"))
    else:
        if "system" in header:
            report.add("request/system-retired", *place, "system")
        if header.get("tools") == []:
            report.add("request/tools-empty", *place, "tools")
        if header.get("adapterDefaults") == {}:
            report.add("request/adapter-defaults-empty", *place, "adapterDefaults")


def _check_result(report: Report, dialect: Dialect, data: Any) -> None:
    if not isinstance(data, dict):
        rule_id = "message/result-data"
        if not report.holds(rule_id):
            rule_id = "envelope/data-object"
        report.add(rule_id, "data", type=_TOOL_RESULT)
    elif "error" in data:
        message = dialect.message(_TOOL_RESULT, data)
        if not isinstance(message, dict) or dialect.tool_is_error(message) is not True:
            report.add("message/result-error", "data", "error")
