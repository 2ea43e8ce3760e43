"""Whether an answer is the right one.

An answer is compared in the members that its adapter reports. One that is right in them, but says less than the case
expects, is `bare`: right, and counted apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from dsh_protocol.jsonvalue import pointer

Json = dict[str, Any]

MATCH = "$match"
LITERAL = "$literal"
REFUSAL_MEMBERS = ("rule", "seq", "path", "code", "keyword", "text")
UNLESS_STATED: Mapping[str, tuple[bool | None, bool | None]] = {
    "valid": (True, False),
    "resumable": (True, False),
    "wireValid": (True, None),
}
"""The verdicts beside a value and beside a refusal of an op that has verdicts, where a case states no other."""
REPORTED = (*REFUSAL_MEMBERS, "readable", *UNLESS_STATED, "warned")
"""What an adapter may report about a refusal, or beside an answer."""


class Verdict(StrEnum):
    """What came of one question."""

    passed = "passed"
    bare = "bare"
    failed = "failed"
    unsupported = "unsupported"
    errored = "errored"
    crashed = "crashed"
    hung = "hung"
    invalid = "invalid"


RIGHT = frozenset({Verdict.passed, Verdict.bare})
"""The verdicts of right answers."""


class Judgement(NamedTuple):
    """A verdict, and in one line why it is none of the right ones."""

    verdict: Verdict
    why: str = ""


def judge(expect: Json, answer: Json, reports: Collection[str] = REPORTED) -> Judgement:
    """Compare an answer with what a case expects (its references filled in)."""
    if "unsupported" in answer:
        return Judgement(Verdict.unsupported, str(answer["unsupported"]))
    if "error" in answer:
        return Judgement(Verdict.errored, str(answer["error"]))
    comparison = _Comparison(frozenset(reports))
    why = comparison.answer(expect, answer)
    if why:
        return Judgement(Verdict.failed, why)
    return Judgement(Verdict.bare if comparison.unsaid else Verdict.passed)


class _Comparison:
    """One comparison: what matchers have bound so far, and whether something was left unsaid."""

    def __init__(self, reports: frozenset[str]) -> None:
        self._reports = reports
        self._bound: dict[str, Any] = {}
        self.unsaid = False

    def answer(self, expect: Json, answer: Json) -> str:
        """Why the answer is wrong; empty when it is right."""
        kind = next(kind for kind in ("ok", "refused", "steps") if kind in expect)
        if kind not in answer:
            return _other_kind(kind, answer)
        if kind == "steps":
            return self._steps(expect["steps"], answer["steps"])
        if kind == "ok":
            why = self.value(expect["ok"], answer["ok"], "")
        else:
            why = self._refused(expect["refused"], answer["refused"])
        return why or self._beside(expect, answer)

    def _steps(self, expect: list[Json | None], answers: list[Json]) -> str:
        if len(expect) != len(answers):
            return f"{len(expect)} steps have {len(answers)} answers"
        for index, (step, answer) in enumerate(zip(expect, answers, strict=True)):
            why = "" if step is None else self.answer(step, answer)
            if why:
                return f"step {index}: {why}"
        return ""

    def _refused(self, expect: Json | list[Json], answer: Any) -> str:
        wanted = [self._reported(finding) for finding in _list(expect)]
        if not any(wanted):
            return ""
        has_words = any("text" in finding for finding in wanted)
        if answer is True:
            return f"refused without saying {', '.join(wanted[0])}"
        found = [self._reported(finding) for finding in _list(answer)]
        if not has_words:
            # The words of a refusal are the implementation's own unless the case has them.
            found = [{k: v for k, v in finding.items() if k != "text"} for finding in found]
        if sorted(map(_text, wanted)) != sorted(map(_text, found)):
            return f"refused {_shown(found)}, expected {_shown(wanted)}"
        return ""

    def _reported(self, finding: Json) -> Json:
        members = {name: finding[name] for name in REFUSAL_MEMBERS if name in finding}
        kept = {name: value for name, value in members.items() if name in self._reports}
        self.unsaid |= len(kept) < len(members)
        return kept

    def _beside(self, expect: Json, answer: Json) -> str:
        """Compare what stands beside the value or the refusal."""
        for name in ("readable", *UNLESS_STATED, "warned"):
            if name in self._reports:
                why = self._member(name, expect, answer)
                if why:
                    return why
            elif name in expect:
                self.unsaid = True
        return ""

    def _member(self, name: str, expect: Json, answer: Json) -> str:
        if name in UNLESS_STATED:
            # An adapter may not know every verdict on every log, and an answer to any other op has none.
            if name not in answer:
                self.unsaid |= name in expect
                return ""
            unstated = UNLESS_STATED[name]["refused" in expect]
            wanted, found = expect.get(name, unstated), answer.get(name)
        elif name not in expect and "refused" in expect:
            # Beside a refusal warnings are only compared when the case is about one.
            return ""
        else:
            wanted, found = expect.get(name), answer.get(name)
        if name == "warned":
            wanted, found = (
                [self._reported(f) for f in _list(value or [])] for value in (wanted, found)
            )
        if _text(wanted) != _text(found):
            return f"{name}: {_shown(found)}, expected {_shown(wanted)}"
        return ""

    def value(self, expect: Any, answer: Any, path: str) -> str:
        """Where two JSON values first differ, and how; empty when they do not."""
        if isinstance(expect, dict):
            if MATCH in expect:
                return self._match(expect, answer, path)
            if LITERAL in expect:
                expect = expect[LITERAL]
            return self._object(expect, answer, path)
        if isinstance(expect, list) and isinstance(answer, list):
            for index, (one, other) in enumerate(zip(expect, answer, strict=False)):
                why = self.value(one, other, path + pointer(index))
                if why:
                    return why
            if len(expect) != len(answer):
                return f"{_place(path)}{len(answer)} entries, expected {len(expect)}"
            return ""
        return "" if _same(expect, answer) else _difference(path, answer, expect)

    def _object(self, expect: Json, answer: Any, path: str) -> str:
        if not isinstance(answer, dict):
            return _difference(path, answer, expect)
        if expect.keys() != answer.keys():
            odd = sorted(expect.keys() ^ answer.keys())[0]
            kind = "is missing" if odd in expect else "is not expected"
            return f"{_place(path)}the member {_shown(odd)} {kind}"
        for name, wanted in expect.items():
            why = self.value(wanted, answer[name], path + pointer(name))
            if why:
                return why
        return ""

    def _match(self, matcher: Json, answer: Any, path: str) -> str:
        if not _MATCHERS[matcher[MATCH]](answer, matcher):
            return f"{_place(path)}{_shown(answer)} does not match {_shown(matcher)}"
        name = matcher.get("as")
        if name is None:
            return ""
        if name not in self._bound:
            self._bound[name] = answer
        return "" if _same(self._bound[name], answer) else f"{_place(path)}another {name}"


def _is_integer(value: Any, matcher: Json) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return float(value).is_integer() and value >= matcher.get("minimum", value)


def _is_string(value: Any, matcher: Json) -> bool:
    return isinstance(value, str) and re.search(matcher.get("pattern", ""), value) is not None


_MATCHERS = {
    "any": lambda _value, _matcher: True,
    "integer": _is_integer,
    "string": _is_string,
}


def _other_kind(kind: str, answer: Json) -> str:
    if "refused" in answer:
        refused, note = answer["refused"], answer.get("note")
        said = _shown(refused) if refused is not True else _shown(note) if note else "the input"
        return f"refused {said}, expected {kind}"
    found = next((name for name in ("ok", "steps") if name in answer), "nothing")
    return f"{found} {_shown(answer.get(found))}, expected {kind}"


def _same(one: Any, other: Any) -> bool:
    """Whether two values without matchers are equal as JSON: `1` is `1.0` and no `true`."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _difference(path: str, answer: Any, expect: Any) -> str:
    return f"{_place(path)}{_shown(answer)}, expected {_shown(expect)}"


def _place(path: str) -> str:
    return f"{path}: " if path else ""


def _shown(value: Mapping[str, Any] | Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 160 else text[:160] + "..."
