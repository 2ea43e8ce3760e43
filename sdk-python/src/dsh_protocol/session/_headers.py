"""Headers of new sessions."""

from __future__ import annotations

from dsh_protocol.jsonvalue import JsonValue
from dsh_protocol.rows import Header, make_header


def new_header(
    version: int,
    id: str,
    created_at: int,
    *,
    cwd: str | None = None,
    parent_session: str | None = None,
    is_seeded: bool = False,
    origin: str | None = None,
    delegation_depth: int = 0,
    agent_preset: str | None = None,
) -> Header:
    """The header of a new session; what is null is left out. `created_at` counts milliseconds since 1970.

    Raises:
        StorageError: `header/member`: a value is not what the format takes.
        UnsupportedFormatError: the format is not 3 or 4.
    """
    members: dict[str, JsonValue] = {
        "version": version,
        "id": id,
        "createdAt": created_at,
        "cwd": cwd,
        "parentSession": parent_session,
        "isSeeded": is_seeded,
        "origin": origin,
        "delegationDepth": delegation_depth,
        "agentPreset": agent_preset,
    }
    given = {name: value for name, value in members.items() if value is not None}
    return make_header(given)
