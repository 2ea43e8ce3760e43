"""The corpus itself: its ids, its manifest, and that every rule has its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from dsh_protocol.dialect import CURRENT, OLDEST
from dsh_protocol.findings import Severity
from dsh_protocol.rules import rules

from .cases import Case, Corpus
from .errors import CorpusError
from .files import read_text

FORMATS = range(OLDEST, CURRENT + 1)


def lint(corpus: Corpus) -> list[str]:
    """Everything that is wrong with a corpus whose files have their shapes, a line each.

    Raises:
        CorpusError: `corpus/malformed`: the manifest cannot be read.
    """
    return [f"{check.__name__[1:]}: {line}" for check in _CHECKS for line in check(corpus)]


def manifest(corpus: Corpus) -> list[str]:
    """The lines of `MANIFEST`: each case with its rules; of examples, how many each folder has."""
    lines = []
    for suite in corpus.suites.values():
        if suite.from_examples:
            folders = Counter(case.id.rpartition("/")[0] for case in suite.cases)
            lines += [f"{folder}/* {count}" for folder, count in folders.items()]
        else:
            lines += [" ".join([case.id, *case.rules]) for case in suite.cases]
    return sorted(lines)


def _suite_paths(corpus: Corpus) -> list[Path]:
    return sorted((corpus.root / "suites").glob("*.json"))


def _ascii(corpus: Corpus) -> Iterator[str]:
    """Nothing may depend on an editor."""
    return (path.name for path in _suite_paths(corpus) if not path.read_bytes().isascii())


def _names(corpus: Corpus) -> Iterator[str]:
    for path in _suite_paths(corpus):
        if path.stem not in corpus.suites:
            yield f"{path.name} holds a suite of another name"
    for suite in corpus.suites.values():
        yield from (
            f"{c.id} is in suite {suite.name}" for c in suite.cases if c.suite != suite.name
        )


def _unique(corpus: Corpus) -> Iterator[str]:
    return (id_ for id_, n in Counter(case.id for case in corpus.cases).items() if n > 1)


def _format_in_id(corpus: Corpus) -> Iterator[str]:
    for case in corpus.cases:
        for version in FORMATS:
            if case.id.endswith(f"-v{version}") and case.formats != (version,):
                yield f"{case.id} holds in {case.formats}"


def _manifest(corpus: Corpus) -> Iterator[str]:
    listed = read_text(corpus.root / "MANIFEST").splitlines()
    there = manifest(corpus)
    yield from (f"not listed: {line}" for line in sorted(set(there) - set(listed)))
    yield from (f"gone: {line}" for line in sorted(set(listed) - set(there)))
    if set(there) == set(listed) and there != listed:
        yield "the lines are not sorted, or repeated"


def _rules(corpus: Corpus) -> Iterator[str]:
    for case in corpus.cases:
        for rule_id in case.rules:
            if rule_id not in rules():
                yield f"{case.id}: there is no rule {rule_id}"
            elif not all(rules()[rule_id].holds_in(version) for version in case.formats):
                yield f"{case.id}: {rule_id} does not hold in all of {case.formats}"


def _named_rules(corpus: Corpus) -> Iterator[str]:
    """A case names the rules that it expects to be broken."""
    for case in corpus.cases:
        broken = {finding["rule"] for finding in case.named if "rule" in finding}
        yield from (f"{case.id}: {rule_id}" for rule_id in sorted(broken - set(case.rules)))


def _severities(corpus: Corpus) -> Iterator[str]:
    """Only errors refuse a log, and a warning is no error."""
    for case in corpus.cases:
        for warned in case.warnings:
            if not _is_of(warned["rule"], "warning"):
                yield f"{case.id}: {warned['rule']} is no warning"
        if case.op == "check":
            refused = {finding["rule"] for finding in case.refusals}
            wrong = sorted(rule for rule in refused if not _is_of(rule, "error"))
            yield from (f"{case.id}: {rule} is no error" for rule in wrong)


def _is_of(rule_id: str, severity: Severity) -> bool:
    entry = rules().get(rule_id)
    return entry is not None and entry.severity == severity


def _references(corpus: Corpus) -> Iterator[str]:
    for case in corpus.cases:
        try:
            corpus.resolve([case.input, case.expect])
        except CorpusError as error:
            yield f"{case.id}: {error.message}"


def _expectations(corpus: Corpus) -> Iterator[str]:
    """A case without a rule that accepts anything shows nothing."""
    return (case.id for case in corpus.cases if _says_nothing(case))


def _says_nothing(case: Case) -> bool:
    return case.expect.get("ok") == {"$match": "any"}


_CHECKS: tuple[Callable[[Corpus], Iterator[str]], ...] = (
    _ascii,
    _names,
    _unique,
    _format_in_id,
    _manifest,
    _rules,
    _named_rules,
    _severities,
    _references,
    _expectations,
)
