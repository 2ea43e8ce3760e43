"""One event of a log: its envelope typed, its payload undecoded until it is asked for.

A row is read in up to three ways, each slower and wider than the one before:

1. `Event`, decoded by msgspec with the tightest types: the common row, proven well-formed at once.
2. `_LooseRow`, decoded by msgspec: the same members with zeros, replace operations, ranges and
   plugin types, each of which Python then looks at.
3. `jsonvalue.loads`: everything that JavaScript accepts and msgspec does not (`3.0` as a number,
   lone surrogates), and everything that is wrong, for the rules to name.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from dsh_protocol import jsonvalue
from dsh_protocol.dialect import CURRENT, OLDEST, dialect
from dsh_protocol.findings import Finding
from dsh_protocol.jsonvalue import MAX_SAFE_INTEGER, JsonValue, is_count, is_surely_lossless
from dsh_protocol.rules import is_active, refuse

from ._seqs import CitedRanges, EncodedSeqs, encode_seqs, encoding_problem, expand, has_ranges

_SOURCES = "sourceEventSeqs"
_OPERATION = "surfaceOp"
_MEMBERS = frozenset({"type", "seq", "time", "data", _OPERATION, _SOURCES, "ignorable"})
_CHECKED = sys.maxsize
"""No limit of depth: that of a row was checked when it was read."""
_ABSENT = object()
_VERSIONS = range(OLDEST, CURRENT + 1)

if TYPE_CHECKING:
    Operation = str | dict[str, JsonValue] | None
    _Type = str
    _Seq = int
    _Time = int
    _Append = Operation
    _Cited = EncodedSeqs | None
    _Flag = bool
    _Payload = Raw | None
    _Line = int | None
    _Bytes = bytes
    _Value = JsonValue
else:
    # What only the second way takes is left out here, so that the common row needs no second look.
    _Seq = _Time = Annotated[int, Meta(ge=1, le=MAX_SAFE_INTEGER)]
    _Type = Literal[tuple(sorted({t for v in _VERSIONS for t in dialect(v).event_types}))]
    _Append = Literal["append"]
    _Cited = list[_Seq]
    _Payload = Raw

    class _Own:
        """The type of a member of our own: no JSON value has it, so a row cannot set it."""

    _Flag = _Line = _Bytes = _Value = _Own

_UNREAD: Any = _ABSENT


class Event(
    Struct,
    forbid_unknown_fields=True,
    gc=False,
    eq=False,
    rename={"payload": "data", "surface_op": _OPERATION, "encoded_seqs": _SOURCES},
):
    """One event. Treat it as immutable; the data and values it hands out are shared.

    `type` is `""` and `seq` and `time` are null where a malformed row has none that counts.
    `surface_op` is `"append"`, a replace object or null. `line` counts from 1 (the header), null for
    an event that was not read from a log. `raw` is the row as stored, without its LF (empty if the
    event was not read). `well_formed` says that the envelope is proven to have its exact shape;
    otherwise `value` is what there is.
    """

    type: _Type
    seq: _Seq
    time: _Time
    payload: _Payload
    surface_op: _Append = None
    encoded_seqs: _Cited = None
    """`sourceEventSeqs` as stored; `source_event_seqs` is what it means."""
    ignorable: _Flag = False
    line: _Line = None
    raw: _Bytes = b""
    well_formed: _Flag = True
    _row: _Value = None
    _data: _Value = _UNREAD

    format_version: ClassVar[int] = CURRENT
    """The session format whose model `model` gives."""

    @classmethod
    def from_value(cls, value: Mapping[str, JsonValue], line: int | None = None) -> Event:
        """An event from a logical row: `sourceEventSeqs` is the plain list of cited numbers."""
        row = dict(value)
        event = _from_row(cls, row, line)
        event.well_formed = is_well_formed(row)
        if event.encoded_seqs is not None and has_ranges(event.encoded_seqs):
            # Pairs exist in stored rows only; here they are no event numbers.
            event.encoded_seqs = None
            event.well_formed = False
        return event

    @property
    def data(self) -> Any:
        """The payload, decoded when first asked for (null when the row has none)."""
        if self._data is _UNREAD:
            payload = b"null" if self.payload is None else bytes(self.payload)
            self._data = jsonvalue.loads(payload, max_depth=_CHECKED)
        return self._data

    @property
    def source_event_seqs(self) -> list[int] | None:
        """The numbers of the events that this one cites, null when it has no such member."""
        if self.encoded_seqs is None or not has_ranges(self.encoded_seqs):
            return self.encoded_seqs  # type: ignore[return-value]
        return expand(self.encoded_seqs)

    @property
    def citations(self) -> list[int] | CitedRanges | None:
        """The same as `source_event_seqs`, with ranges left as they are."""
        if self.encoded_seqs is None or not has_ranges(self.encoded_seqs):
            return self.encoded_seqs  # type: ignore[return-value]
        return CitedRanges(self.encoded_seqs)

    @property
    def shape(self) -> dict[str, JsonValue]:
        """What a schema has to see of the row: its members in no particular order, and of ranges in its citations, which
        are sound, the ends."""
        cited = self.citations
        if self._row is None:
            row: dict[str, JsonValue] = {
                "type": self.type,
                "seq": self.seq,
                "time": self.time,
                "data": self.data,
            }
            if self.surface_op is not None:
                row[_OPERATION] = self.surface_op
            if self.ignorable:
                row["ignorable"] = True
        else:
            row = self._row  # type: ignore[assignment]
            if not isinstance(cited, CitedRanges):
                return row
            row = dict(row)
        if cited is not None:
            row[_SOURCES] = cited.ends if isinstance(cited, CitedRanges) else cited  # type: ignore[assignment]
        return row

    @property
    def value(self) -> dict[str, JsonValue]:
        """The logical row, with its members in the order stored and full lists of citations."""
        if self._row is None:
            return self._proven_row()
        row: dict[str, JsonValue] = self._row  # type: ignore[assignment]
        if self.encoded_seqs is None or not has_ranges(self.encoded_seqs):
            return row
        return {n: self.source_event_seqs if n == _SOURCES else v for n, v in row.items()}  # type: ignore[misc]

    @property
    def model(self) -> Any:
        """The generated model of this event.

        Raises:
            pydantic.ValidationError: the event is not what its schema describes.
        """
        return _model_of(self.format_version)(self.value)

    def row_bytes(self) -> bytes:
        """The stored row, without LF: the very bytes it was read from, or its encoding."""
        if self.raw:
            return self.raw
        return jsonvalue.dump_bytes({n: _stored(n, v) for n, v in self.value.items()})

    def _proven_row(self) -> dict[str, JsonValue]:
        # The undecoded row says in which order its members stand; their values are here already.
        try:
            row = _decode_order(self.raw)
            operation = row.get(_OPERATION)
            if isinstance(self.surface_op, dict):
                operation = jsonvalue.loads(bytes(row[_OPERATION]))
        except RecursionError:
            row = dict(jsonvalue.loads(self.raw))  # type: ignore[arg-type]
            operation = row.get(_OPERATION)
        row["type"] = self.type
        row["seq"] = self.seq
        row["time"] = self.time
        row["data"] = self.data
        if _SOURCES in row:
            row[_SOURCES] = self.source_event_seqs
        if _OPERATION in row:
            row[_OPERATION] = operation if isinstance(operation, dict) else self.surface_op
        if "ignorable" in row:
            row["ignorable"] = True
        return row

    def __repr__(self) -> str:
        return f"<Event {self.type!r} seq={self.seq} line={self.line}>"


class EventV3(Event, forbid_unknown_fields=True, gc=False, eq=False):
    """An event of format 3."""

    format_version: ClassVar[int] = 3


EVENT_CLASSES: Mapping[int, type[Event]] = {3: EventV3, 4: Event}


def make_event(
    type: str,
    seq: int,
    time: int,
    data: JsonValue,
    *,
    surface_op: Operation | None = None,
    source_event_seqs: list[int] | None = None,
    ignorable: bool = False,
) -> Event:
    """A new event, with its members in the order in which the released runtime writes them."""
    row: dict[str, JsonValue] = {"type": type, "seq": seq, "time": time, "data": data}
    if ignorable:
        row["ignorable"] = True
    if source_event_seqs is not None:
        row[_SOURCES] = list(source_event_seqs)
    if surface_op is not None:
        row[_OPERATION] = surface_op
    return Event.from_value(row)


# ---- From bytes ------------------------------------------------------------------------------------


class _Replace(Struct, forbid_unknown_fields=True, gc=False):
    op: Literal["replace"]
    startSeq: Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
    endSeq: Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]


class _LooseRow(Struct, forbid_unknown_fields=True, gc=False):
    # Unions of constrained integers with lists crash msgspec 0.23, so numbers are checked in Python.
    type: str
    seq: Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
    time: Annotated[int, Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]
    data: Raw
    surfaceOp: Literal["append"] | _Replace | msgspec.UnsetType = msgspec.UNSET
    sourceEventSeqs: list[int | list[int]] | msgspec.UnsetType = msgspec.UNSET
    ignorable: bool | msgspec.UnsetType = msgspec.UNSET


_decode_loose = msgspec.json.Decoder(_LooseRow).decode
_decode_order: Callable[[bytes], dict[str, Any]] = msgspec.json.Decoder(dict[str, Raw]).decode


def common_decoder(version: int) -> Callable[[bytes], Event]:
    """The first way to read a row of this format.

    Raises:
        msgspec.MsgspecError: the row needs another way.
        RecursionError: the row nests too deep for this way.
    """
    return msgspec.json.Decoder(EVENT_CLASSES[version]).decode


def decode_loose(version: int, row: bytes) -> Event | None:
    """The second way: the well-formed event in this row, or null when the third way has to look."""
    try:
        loose = _decode_loose(row)
    except (msgspec.MsgspecError, RecursionError):
        return None
    seqs = None if loose.sourceEventSeqs is msgspec.UNSET else loose.sourceEventSeqs
    if loose.ignorable is False or (seqs is not None and not _is_decodable(seqs, loose.seq)):
        return None
    # msgspec reads minus zero as zero.
    if b"-0" in row and _has_zero(loose, seqs):
        return None
    return EVENT_CLASSES[version](
        type=loose.type,
        seq=loose.seq,
        time=loose.time,
        payload=loose.data,
        surface_op=_operation(loose.surfaceOp),
        encoded_seqs=seqs,
        ignorable=loose.ignorable is True,
    )


def decode_exactly(version: int, value: dict[str, JsonValue]) -> Event:
    """The third way: an event from a parsed stored row, well-formed or not."""
    event = _from_row(EVENT_CLASSES[version], value, None)
    event.well_formed = is_well_formed(value)
    return event


def _has_zero(loose: _LooseRow, seqs: EncodedSeqs | None) -> bool:
    operation = loose.surfaceOp
    ends = (operation.startSeq, operation.endSeq) if isinstance(operation, _Replace) else ()
    firsts = [member[0] if isinstance(member, list) else member for member in seqs or ()]
    return 0 in (loose.seq, loose.time, *ends, *firsts)


def _operation(stored: object) -> Operation | None:
    if isinstance(stored, _Replace):
        return {"op": "replace", "startSeq": stored.startSeq, "endSeq": stored.endSeq}
    return "append" if stored == "append" else None


def _is_decodable(seqs: EncodedSeqs, own_seq: int) -> bool:
    """Plain lists are left to the rules about citations; pairs have to make sense here."""
    if has_ranges(seqs):
        return encoding_problem(seqs, own_seq) is None
    return all(map(is_count, seqs))


def replace_citations(event: Event, seqs: list[int]) -> None:
    """Give an event other citations than those of its row, which make no sense."""
    # First of all, so that nothing expands them: a pair may span 2^53 numbers.
    event.encoded_seqs = None
    row = {name: value for name, value in event.value.items() if name != _SOURCES}
    event._row = row | {_SOURCES: seqs} if seqs else row  # type: ignore[assignment]
    event.well_formed = False


def decode_payloads(events: Sequence[Event]) -> list[Event]:
    """Decode every payload that is not decoded yet, faster than one by one.

    Gives the events among them whose payload breaks a lossless number rule.
    """
    waiting = [e for e in events if e._data is _UNREAD and e.payload is not None]
    lossy: list[int] = []
    with paused_gc():
        payloads = [event.payload for event in waiting if event.payload is not None]
        values = jsonvalue.loads_many(payloads, lossy, max_depth=_CHECKED)
        for event, value in zip(waiting, values, strict=True):
            event._data = value
    return [waiting[index] for index in lossy]


def payload_members(events: Sequence[Event], name: str) -> list[Any]:
    """One member of each payload (null where there is none); a payload that is not decoded yet stays so."""
    waiting = [e for e in events if e._data is _UNREAD and e.payload is not None]
    with paused_gc():
        payloads = [event.payload for event in waiting if event.payload is not None]
        read = iter(jsonvalue.load_members(payloads, name, max_depth=_CHECKED))
    undecoded = set(map(id, waiting))
    return [next(read) if id(e) in undecoded else _member_of(e.data, name) for e in events]


def _member_of(data: Any, name: str) -> Any:
    return data.get(name) if isinstance(data, dict) else None


def release_payloads(events: Sequence[Event]) -> None:
    """Let go of decoded payloads, so that a pass over a log holds few of them.

    They are decoded again when asked for.
    """
    for event in events:
        if event.payload is not None:
            event._data = _UNREAD


def lossless_findings(events: Sequence[Event]) -> list[Finding]:
    """Where payloads hold numbers that do not survive a round trip. Decodes all of them.

    The rules are `json/finite` and `json/negative-zero`.
    """
    decoded = [event for event in events if event._data is not _UNREAD]
    suspects = decode_payloads(events)
    suspects += [e for e in decoded if e.payload is None or not is_surely_lossless(e.payload)]
    return [
        refuse(rule, seq=event.seq, line=event.line, path=f"/data{path}")
        for event in suspects
        for path, rule in jsonvalue.check_lossless(event.data)
        if is_active(rule)
    ]


@contextmanager
def paused_gc() -> Iterator[None]:
    """Do without cyclic garbage collection inside the block, for whatever makes many objects.

    Pausing is felt by the whole process, so keep the block short. Nested blocks are fine.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


# ---- From values -----------------------------------------------------------------------------------


def _from_row(cls: type[Event], row: dict[str, JsonValue], line: int | None) -> Event:
    type_, seq, time = row.get("type"), row.get("seq"), row.get("time")
    operation = row.get(_OPERATION)
    seqs = row.get(_SOURCES)
    return cls(
        type=type_ if isinstance(type_, str) else "",
        # Whoever reads a row that is not well-formed asks `value`; there is no number to give.
        seq=seq if is_count(seq) else None,  # type: ignore[arg-type]
        time=time if _is_time(time) else None,  # type: ignore[arg-type]
        payload=None,
        surface_op=operation if _is_operation(operation) else None,  # type: ignore[arg-type]
        encoded_seqs=seqs if _is_cited(seqs, seq) else None,  # type: ignore[arg-type]
        ignorable=row.get("ignorable") is True,
        line=line,
        _row=row,
        _data=row.get("data"),
    )


def is_well_formed(row: Mapping[str, JsonValue]) -> bool:
    """Whether a stored row has exactly the envelope that the format describes."""
    seq = row.get("seq")
    return (
        row.keys() <= _MEMBERS
        and isinstance(row.get("type"), str)
        and is_count(seq)
        and _is_time(row.get("time"))
        and "data" in row
        and row.get("ignorable", True) is True
        and (_OPERATION not in row or _is_operation(row[_OPERATION]))
        and (_SOURCES not in row or _is_cited(row[_SOURCES], seq))
    )


def _is_time(value: JsonValue) -> bool:
    return is_count(value, least=-MAX_SAFE_INTEGER)


def _is_operation(value: JsonValue) -> bool:
    if isinstance(value, dict):
        ends = (value.get("startSeq"), value.get("endSeq"))
        return len(value) == 3 and value.get("op") == "replace" and all(map(is_count, ends))
    return value == "append"


def _is_cited(value: JsonValue, own_seq: JsonValue) -> bool:
    if not isinstance(value, list) or not isinstance(own_seq, int):
        return False
    return _is_decodable(value, own_seq)  # type: ignore[arg-type]


def _stored(name: str, value: JsonValue) -> JsonValue:
    if name == _SOURCES and isinstance(value, list) and all(map(is_count, value)):
        return encode_seqs(value)  # type: ignore[arg-type, return-value]
    return value


@cache
def _model_of(version: int) -> Callable[[Mapping[str, JsonValue]], Any]:
    # Generated models cost over a millisecond per class to import.
    from pydantic import TypeAdapter

    if version == CURRENT:
        from dsh_protocol_models.session.v4.events import SessionEvent
    else:
        from dsh_protocol_models.session.v3.events import SessionEvent
    adapter: TypeAdapter[Any] = TypeAdapter(SessionEvent)
    return lambda value: adapter.validate_python(value, by_name=False)
