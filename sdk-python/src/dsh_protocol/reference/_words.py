"""What the short words of the specification mean, and near names for one that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from dsh_protocol.findings import UsageError

LEVELS: Mapping[str, str] = {
    "json": "what JSON itself can carry",
    "storage": "whoever reads the bytes of a log",
    "append": "the append of a live session",
    "restore": "the start of a session from its events: what is refused here cannot be resumed",
    "format": "the reader of a stored log",
    "conversion": "the conversion from format 3 to format 4",
    "owner": "the package that owns the event type",
    "provider": "the provider of a model, when it is sent the messages of the log",
    "service": "the services for prompts and tools, before there is a log",
}
"""Where released software enforces something, from the bytes up to the owner of a payload."""

SOURCES: Mapping[str, str] = {
    "released": "the behaviour of released software",
    "seed-000": "the design document that made the prompt node 0 of the surface",
    "seed-004": "the guide to how a prompt is assembled",
    "own": "a decision of this specification",
}

RELEASES: Mapping[int, str] = {3: "0.1.5-rc.1", 4: "0.2.1-rc.2"}
"""The release that stands for the readers of a format wherever their behaviour is stated."""

_MOST_NEAR = 5


def near(name: str, known: Iterable[str]) -> list[str]:
    """Known names that hold this one, or else are spelled much like it; at most five."""
    names = list(known)
    inside = [other for other in names if name and name in other]
    return (inside or difflib.get_close_matches(name, names, _MOST_NEAR, 0.6))[:_MOST_NEAR]


def unknown_rule(rule_id: str, known: Iterable[str]) -> UsageError:
    """The error for an id that no rule has; it lists similar ones of those that are known."""
    found = near(rule_id, known)
    return UsageError(
        "rules/unknown-id",
        f"no rule is called {rule_id[:120]!r}",
        fix=f"Similar ids: {', '.join(found)}." if found else "List them: dsh-protocol explain.",
    )
