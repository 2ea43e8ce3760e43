"""One log, asked of both sides: whether they differ, and whether that difference is a known one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from dsh_protocol.conformance.adapter import answer
from dsh_protocol.conformance.judge import judge
from dsh_protocol.rules import rules

from .texts import Text
from .writer import Json, Log
from .writing import writing_questions

Ask = Callable[[str, Json], Json]
"""An op and its input, to the answer of the official runtime."""

_OPS = ("check", "fold", "messages")
_ACCIDENT = "Cannot read properties of"
"""How a refusal begins that nobody meant: a check, behind the reader, that relies on a value which it has not looked at."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two answers to one question that are not the same. `reason` says why, where that is known."""

    op: str
    ours: Json
    theirs: Json
    reason: str | None


def text_differences(text: Text, version: int, ask: Ask) -> list[Difference]:
    """What the two sides say differently about the text of a log."""
    given = text.given()
    ours, theirs = answer("check", given, version), ask("check", given)
    if "unsupported" in theirs or _agree("check", ours, theirs):
        return []
    return [Difference("check", ours, theirs, _reason(ours, theirs))]


def differences(log: Log, version: int, ask: Ask) -> list[Difference]:
    """What the two sides say differently about a log.

    A session is only ever built from what a reader has let through: where the official check does not accept, only a refusal
    of its fold has to be ours, too, and none that is about the header or a seed, which a fold here does not look at.
    """
    given = {"header": log.header, "events": log.events}
    ours = {op: _ours(op, given, version) for op in _OPS}
    theirs = {op: ask(op, given) for op in _OPS}
    accepted = "ok" in theirs["check"]
    found = []
    for op in _OPS:
        if op != "check" and (
            _is_about_header(ours["check"]) or not (accepted or "refused" in theirs[op])
        ):
            continue
        if "unsupported" not in theirs[op] and not _agree(op, ours[op], theirs[op]):
            found.append(
                Difference(op, ours[op], theirs[op], _reason(ours["check"], theirs["check"]))
            )
    return found


def writing_differences(
    rng: random.Random, log: Log, version: int, ask: Ask
) -> tuple[int, list[Difference]]:
    """What the two sides say differently about going on with a log, and how many questions that were."""
    asked, found = 0, []
    for op, given in writing_questions(rng, log, version):
        ours, theirs = answer(op, given, version), ask(op, given)
        asked += 1
        if not _agree(op, ours, theirs):
            found.append(Difference(op, ours, theirs, _reason(ours, theirs)))
    return asked, found


def _ours(op: str, given: Json, version: int) -> Json:
    if op != "check" and given["header"].get("version") != version:
        return {"refused": True}
    return answer(op, given, version)


def _is_about_header(checked: Json) -> bool:
    return any(finding["rule"].startswith(("header/", "seed/")) for finding in _refusals(checked))


def _codes(answered: Json) -> list[str | None]:
    return [refusal.get("code") for refusal in _refusals(answered)]


def _refusals(answered: Json) -> list[Json]:
    refused = answered.get("refused", [])
    return refused if isinstance(refused, list) else [refused]


def _agree(op: str, ours: Json, theirs: Json) -> bool:
    if op == "fork" and "refused" in ours:
        return _codes(ours) == _codes(theirs)
    if "ok" in ours:
        return judge({"ok": ours["ok"]}, theirs, ()).verdict == "passed"
    return "refused" in theirs and (op != "check" or ours.get("readable") == theirs.get("readable"))


def _reason(ours: Json, theirs: Json) -> str | None:
    """Why one side alone refuses a log, where that is known: a rule with a divergence, or an accident of the runtime."""
    if theirs.get("readable") and theirs.get("note", "").startswith(_ACCIDENT):
        return "accident"
    found = sorted(finding["rule"] for finding in _refusals(ours) if "rule" in finding)
    return next((name for name in found if rules()[name].divergence is not None), None)


def shown(difference: Difference) -> Json:
    """A difference as JSON."""
    return {
        "op": difference.op,
        "ours": difference.ours,
        "theirs": difference.theirs,
        "reason": difference.reason,
    }
