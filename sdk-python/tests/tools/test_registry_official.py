"""Random registrations, restrictions and removals: after each of them the official registry sees what ours sees."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from official import Official, official_runtime

from dsh_protocol.conformance.adapter import _tools

Json = Any

OWNERS = [None, "plugin", "root", "mid", "leaf"]
SCOPES = [None, "root", "mid", "leaf", "stranger"]
START = [
    {"do": "start"},
    {"do": "plugin", "name": "plugin"},
    {"do": "scope", "name": "root"},
    {"do": "scope", "name": "mid", "parent": "root"},
    {"do": "scope", "name": "leaf", "parent": "mid"},
    {"do": "scope", "name": "stranger"},
    {"do": "on-change", "as": "change"},
]
NAMES = st.sampled_from(["a", "b", "c", "run_code"])
OUTPUTS: st.SearchStrategy[Json] = st.sampled_from(
    [*[{"schema": {}}] * 4, {"schema": {"type": "any"}}, None]
)
TOOLS = st.fixed_dictionaries(
    {
        "name": NAMES,
        "description": st.sampled_from(["one", "two"]),
        "parameters": st.sampled_from([{}, {"b": 1, "a": [], "1": None}]),
        "output": OUTPUTS,
        "execute": st.just({"returns": 1}),
    },
    optional={
        "deferLoading": st.booleans(),
        "timeoutMs": st.sampled_from([5, 0, "5"]),
        "isConcurrencySafe": st.booleans(),
        "secret": st.just(1),
    },
)


def _step(do: str, **members: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    return st.fixed_dictionaries({"do": st.just(do), **members})


OWNER = st.sampled_from(OWNERS)
SCOPE = st.sampled_from(SCOPES)
LISTS = st.lists(NAMES | st.just("unknown"), max_size=3)
CALL = st.builds(lambda name: {"callId": "c", "name": name, "arguments": {}}, NAMES)
STEPS = st.one_of(
    *[_step("register", owner=OWNER, tool=TOOLS)] * 4,
    _step("restrict", owner=OWNER, allow=LISTS),
    _step("restrict", owner=OWNER, deny=LISTS),
    _step("restrict", owner=OWNER, allow=LISTS, deny=LISTS),
    _step("restrict", owner=OWNER),
    _step("guard", owner=OWNER, reason=st.just("guarded")),
    _step("dispose", of=st.integers(0, 12)),
    _step("unload", owner=st.sampled_from(["plugin", "leaf"])),
    _step("schemas", scope=SCOPE),
    _step("provide", scope=SCOPE),
    _step("mode", scope=SCOPE, call=CALL),
    _step("execute", scope=SCOPE, call=CALL),
)


RULE_OF = {
    "requires a scoped context": "tools/restrict-scope",
    "is a no-op": "tools/restrict-empty",
    "cannot name reserved": "tools/restrict-reserved",
    "names unknown global tool": "tools/restrict-unknown",
    "must declare output": "tools/output-missing",
    "unsupported JSON schema": "tools/schema-subset",
    "timeoutMs must be a positive": "tools/timeout",
    "is reserved for the PTC mode": "tools/name-reserved",
    "is already registered": "tools/duplicate-name",
}
"""What the official texts say, and the rules that this project has for it."""


def _present(members: Json) -> Json:
    return {name: value for name, value in members.items() if value is not None}


def scenario(drawn: list[Json]) -> Json:
    """The steps, with a label for each registration, disposals of those that worked, and a look at everything in the end."""
    steps = list(START)
    worked: list[str] = []
    for each in drawn:
        step = _present(each)
        if "tool" in step:
            step["tool"] = _present(step["tool"])
        if step["do"] == "dispose":
            if step["of"] >= len(worked):
                continue
            step["of"] = worked[step["of"]]
        elif step["do"] in ("register", "restrict", "guard"):
            step["as"] = f"r{len(steps)}"
            if "ok" in _tools.run({"steps": [*steps, step]}, 4)["steps"][-1]:
                worked.append(step["as"])
        steps.append(step)
    looks = [{"do": "provide", **({"scope": scope} if scope else {})} for scope in SCOPES]
    return {"steps": [*steps, *looks, {"do": "calls"}]}


@pytest.fixture(scope="module")
def runtime() -> Iterator[Official]:
    with official_runtime() as running:
        yield running


def _comparable(answer: Json) -> list[Json]:
    """What each step answered; of a refusal the code, or the rule."""
    return [_refusal(each["refused"]) if "refused" in each else each for each in answer["steps"]]


def _refusal(refused: Json) -> str:
    known = refused.get("rule") or refused.get("code")
    if known is not None:
        return str(known)
    return next(rule for said, rule in RULE_OF.items() if said in refused["text"])


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(drawn=st.lists(STEPS, min_size=3, max_size=14))
def test_a_registry(runtime: Official, drawn: list[Json]) -> None:
    steps = scenario(drawn)
    assert _comparable(_tools.run(steps, 4)) == _comparable(runtime.answer("tools.run", steps))
