"""The matrix: cases by implementations, as one static page without scripts. Everything in it is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from .cases import Corpus
from .run import Result, Run
from .trace import Item, Trace

_STYLE = """
body{font:14px/1.4 system-ui,sans-serif;margin:2rem;color:#222}
table{border-collapse:collapse}td,th{border:1px solid #ddd;padding:1px 6px;text-align:left}
td.v{text-align:center;white-space:nowrap}summary{cursor:pointer;padding:4px 0}
.passed{background:#c9efc9}.bare{background:#e4f5d4}.known{background:#fdeeb4}.unsupported{background:#eee;color:#777}
.failed,.errored,.crashed,.hung,.invalid,.stale,.untestable,.hole{background:#f6b8b8}
code{font-size:12px}
"""
_MEANING = {
    "passed": "right in all that the case says",
    "bare": "right, and says less than the case: not which rule, or nothing about warnings",
    "known": "wrong, with a reason that is written down",
    "unsupported": "not asked: the adapter does not take this op in this format",
    "failed": "wrong",
    "errored": "the implementation failed",
    "crashed": "the adapter ended",
    "hung": "no answer in time",
    "invalid": "the adapter broke the protocol",
    "untestable": "no case can show it",
}


def matrix(corpus: Corpus, runs: list[Run], traced: Trace) -> str:
    """The page."""
    return "\n".join(_page(corpus, runs, traced)) + "\n"


def _page(corpus: Corpus, runs: list[Run], traced: Trace) -> Iterator[str]:
    yield "<!doctype html><html lang=en><meta charset=utf-8><title>Conformance</title>"
    yield f"<style>{_STYLE}</style><h1>Conformance</h1>"
    yield from _summary(runs)
    yield "<h2>What the colours mean</h2><table>"
    yield from (f"<tr>{_cell(v, v)}<td>{escape(text)}</td></tr>" for v, text in _MEANING.items())
    yield "</table><h2>Not shown by any case</h2>"
    yield from _untestable(traced)
    yield "<h2>Cases</h2>"
    found = [{(r.case.id, r.format): r for r in run.results} for run in runs]
    for suite in corpus.suites.values():
        asked = [
            case
            for case in suite.cases
            if any((case.id, f) in t for t in found for f in case.formats)
        ]
        if asked:
            yield f"<details><summary>{escape(suite.name)} ({len(asked)} cases)</summary><table>"
            yield _heading(["case", "format", *(run.implementation.name for run in runs)])
            for case in asked:
                for version in case.formats:
                    cells = "".join(_result_cell(table.get((case.id, version))) for table in found)
                    name = f'<td title="{escape(case.title)}"><code>{escape(case.id)}</code></td>'
                    yield f"<tr>{name}<td>{version}</td>{cells}</tr>"
            yield "</table></details>"


def _summary(runs: list[Run]) -> Iterator[str]:
    names = [name for name in _MEANING if any(run.counts[name] for run in runs)]
    yield "<table>"
    yield _heading(["implementation", "version", *names, "stale", "result"])
    for run in runs:
        about = {} if run.capabilities is None else run.capabilities.implementation
        version = escape(str(about.get("version", "")))
        cells = "".join(_cell(name if run.counts[name] else "", run.counts[name]) for name in names)
        stale = _cell("stale" if run.stale else "", len(run.stale))
        verdict = (
            _cell("passed", "passed") if run.passed else _cell("failed", run.problem or "failed")
        )
        yield f"<tr><td>{escape(run.implementation.name)}</td><td>{version}</td>{cells}{stale}{verdict}</tr>"
    yield "</table>"


def _untestable(traced: Trace) -> Iterator[str]:
    missing = [item for item in traced.items if item.missing]
    if not missing:
        yield "<p>Nothing.</p>"
        return
    yield "<table>"
    yield _heading(["what", "formats", "why"])
    for (id_, why), items in groupby(missing, key=lambda item: (item.id, _reason(item))):
        formats = ", ".join(str(item.format) for item in items if item.format is not None)
        yield f"<tr class=untestable><td><code>{escape(id_)}</code></td><td>{formats}</td><td>{escape(why)}</td></tr>"
    yield "</table>"


def _reason(item: Item) -> str:
    return item.untestable or f"a hole: {' and '.join(item.missing)} is missing"


def _result_cell(result: Result | None) -> str:
    if result is None:
        return "<td></td>"
    if result.reason is not None:
        why = f"{result.reason.text} ({result.why})"
        return _cell("known", "known", why)
    return _cell(result.verdict.value, result.verdict.value, result.why)


def _cell(kind: str, text: object, title: str = "") -> str:
    hint = f' title="{escape(title)}"' if title else ""
    return f'<td class="v {escape(kind)}"{hint}>{escape(str(text))}</td>'


def _heading(names: list[str]) -> str:
    return "<tr>" + "".join(f"<th>{escape(name)}</th>" for name in names) + "</tr>"
