"""Which ops there are, and what an answer says."""

from __future__ import annotations

from . import (
    _logs,
    _loop,
    _projections,
    _prompt,
    _requests,
    _responses,
    _streams,
    _tools,
    _values,
    _writing,
)
from ._answers import Json, Op

FORMATS = (3, 4)
"""The session formats that every op is answered for."""

REPORTS = (
    *("rule", "seq", "path", "code", "keyword", "text"),
    *("readable", "valid", "resumable", "wireValid", "warned"),
)
"""The members that refusals and warnings of this adapter have, and what stands beside them."""

OPS: dict[str, Op] = {
    "json.roundtrip": _values.json_roundtrip,
    "seqs.encode": _values.seqs_encode,
    "seqs.decode": _values.seqs_decode,
    "path.encode": _values.path_encode,
    "validate": _values.validate,
    "frames": _logs.frames,
    "check": _logs.check,
    "fold": _logs.fold,
    "messages": _logs.messages,
    "append": _writing.append,
    "fork": _writing.fork,
    "repair": _writing.repair,
    "continue": _writing.continue_,
    "header.canonical": _logs.header_canonical,
    "header.equals": _logs.header_equals,
    "header.fold": _logs.header_fold,
    "tools.history": _logs.tools_history,
    "stream.accumulate": _streams.accumulate,
    "stream.expand": _streams.expand,
    "stream.assemble": _streams.assemble,
    "request.rebuild": _requests.request_rebuild,
    "wire.serialize": _requests.wire_serialize,
    "prompt.run": _prompt.run,
    "prompt.interpolate": _prompt.interpolate,
    "prompt.render": _prompt.render,
    "prompt.project": _projections.project,
    "prompt.context": _projections.context,
    "prompt.header": _projections.header,
    "prompt.attempt": _projections.attempt,
    "loop.replay": _loop.replay,
    "tools.run": _tools.run,
    "tools.schema": _tools.schema,
    "wire.parse": _responses.wire_parse,
}


def answer(op: str, given: Json, version: int) -> Json:
    """The answer to a case, in one of its formats.

    Raises:
        KeyError: no op has this name.
    """
    return OPS[op](given, version)
