"""What is shown by which case: every rule, every event type, what a loop writes, and the lists of `trace.json`, both ways.

A rule needs an accepting and a refusing case in each format that it holds in. What has none, and is not listed as
untestable, is a hole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import dsh_protocol_data
from dsh_protocol.dialect import CURRENT, OLDEST, dialect
from dsh_protocol.rules import Rule, rules

from .cases import Case, Corpus
from .files import read_json, read_schema, require_shape

Json = dict[str, Any]

FORMATS = range(OLDEST, CURRENT + 1)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to be shown, in one format (null: in any). `refusing` is empty for what cannot be broken.

    `untestable` is the reason why there are no cases; `says` is what an entry of a list stands for.
    """

    id: str
    format: int | None
    accepting: tuple[str, ...]
    refusing: tuple[str, ...]
    missing: tuple[str, ...]
    untestable: str = ""
    says: str = ""

    @property
    def is_hole(self) -> bool:
        """Whether cases are missing, and nobody has said why."""
        return bool(self.missing) and not self.untestable

    def to_json(self) -> Json:
        """This item as a JSON object."""
        return {
            "id": self.id,
            "format": self.format,
            "accepting": list(self.accepting),
            "refusing": list(self.refusing),
            "missing": list(self.missing),
            "untestable": self.untestable or None,
        }


@dataclass(frozen=True, slots=True)
class Trace:
    """All items, and what is wrong with the list of the untestable."""

    items: tuple[Item, ...]
    problems: tuple[str, ...]

    @property
    def holes(self) -> list[Item]:
        """What no case shows."""
        return [item for item in self.items if item.is_hole]


def trace(corpus: Corpus) -> Trace:
    """Hold the cases of a corpus against everything that they have to show.

    Raises:
        CorpusError: `corpus/malformed`: `trace.json` is not what its schema says.
    """
    listed = _listed(corpus)
    items = (*_rule_items(corpus, listed), *_cited_items(corpus, listed))
    return Trace(items, tuple(_problems(corpus, items, listed)))


def _listed(corpus: Corpus) -> Json:
    path = corpus.root / "trace.json"
    listed: Json = read_json(path)
    require_shape(path, listed, read_schema(corpus.root / "trace.schema.json"))
    return listed


def _rule_items(corpus: Corpus, listed: Json) -> Iterator[Item]:
    by_rule: dict[str, list[Case]] = {rule_id: [] for rule_id in rules()}
    for case in corpus.cases:
        for rule_id in case.rules:
            by_rule.setdefault(rule_id, []).append(case)
    for entry in rules().values():
        for version in FORMATS:
            if entry.holds_in(version):
                yield _rule_item(entry, version, by_rule[entry.id], listed)


def _rule_item(entry: Rule, version: int, cases: list[Case], listed: Json) -> Item:
    key = f"rule:{entry.id}"
    here = [case for case in cases if version in case.formats]
    follows = key in listed["followers"]
    accepting = tuple(case.id for case in here if _accepts(case, entry.id))
    refusing = tuple(
        case.id
        for case in here
        if (_drops_what_is_committed(case, version) if follows else case.breaks(entry.id))
    )
    kinds = (("an accepting case", accepting), ("a refusing case", refusing))
    missing = tuple(kind for kind, found in kinds if not found)
    return Item(key, version, accepting, refusing, missing, listed["untestable"].get(key, ""))


def _accepts(case: Case, rule_id: str) -> bool:
    """Whether the case gives values, and does not break the rule on the way."""
    return not case.expect.keys().isdisjoint({"ok", "steps"}) and not case.breaks(rule_id)


def _drops_what_is_committed(case: Case, version: int) -> bool:
    """Whether the case is refused for rows alone that a reader would drop, and still not readable."""
    types = {event.get("seq"): event.get("type", "") for event in case.input.get("events", ())}
    effects = {
        rules()[finding["rule"]].read_effect(version, types.get(finding["seq"], ""))
        for finding in case.refusals
    }
    return effects == {"drop-tail"} and case.expect.get("readable") is False


def _cited_items(corpus: Corpus, listed: Json) -> Iterator[Item]:
    citing: dict[str, list[Case]] = {}
    for case in corpus.cases:
        for cited in case.cites:
            citing.setdefault(cited, []).append(case)
    for key, version, says in _citable(listed):
        found = [c.id for c in citing.get(key, ()) if version is None or version in c.formats]
        missing = () if found else ("a case that cites it",)
        untestable = listed["untestable"].get(key, "")
        yield Item(key, version, tuple(found), (), missing, untestable, says)


def _citable(listed: Json) -> Iterator[tuple[str, int | None, str]]:
    """What a case may cite, in which format (null: in any), and what it stands for."""
    for version in FORMATS:
        for event_type in sorted(dialect(version).event_types):
            yield f"type:{event_type}", version, ""
    for entry in dsh_protocol_data.load("loop_rules")["rules"]:
        key = entry["id"].replace("/", ":")
        last = CURRENT if entry["until"] is None else entry["until"]
        held = (version for version in FORMATS if entry["since"] <= version <= last)
        yield from ((key, version, entry["statement"]) for version in held)
    for name, entries in listed["lists"].items():
        for entry, says in entries.items():
            yield f"{name}:{entry}", None, says


def _problems(corpus: Corpus, items: Iterable[Item], listed: Json) -> Iterator[str]:
    """What is listed and does not exist, or is not so."""
    known = {item.id for item in items}
    missing = {item.id for item in items if item.missing}
    for key in listed["untestable"]:
        if key not in known:
            yield f"{key} is listed as untestable and does not exist"
        elif key not in missing:
            yield f"{key} is listed as untestable and has cases"
    yield from (
        f"{key} is listed as a follower and is no rule"
        for key in listed["followers"]
        if key not in known
    )
    for case in corpus.cases:
        for cited in case.cites:
            if cited not in known:
                yield f"{case.id} cites {cited}, which does not exist"
