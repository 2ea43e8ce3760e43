"""The protocol of `conformance/README.md`, from the adapter's side."""

from __future__ import annotations

import json
import traceback
from importlib.metadata import PackageNotFoundError, version
from typing import BinaryIO

from ._answers import Json
from ._ops import FORMATS, OPS, REPORTS, answer

PROTOCOL = 1


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer one message a line, until `stop` or the end of the requests."""
    for line in requests:
        message = json.loads(line)
        if message["cmd"] == "stop":
            return
        answers.write(json.dumps(_reply(message)).encode("ascii") + b"\n")
        answers.flush()


def _reply(message: Json) -> Json:
    command = message["cmd"]
    if command == "start":
        return {"protocol": PROTOCOL, "implementation": _implementation()}
    if command == "capabilities":
        return {"ops": dict.fromkeys(OPS, FORMATS), "reports": REPORTS}
    number = {"number": message["number"]}
    if message["op"] not in OPS:
        return {**number, "unsupported": "no such op"}
    try:
        return {**number, **answer(message["op"], message["input"], message["format"])}
    except Exception:
        # A bug in this package is the answer to this case alone.
        return {**number, "error": traceback.format_exc(limit=-3)}


def _implementation() -> Json:
    try:
        release = version("dsh-protocol")
    except PackageNotFoundError:
        release = "unknown"
    return {"name": "dsh-protocol", "version": release, "language": "Python"}
