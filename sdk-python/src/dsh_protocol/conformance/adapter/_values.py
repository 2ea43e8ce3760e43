"""Ops about plain values: JSON text, ranges of numbers, names of directories, schemas."""

from __future__ import annotations

from functools import cache

from dsh_protocol import jsonvalue
from dsh_protocol.findings import JsonError, StorageError
from dsh_protocol.rows import (
    LogName,
    decode_seqs,
    encode_project,
    encode_seqs,
    encode_session,
)
from dsh_protocol.schemas import Validator

from ._answers import Json, one_or_all, refusal


def json_roundtrip(given: Json, _version: int) -> Json:
    """Text to text."""
    try:
        value = jsonvalue.loads(given["text"])
    except JsonError as error:
        return refusal(error)
    losses = jsonvalue.check_lossless(value)
    if losses:
        return {"refused": one_or_all([{"rule": r, "seq": None, "path": p} for p, r in losses])}
    return {"ok": {"text": jsonvalue.dumps(value)}}


def seqs_encode(given: Json, _version: int) -> Json:
    """Numbers to their stored form."""
    return {"ok": {"seqs": encode_seqs(given["seqs"])}}


def seqs_decode(given: Json, _version: int) -> Json:
    """The stored form to numbers."""
    try:
        return {"ok": {"seqs": decode_seqs(given["seqs"], given["seq"])}}
    except StorageError as error:
        return {"refused": {"rule": error.code, "seq": given["seq"], "path": "/seqs"}}


def path_encode(given: Json, version: int) -> Json:
    """A header's place below a store."""
    try:
        project = encode_project(given.get("cwd"))
        session = encode_session(given["id"])
    except StorageError as error:
        member = "cwd" if error.code == "storage/path-project" else "id"
        return {"refused": {"rule": error.code, "seq": None, "path": f"/{member}"}}
    file = str(LogName(version, given["compressed"]))
    return {"ok": {"project": project, "session": session, "file": file}}


def validate(given: Json, _version: int) -> Json:
    """A value against a named schema."""
    findings = _validator(given["schema"]).findings(given["value"])
    if not findings:
        return {"ok": {"valid": True}}
    places = [
        {"rule": "schema/payload", "seq": None, "path": found.path, "keyword": found.keyword}
        for found in findings
    ]
    return {"refused": one_or_all(places)}


@cache
def _validator(name: str) -> Validator:
    return Validator(name)
