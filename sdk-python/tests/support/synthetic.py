"""Small logs to break: a valid session of one turn in each format, as rows that a test changes before it writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Row = dict[str, Any]

PROMPT_SOURCE: dict[int, Row] = {
    3: {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"},
    4: {"kind": "system-prompt"},
}
_TIME = 1_700_000_000_000


def header(version: int = 4, **changes: Any) -> Row:
    """The header line of a plain session."""
    row = {
        "type": "session",
        "version": version,
        "id": "s-1",
        "createdAt": _TIME,
        "cwd": "/w",
        "isSeeded": False,
        "delegationDepth": 0,
    }
    return row | changes


def message(role: str, text: str, source: Row, id_: str) -> Row:
    """A message with one text block."""
    return {"content": [{"type": "text", "text": text}], "source": source, "role": role, "id": id_}


def events(version: int = 4) -> list[Row]:
    """Eight events: one turn with one step, a prompt, an input, a request and its answer.

    Seqs: 0 turn/start, 1 step/start, 2 system/message, 3 user/message, 4 request/header, 5 assistant/message, 6 step/end,
    7 turn/end. The surface is 2, 3, 5.
    """
    at = {"turn": 1, "step": 1}
    config = {"provider": "deepseek-official", "model": "deepseek-flash"}
    answer = message("assistant", "Hello.", {"kind": "model", **config}, "m-3")
    rows = [
        ("turn/start", {"turn": 1}, {}),
        ("step/start", at, {}),
        (
            "system/message",
            {**at, "message": message("system", "Be brief.", PROMPT_SOURCE[version], "m-1")},
            {"surfaceOp": "append"},
        ),
        ("user/message", message("user", "Hi.", {"kind": "user"}, "m-2"), {"surfaceOp": "append"}),
        ("request/header", {"header": {"config": config}, "reason": "initial"}, {}),
        ("assistant/message", {**at, "message": answer, "stream": []}, {"surfaceOp": "append"}),
        ("step/end", at, {}),
        ("turn/end", {"turn": 1, "reason": {"kind": "completed"}}, {}),
    ]
    return [event(seq, type_, data, **more) for seq, (type_, data, more) in enumerate(rows)]


def event(seq: int, type_: str, data: Any, **more: Any) -> Row:
    """One event row."""
    return {"type": type_, "seq": seq, "time": _TIME + seq, "data": data, **more}


def replacement(seq: int, start: int, end: int, sources: list[int]) -> Row:
    """A user/message that replaces a range."""
    operation = {"op": "replace", "startSeq": start, "endSeq": end}
    data = message("user", "Instead.", {"kind": "user"}, f"m-r{seq}")
    return event(seq, "user/message", data, sourceEventSeqs=sources, surfaceOp=operation)


def line(row: Any) -> bytes:
    """A row as the released runtime writes it."""
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def log_bytes(rows: list[Row], *, version: int = 4, **header_changes: Any) -> bytes:
    """A whole log."""
    return b"".join(map(line, [header(version, **header_changes), *rows]))


def write_log(path: Path, rows: list[Row], *, version: int = 4, **header_changes: Any) -> Path:
    """Write a whole log and give its path back."""
    path.write_bytes(log_bytes(rows, version=version, **header_changes))
    return path
