"""What can be done with a log, in five words, each defined by a set of rules.

`readable`: the released reader of the format opens it, perhaps without its last rows (0.2.1-rc.2 for format 4, 0.1.5-rc.1 for
format 3). `valid`: the official catalog of that release restores every row of it, with strict recovery and current validation.
`resumable`: the released runtime continues it: it reads the log, closes what was open, builds a session and comes to its next
request. `wireValid`: a model provider takes the message list that the log amounts to; tool calls that still run at its end
count as answered, because whoever continues the log answers them first. `migratable` is not computed yet.

The rules say which of these they make false when they are broken (`read`, `valid`, `resume`, and the level `provider`). A
finding that only follows from another one decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from .findings import Finding
from .reading import ReadEffects
from .rows import Event, Log
from .rules import rule
from .state import LogState
from .state.relations import check_messages, running_calls

Verdict = bool | None


class Verdicts(TypedDict):
    """What can be done with a log; null where a verdict does not apply or is not computed yet."""

    readable: Verdict
    migratable: Verdict
    valid: Verdict
    resumable: Verdict
    wireValid: Verdict


def unusable(*, older_format: bool) -> Verdicts:
    """The verdicts on a file that cannot be read as a log, or only after a migration, which nothing is said about here."""
    verdict = None if older_format else False
    return {
        "readable": False,
        "migratable": None,
        "valid": verdict,
        "resumable": verdict,
        "wireValid": None,
    }


def judge(log: Log, effects: ReadEffects, state: LogState, findings: Sequence[Finding]) -> Verdicts:
    """The verdicts on a log, given all findings and the state after all its events.

    `wireValid` is null for a log that nobody continues: it has no message list.
    """
    readable = not effects.refusals()
    resumable = readable and effects.is_resumable() and _makes_session(log, effects, state)
    return {
        "readable": readable,
        "migratable": None,
        "valid": effects.is_valid(),
        "resumable": resumable,
        "wireValid": _is_wire_valid(log, effects, state, findings) if resumable else None,
    }


def _makes_session(log: Log, effects: ReadEffects, state: LogState) -> bool:
    """Whether a session takes the events that the reader keeps.

    A state that left some of them out, for rules that a session does not know, may have missed what is wrong with others.
    """
    if state.is_intact:
        return True
    session = LogState(log.dialect, log.header, rules="session")
    findings = session.extend(effects.kept())
    version = log.dialect.version
    return not any(f.because is None and rule(f.rule).bars_resume(version) for f in findings)


def _is_wire_valid(
    log: Log, effects: ReadEffects, state: LogState, findings: Sequence[Finding]
) -> bool:
    """Whether a provider takes the list. The state is that of the runtime, unless it left out what the reader takes."""
    if state.is_intact and effects.cut is None:
        return not any(rule(found.rule).level == "provider" for found in findings)
    kept: list[Event] = list(effects.kept())
    as_read = LogState(log.dialect, log.header, rules="envelope")
    as_read.extend(kept)
    return not check_messages(log.dialect, as_read.surface, running_calls(log.dialect, kept))
