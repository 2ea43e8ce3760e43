"""The rule registry: every numbered rule of `spec/rules/`, compiled to data, and how a finding is made from one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

import dsh_protocol_data

from .findings import Finding, Severity

Level = Literal["json", "storage", "append", "restore", "format", "owner", "provider", "service"]
ReadEffect = Literal["accept", "drop-tail", "refuse"]
Effect = Literal["accept", "refuse"]

_SESSION_LEVELS = frozenset({"append", "restore"})
"""The levels of what a live session looks at, also when it is built from the events of a log."""

_MAX_PARAM = 120
_WORDS = frozenset({"detail", "expected", "keyword"})
"""Parameters that say something in words; all others are values of the log."""
_OFF: ContextVar[frozenset[str]] = ContextVar("dsh_protocol_rules_off", default=frozenset())


@dataclass(frozen=True, slots=True)
class Rule:
    """One numbered rule.

    `since`/`until` are the first and last session format it holds in (null: still). `level` is where released software
    enforces it. `read` is what the released reader does with a stored log that breaks it: `accept` it, `drop-tail` (this row
    and all later ones, or refuse when a later row is a `turn/end`), or `refuse` the log. Where the readers of the formats
    differ it is a mapping. `late` has, by format, the event types at whose rows the decoder of that reader does not look: it
    refuses the log instead of dropping such a row. `read_effect(version, event_type)` chooses. `valid` and `resume` say the
    same of the official catalog and of the runtime that continues a log (null: what follows from severity and level); ask
    `is_invalid` and `bars_resume`.
    """

    id: str
    statement: str
    message: str
    remedy: str
    level: Level
    severity: Severity
    read: ReadEffect | Mapping[str, ReadEffect]
    since: int
    until: int | None
    source: str
    divergence: str | None = None
    deferred: str | None = None
    supersedes: str | None = None
    hard: Mapping[str, Literal[True] | list[str]] = field(default_factory=dict)
    late: Mapping[str, list[str]] = field(default_factory=dict)
    valid: Effect | Mapping[str, Effect] | None = None
    resume: Effect | Mapping[str, Effect] | None = None

    def holds_in(self, version: int) -> bool:
        """Whether this rule is part of session format `version`."""
        return self.since <= version and (self.until is None or version <= self.until)

    def read_effect(self, version: int, event_type: str = "") -> ReadEffect:
        """What the released reader of format `version` does with a log that breaks this rule, in an event of this type
        (empty: in any other place)."""
        if event_type in self.late.get(str(version), ()):
            return "refuse"
        return self.read if isinstance(self.read, str) else self.read[str(version)]

    def is_invalid(self, version: int) -> bool:
        """Whether the official catalog refuses a log of format `version` that breaks this rule (strict recovery, current
        validation)."""
        if self.valid is None:
            return self.severity == "error"
        return _choose(self.valid, version) == "refuse"

    def bars_resume(self, version: int) -> bool:
        """Whether the released runtime cannot continue a log of format `version` that breaks this rule, although its reader
        takes the log."""
        if self.resume is None:
            return self.severity == "error" and self.level in _SESSION_LEVELS
        return _choose(self.resume, version) == "refuse"

    def is_hard(self, version: int, event_type: str) -> bool:
        """Whether the reader of format `version` refuses an event of this type that breaks the rule
        even after a row that it drops."""
        types = self.hard.get(str(version), ())
        return types is True or event_type in types


class Words(str):
    """A text of our own for a message, put in as it is: what it quotes has been through `show`."""

    __slots__ = ()


def _choose(effect: Effect | Mapping[str, Effect], version: int) -> Effect:
    return effect if isinstance(effect, str) else effect[str(version)]


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule by id, in the order of the specification."""
    raw: list[dict[str, Any]] = dsh_protocol_data.load("rules")
    return MappingProxyType({entry["id"]: Rule(**entry) for entry in raw})


def rule(rule_id: str) -> Rule:
    """The rule with this id.

    Raises:
        KeyError: no rule has this id.
    """
    return rules()[rule_id]


def is_active(rule_id: str) -> bool:
    """Whether the rule is switched on (always, outside a `rules_off` block)."""
    return rule_id not in _OFF.get()


def code_of(rule_id: str) -> str:
    """The code of an error that says a rule is broken: the rule's id; `rule/off` while it is switched off."""
    return rule_id if is_active(rule_id) else "rule/off"


@contextmanager
def rules_off(*rule_ids: str) -> Iterator[None]:
    """Switch rules off inside the block, to prove that a case depends on them. Not for production use."""
    token = _OFF.set(_OFF.get() | frozenset(rule_ids))
    try:
        yield
    finally:
        _OFF.reset(token)


def refuse(
    rule_id: str,
    *,
    seq: int | None = None,
    line: int | None = None,
    path: str = "",
    because: int | None = None,
    **params: Any,
) -> Finding:
    """A finding of this rule; `params` fill the rule's message template, `Words` as they are and any other value by `show`.

    Raises:
        KeyError: no rule has this id, or the template names a parameter that was not given.
    """
    entry = rule(rule_id)
    shown = {"seq": show(seq)}
    shown |= {name: _shown(name, value) for name, value in params.items()}
    return Finding(
        rule=rule_id,
        severity=entry.severity,
        seq=seq,
        line=line,
        path=path,
        message=entry.message.format_map(shown),
        fix=entry.remedy.format_map(shown) if "{" in entry.remedy else entry.remedy,
        because=because,
    )


def exact(rule_id: str, **params: str) -> tuple[str, str]:
    """The message and the remedy of a rule with `params` put in as they are.

    For errors whose text is a protocol constant: it ends up in a log, where another implementation writes the same.

    Raises:
        KeyError: no rule has this id, or a template names a parameter that was not given.
    """
    entry = rule(rule_id)
    return entry.message.format_map(params), entry.remedy.format_map(params)


def _shown(name: str, param: object) -> str:
    if isinstance(param, Words):
        return param
    return words(param) if name in _WORDS else show(param)


def show(value: object) -> str:
    """A value as short ASCII JSON, safe to print: log content is hostile input and may be long."""
    if isinstance(value, str) and len(value) > _MAX_PARAM:
        value = value[:_MAX_PARAM] + "..."
    if isinstance(value, list) and len(value) > _MAX_PARAM:
        value = value[:_MAX_PARAM]
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 2 * _MAX_PARAM else text[: 2 * _MAX_PARAM] + "..."


def words(value: object) -> str:
    """A text as part of a sentence: escaped and shortened as `show` does, but not quoted."""
    text = show(value)
    return text[1:-1] if isinstance(value, str) and text.endswith('"') else text
