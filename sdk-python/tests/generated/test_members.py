"""What is said about single members, their history and who enforces them, agrees with the schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from _generate.data import load_yaml
from _generate.errors import GenerateError
from _generate.layout import HERE
from _generate.members import check_members

BUNDLES = {
    name: json.loads((HERE.generated / "bundled" / f"{name}.schema.json").read_bytes())
    for name in ("session-v3", "session-v4", "wire")
}


def history() -> Any:
    return load_yaml(HERE.spec, "session/member_history")


def enforcement() -> Any:
    return load_yaml(HERE.spec, "session/enforcement")


def member(type_: str, path: str, *formats: int, **more: Any) -> dict[str, Any]:
    return {"type": type_, "path": path, "formats": list(formats), "note": "So it is.", **more}


def enforced(types: list[dict[str, Any]], type_: str) -> Any:
    return next(entry for entry in types if entry["type"] == type_)


def test_they_agree() -> None:
    check_members(history(), enforcement(), BUNDLES)
    assert len(enforcement()["types"]) == 62


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (member("tool/call", "/colour", 4), "format 4 has it: False, said: True"),
        (member("turn/start", "/turn", 2, 3), "format 4 has it: True, said: False"),
        (member("job/settled", "/status", 3, 4), "format 3 has it: False, said: True"),
        (member("turn/end", "/reason/kind", 3, 4, value="forked"), "said twice|format 3 has it"),
        (member("plan/mode", "/active", 3, 4, value=1), "format 4 has it: False, said: True"),
        (member("web/deepseek-search-llm-request", "/body/thinking", 4), "said twice"),
    ],
)
def test_a_wrong_history_is_refused(entry: dict[str, Any], said: str) -> None:
    wrong = history()
    wrong["members"].append(entry)
    with pytest.raises(GenerateError, match=said):
        check_members(wrong, enforcement(), BUNDLES)


def _without(types: list[dict[str, Any]], type_: str) -> None:
    types.remove(enforced(types, type_))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda types: _without(types, "todo/write"), "todo/write: not in both lists of types"),
        (lambda types: types.append(types[0]), "a type is listed twice"),
        (
            lambda types: enforced(types, "plan/mode")["schema_only"].append("/colour"),
            "plan/mode /colour: no member of the payload",
        ),
        (
            lambda types: enforced(types, "approval/asked")["schema_only"].remove("/callId"),
            "approval/asked, format 4: /callId: not listed",
        ),
        (
            lambda types: enforced(types, "command/run")["schema_only"].append("/commandId"),
            "command/run, format 3: /commandId: listed twice",
        ),
        (
            lambda types: enforced(types, "team/task")["enforced"][-1].update(path="/task/when"),
            "team/task /task/when: no member of the payload",
        ),
    ],
)
def test_a_wrong_enforcement_is_refused(
    spoil: Callable[[list[dict[str, Any]]], object], said: str
) -> None:
    wrong = enforcement()
    spoil(wrong["types"])
    with pytest.raises(GenerateError, match=said):
        check_members(history(), wrong, BUNDLES)
