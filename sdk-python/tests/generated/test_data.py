"""The YAML files of `spec/` are refused when they are not what they have to be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from _generate.data import compile_rules, load_yaml
from _generate.errors import GenerateError
from _generate.layout import HERE
from _generate.vocabulary import check_vocabulary

RULES = """\
defaults: {severity: error, since: 3, until: null, source: released}
rules:
  - id: json/one
    statement: It is so.
    message: "it is not: {found}"
    remedy: Make it so.
    level: json
    read: refuse
"""
BUNDLES = {
    name: json.loads((HERE.generated / "bundled" / f"{name}.schema.json").read_bytes())
    for name in ("session-v3", "session-v4", "wire")
}


def spec(folder: Path, rules: str) -> Path:
    (folder / "rules").mkdir()
    shape = HERE.spec / "rules" / "rules.schema.json"
    (folder / "rules" / shape.name).write_bytes(shape.read_bytes())
    (folder / "rules" / "toy.yaml").write_text(rules, encoding="utf-8")
    return folder


def test_a_rule_takes_what_it_leaves_out_from_the_defaults(tmp_path: Path) -> None:
    (rule,) = compile_rules(spec(tmp_path, RULES + "    since: 4\n"))
    assert (rule["severity"], rule["since"], rule["until"]) == ("error", 4, None)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (RULES.replace("json/one", "JSON/One"), r"\$\.rules\[0\]\.id"),
        (RULES.replace("    remedy: Make it so.\n", ""), "'remedy' is a required property"),
        (RULES + "    colour: red\n", "'colour' was unexpected"),
        (RULES.replace("{found}", "{found"), r"\$\.rules\[0\]\.message"),
        (RULES.replace("level: json", "level: jsonl"), r"\$\.rules\[0\]\.level"),
        (RULES + "    until: 2\n", "until is before since"),
        (RULES + "    level: json\n", 'the key "level" occurs twice'),
        (RULES + RULES.partition("rules:\n")[2], "two rules have this id"),
        (RULES + ": [", "toy.yaml"),
    ],
)
def test_a_wrong_rule_is_refused(tmp_path: Path, rules: str, said: str) -> None:
    with pytest.raises(GenerateError, match=said):
        compile_rules(spec(tmp_path, rules))


def vocabulary() -> Any:
    return load_yaml(HERE.spec, "session/vocabulary")


def test_the_vocabulary_and_the_schemas_agree() -> None:
    check_vocabulary(vocabulary(), BUNDLES)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ({"type": "turn/begin"}, "turn/begin: OpaqueEvent takes it as unknown"),
        ({"schema": False}, "turn/start: has a schema in one of"),
        ({"surface": True}, "turn/start: surface is not what"),
        ({"formats": [4]}, "format 3: 57 types, counts say 58"),
        ({"type": "turn/end"}, "turn/end: listed twice"),
    ],
)
def test_a_difference_between_them_is_named(spoil: dict[str, Any], said: str) -> None:
    wrong = vocabulary()
    wrong["types"][0].update(spoil)
    with pytest.raises(GenerateError, match=said):
        check_vocabulary(wrong, BUNDLES)
