"""The extension member `dsh_session_log`: a session's log, sent along with its requests.

It is no model input. Its shape is `SessionLogExtension` of spec/wire/extensions.json; what a log
needs to say about accepted deliveries is the event `session-log-deepseek/delivery-accepted`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dsh_protocol import jsonvalue
from dsh_protocol.dialect import dialect

from ._texts import failure

Json = dict[str, Any]

ACCEPTED = "session-log-deepseek/delivery-accepted"
MAX_BYTES = 8 * 1024 * 1024
"""The default limit of the whole member, in bytes of its JSON text."""

_EXTENSION_VERSION = 1
_SETTLEMENTS = frozenset({"assistant/message", "assistant/attempt"})
# Events besides those of the surface that come before a request is prepared: a marker in front of
# one belongs to an earlier request (a compaction, or an attempt that is repeated).
_PREPARING = ("step/", "request/", "compaction/", "llm/")


def session_log(
    header: Mapping[str, Any],
    events: Sequence[Mapping[str, Any]],
    *,
    inherited_event_count: int = 0,
    max_bytes: int = MAX_BYTES,
) -> Json | None:
    """The member as a runtime sends it when the log ends with these events; null: nothing fits.

    `header` is the logical header (a stored one may have `type` and `isSeeded`, too), `events` are
    all logical events from seq 0 with their citations as full lists. The longest run of events not
    yet accepted is taken whose member is at most `max_bytes` long.

    Raises:
        WireError: `REQUEST_EXTENSION`: a delivery marker of this format is malformed. A runtime
            then sends its request without this member.
    """
    after = accepted_through(header, events)
    member: Json = {
        "version": _EXTENSION_VERSION,
        "sessionFormatVersion": header["version"],
        "session": _live_header(header, events, inherited_event_count),
        "afterSeq": after,
        "throughSeq": 0,
        "events": [],
    }
    # The seq of the last event takes the place of one digit.
    size = len(jsonvalue.dump_bytes(member)) - 1
    for event in events[after + 1 :]:
        wire = _wire_event(event, header["version"])
        size += len(jsonvalue.dump_bytes(wire)) + (1 if member["events"] else 0)
        if size + len(str(event["seq"])) > max_bytes:
            break
        member["events"].append(wire)
        member["throughSeq"] = event["seq"]
    return member if member["events"] else None


def accepted_through(header: Mapping[str, Any], events: Iterable[Mapping[str, Any]]) -> int:
    """The seq of the last event that the endpoint has accepted from this session (-1: none).

    Raises:
        WireError: `REQUEST_EXTENSION`: a marker of this format is malformed.
    """
    through = -1
    for event in events:
        if event["type"] != ACCEPTED:
            continue
        data = _data(event)
        version = data.get("sessionFormatVersion")
        version = 0 if version is None else version
        if not jsonvalue.is_count(version):
            raise failure("extension/malformed-marker", seq=event["seq"])
        if version != header["version"]:
            continue
        session, seq = data.get("sessionId"), data.get("throughSeq", -1)
        if not _names_session(session) or not jsonvalue.is_count(seq) or seq >= event["seq"]:
            raise failure("extension/malformed-marker", seq=event["seq"])
        if session == header["id"]:
            through = max(through, seq)
    return through


def sent_events(events: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The log as it was when a request was prepared, from all events before its settlement.

    The marker of the request's acceptance tells. Other requests (a title) may have one beside it,
    so the first one counts that was prepared after the last event which the request depends on.
    Without a marker (the request was refused) all events count.
    """
    start = _prepared_at(events)
    markers = [i for i in range(start, len(events)) if events[i]["type"] == ACCEPTED]
    for index in markers:
        through = _data(events[index]).get("throughSeq", -1)
        if jsonvalue.is_count(through) and start - 1 <= through < index:
            return events[: through + 1]
    return events[: markers[0]] if markers else events


def _prepared_at(events: Sequence[Mapping[str, Any]]) -> int:
    """The index after the last event that belongs to the preparation of a request."""
    for index in range(len(events) - 1, -1, -1):
        kind = events[index]["type"]
        if kind in _SETTLEMENTS or kind.startswith(_PREPARING) or "surfaceOp" in events[index]:
            return index + 1
    return 0


def _live_header(
    header: Mapping[str, Any], events: Sequence[Mapping[str, Any]], inherited: int
) -> Json:
    """The header that a runtime holds in memory, which differs from the stored one."""
    live: Json = {name: header[name] for name in ("version", "id", "createdAt")}
    for name in ("cwd", "parentSession"):
        if name in header:
            live[name] = header[name]
    if header.get("isSeeded"):
        live["seedLength"] = inherited
    if "origin" in header:
        live["origin"] = header["origin"]
    depth = header.get("delegationDepth")
    if depth is not None and (depth or "origin" in header or _is_reopened(events, inherited)):
        live["delegationDepth"] = depth
    if "agentPreset" in header:
        live["agentPreset"] = header["agentPreset"]
    return live


def _is_reopened(events: Sequence[Mapping[str, Any]], inherited: int) -> bool:
    """Whether another process than the session's creator prepares the request.

    A log that ended with an inherited marker does not tell: no other marker is written when it is opened again.
    """
    own = events[inherited:]
    return any(e["type"] == "session/end-seed" and not _data(e).get("inherited") for e in own)


def _data(event: Mapping[str, Any]) -> Mapping[str, Any]:
    data = event["data"]
    return data if isinstance(data, dict) else {}


def _wire_event(event: Mapping[str, Any], version: int) -> Json:
    wire: Json = {name: event[name] for name in ("seq", "time", "data")}
    if "ignorable" in event:
        wire["ignorable"] = event["ignorable"]
    wire["type"] = event["type"]
    if "surfaceOp" in event:
        wire["surfaceOp"] = _surface_op(event, version)
    if "sourceEventSeqs" in event:
        wire["sourceEventSeqs"] = event["sourceEventSeqs"]
    return wire


def _surface_op(event: Mapping[str, Any], version: int) -> Any:
    operation = event["surfaceOp"]
    known = dialect(version)
    if event["type"] not in known.surface_types or not isinstance(operation, dict):
        return operation
    return {name: operation[name] for name in ("op", *known.replace_keys)}


def _names_session(value: object) -> bool:
    return isinstance(value, str) and bool(value)
