"""The case format: what it takes, that later ops fit in without a change, references, suites and their names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from suites import ROOT, corpus

from dsh_protocol.conformance.cases import Corpus, find_corpus
from dsh_protocol.conformance.errors import CorpusError
from dsh_protocol.conformance.references import References, without_members
from dsh_protocol.conformance.trace import trace

Json = dict[str, Any]
SCHEMA = Draft202012Validator(json.loads((ROOT / "case.schema.json").read_bytes()))
CASE = {
    "id": "area/subject/what",
    "title": "A thing",
    "rules": [],
    "formats": [4],
    "op": "some.op",
    "input": {},
    "expect": {"ok": 1},
}


def suite(**case: Any) -> Json:
    return {"caseFormat": 1, "suite": "area", "cases": [{**CASE, **case}]}


FINDING = {"rule": "inbox/known", "seq": 3, "path": ""}
LATER: list[Json] = [
    {
        "op": "append",
        "input": {
            "header": {"version": 4},
            "events": [],
            "steps": [{"do": "append", "event": {"type": "turn/start"}}, {"do": "surface"}],
        },
        "expect": {
            "steps": [
                {"ok": {"seq": 0, "time": {"$match": "integer", "as": "now"}}},
                {"refused": FINDING},
                None,
            ]
        },
    },
    {
        "op": "fork",
        "input": {"lines": ["{}"], "at": 7, "child": {"id": "s-2"}},
        "expect": {"ok": {"lines": [{"$match": "string"}]}},
    },
    {"op": "repair", "input": {"base64": "AAAA"}, "expect": {"refused": [FINDING, FINDING]}},
    {
        "op": "prompt.assemble",
        "input": {"steps": [{"do": "register", "key": "a"}, {"do": "dispose", "key": "a"}]},
        "expect": {"steps": [{"ok": None}, {"ok": [{"text": {"$match": "string"}}]}]},
        "cites": ["decision-000:replace-later", "type:turn/start"],
    },
    {
        "op": "loop.replay",
        "input": {"script": {"$file": "recordings/v4/plain/script.json", "as": "json"}},
        "expect": {"ok": {"lines": {"$file": "recordings/x.jsonl", "as": "lines"}}},
    },
    {
        "op": "wire.parse",
        "input": {"wire": "deepseek-messages", "text": "data: {}"},
        "expect": {"refused": {"code": "INVALID_RESPONSE", "path": "/text"}},
    },
    {"op": "migrate", "input": {"lines": []}, "expect": {"ok": {"lines": []}}},
    {"op": "compaction.range", "input": {"header": {}}, "expect": {"ok": {"start": 1}}},
    {"op": "tokens.estimate", "input": {"text": ""}, "expect": {"ok": {"tokens": 0}}},
    {"op": "transcript", "input": {"lines": []}, "expect": {"ok": []}},
    {"op": "inspect", "input": {"lines": []}, "expect": {"ok": {}}},
    {"op": "snapshot.normalize", "input": {"lines": []}, "expect": {"ok": {}}},
]


@pytest.mark.parametrize("case", LATER, ids=lambda case: case["op"])
def test_ops_to_come_need_no_other_format(case: Json) -> None:
    assert [error.message for error in SCHEMA.iter_errors(suite(**case))] == []


@pytest.mark.parametrize(
    "case",
    [
        {"id": "area/what"},
        {"id": "Area/subject/what"},
        {"title": "It should be refused."},
        {"formats": []},
        {"op": "Fold"},
        {"expect": {}},
        {"expect": {"ok": 1, "refused": FINDING}},
        {"expect": {"refused": {"rule": "a/b", "path": ""}}},
        {"expect": {"refused": {"seq": 1, "path": ""}}},
        {"expect": {"refused": {"code": "X", "seq": 1, "path": ""}}},
        {"expect": {"refused": {**FINDING, "path": "data"}}},
        {"expect": {"refused": [FINDING]}},
        {"expect": {"ok": {"a": {"$match": "uuid"}}}},
        {"expect": {"ok": {"$file": "../secret"}}},
        {"expect": {"ok": {"$file": "/etc/passwd"}}},
        {"expect": {"ok": {"$file": "a/../../b"}}},
        {"op": "check", "input": {"lines": []}, "expect": {"refused": FINDING}},
        {"op": "fold", "input": {"log": []}},
        {"input": {"steps": [{"do": "x"}]}},
        {"input": {"steps": [{"event": 1}]}, "expect": {"steps": [None]}},
        {"expect": {"steps": [{"ok": 1}]}},
        {"cites": ["turn/start"]},
        {"more": 1},
    ],
    ids=json.dumps,
)
def test_what_is_no_case(case: Json) -> None:
    assert not SCHEMA.is_valid(suite(**case))


def test_suites_have_cases_or_examples() -> None:
    assert SCHEMA.is_valid(suite())
    examples = {"caseFormat": 1, "suite": "a", "examples": "../x", "formats": [4]}
    assert SCHEMA.is_valid(examples)
    for wrong in (
        {**suite(), "caseFormat": 2},
        {**suite(), "examples": "../x", "formats": [4]},
        {"caseFormat": 1, "suite": "a"},
        {"suite": "a", "cases": [CASE]},
    ):
        assert not SCHEMA.is_valid(wrong)


# ---- References ------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> References:
    (tmp_path / "a.jsonl").write_bytes(b'{"a":"x"}\n{"a":"{\\"b\\":1,\\"c\\":[2, 3]}"}\n[3]\n')
    (tmp_path / "b.bin").write_bytes(b"\xff\x00")
    return References(tmp_path)


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ({"as": "lines"}, ['{"a":"x"}', '{"a":"{\\"b\\":1,\\"c\\":[2, 3]}"}', "[3]"]),
        ({"line": 2}, "[3]"),
        ({"line": 2, "as": "json"}, [3]),
        ({"lines": [0, 1]}, ['{"a":"x"}']),
        ({"lines": [2, 3], "as": "json"}, [[3]]),
        ({"line": 0, "member": "a"}, "x"),
        ({"line": 1, "member": "a", "without": ["b"]}, '{"c":[2, 3]}'),
        ({"line": 1, "member": "a", "without": ["b"], "as": "json"}, {"c": [2, 3]}),
    ],
)
def test_references(files: References, reference: Json, value: Any) -> None:
    assert files.resolve({"x": [{"$file": "a.jsonl", **reference}]}) == {"x": [value]}


def test_a_file_as_base64(files: References) -> None:
    assert files.resolve({"$file": "b.bin", "as": "base64"}) == "/wA="


@pytest.mark.parametrize(
    "reference",
    [
        {"$file": "missing"},
        {"$file": "../a.jsonl"},
        {"$file": "b.bin"},
        {"$file": "a.jsonl", "line": 9},
        {"$file": "a.jsonl", "line": 0, "member": "b"},
        {"$file": "a.jsonl", "as": "json"},
        {"$file": 5},
        {"$file": "a.jsonl", "line": "0"},
    ],
)
def test_references_that_lead_nowhere(files: References, reference: Json) -> None:
    with pytest.raises(CorpusError) as caught:
        files.resolve(reference)
    assert caught.value.code == "corpus/reference"


@pytest.mark.parametrize(
    ("text", "names", "left"),
    [
        ('{"a":1,"b":{"c":[1,2]},"d":"}"}', ["b"], '{"a":1,"d":"}"}'),
        ('{"a":1,"b":2}', ["b"], '{"a":1}'),
        ('{"a":1,"b":2}', ["a", "b"], "{}"),
        ('{"a":1.0,"b":"\\u00e9"}', ["c"], '{"a":1.0,"b":"\\u00e9"}'),
        ("{}", ["a"], "{}"),
    ],
)
def test_members_are_cut_out_of_the_text(text: str, names: list[str], left: str) -> None:
    assert without_members(text, names) == left


# ---- Suites ----------------------------------------------------------------------------------------


def test_a_name_is_a_suite_or_the_first_words_of_several() -> None:
    assert {case.suite for case in corpus().select(["fold"])} == {"fold"}
    wires = {case.suite for case in corpus().select(["wire"])}
    assert wires == {"wire", "wire-chat", "wire-messages", "wire-parse", "wire-pi-ai"}
    assert {case.op for case in corpus().select(["surface"], ["fold"])} == {"fold"}
    with pytest.raises(CorpusError, match="no suite is called"):
        corpus().select(["wir"])
    with pytest.raises(CorpusError, match="no case"):
        corpus().select(["fold"], ["check"])


def test_examples_are_cases() -> None:
    examples = {case.id: case for case in corpus().suites["schema-session-v4"].cases}
    valid = examples["schema-session-v4/turn-start/minimal"]
    assert valid.input["schema"] == "session/v4/event"
    assert valid.expect == {"ok": {"valid": True}}
    assert valid.cites == ("type:turn/start",)
    invalid = examples["schema-session-v4/turn-start/turn-zero"]
    assert invalid.cites == ()
    assert invalid.refusals == [
        {"rule": "schema/payload", "seq": None, "path": "/data/turn", "keyword": "minimum"}
    ]
    header = examples["schema-session-v4/stored-header/minimal"]
    assert header.input["schema"] == "session/v4/stored-header"


def test_the_corpus_is_found_from_any_folder_of_the_checkout(tmp_path: Path) -> None:
    assert find_corpus(ROOT / "suites") == ROOT
    assert find_corpus(ROOT.parent) == ROOT
    # From anywhere else it is that of the checkout which the package lies in.
    assert find_corpus(tmp_path) == ROOT


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "corpus/missing"),
        ("{", "corpus/malformed"),
        ("[]", "corpus/malformed"),
        (b"\xff", "corpus/malformed"),
        ("[" * 100_000, "corpus/malformed"),
        ('{"caseFormat": 2, "suite": "a", "cases": []}', "corpus/version"),
        ('{"caseFormat": 1, "suite": "a", "cases": [{}]}', "corpus/malformed"),
        ('{"caseFormat": 1}', "corpus/malformed"),
    ],
)
def test_a_corpus_that_cannot_be_read(
    tmp_path: Path, content: str | bytes | None, code: str
) -> None:
    if content is not None:
        corpus_with(tmp_path, content)
    with pytest.raises(CorpusError) as caught:
        Corpus.open(tmp_path)
    assert caught.value.code == code


def corpus_with(folder: Path, content: str | bytes) -> None:
    """A corpus of one suite."""
    data = content.encode() if isinstance(content, str) else content
    (folder / "suites").mkdir()
    (folder / "suites" / "area.json").write_bytes(data)
    for schema in ROOT.glob("*.schema.json"):
        (folder / schema.name).write_bytes(schema.read_bytes())


@pytest.mark.parametrize(
    ("case", "shown"),
    [
        ({"id": 5}, "area.json $.cases[0].id: 5 is not of type 'string'"),
        ({"formats": ["4"]}, "area.json $.cases[0].formats[0]: '4' is not of type 'integer'"),
        ({"expect": []}, "area.json $.cases[0].expect: "),
        ({"input": None}, "area.json $.cases[0].input: None is not of type 'object'"),
        ({"expect": {"ok": {"$match": "x"}}}, "area.json $.cases[0].expect.ok['$match']: "),
    ],
    ids=json.dumps,
)
def test_a_case_that_cannot_be_asked_is_named(tmp_path: Path, case: Json, shown: str) -> None:
    corpus_with(tmp_path, json.dumps(suite(**case)))
    with pytest.raises(CorpusError) as caught:
        Corpus.open(tmp_path)
    assert caught.value.code == "corpus/malformed"
    assert caught.value.message.startswith(shown)


@pytest.mark.parametrize("name", ["case.schema.json", "trace.schema.json", "trace.json"])
@pytest.mark.parametrize("content", [None, b"{", b"\xff", b"[]", b"[" * 100_000])
def test_files_of_the_corpus_that_cannot_be_read(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    corpus_with(tmp_path, json.dumps(suite()))
    (tmp_path / "trace.json").write_bytes((ROOT / "trace.json").read_bytes())
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError) as caught:
        trace(Corpus.open(tmp_path))
    assert caught.value.code == "corpus/malformed"
    assert caught.value.message.startswith(name)
