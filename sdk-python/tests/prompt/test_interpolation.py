"""References to variables. Expected values: the vectors of the reference, a second algorithm and the official library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from official import official_runtime

from dsh_protocol.findings import PromptError
from dsh_protocol.prompt import interpolate

MALFORMED = "prompt/reference-malformed"
NAME = "prompt/reference-name"


def ours(text: str, variables: Mapping[str, str | None]) -> str:
    return interpolate(text, variables, kind="section", name="s")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a {{x}} b", "a 1 b"),
        ("{{x}}}", "1}"),
        ("{{x}} and lone {{", "1 and lone {{"),
        ("{{x}}{{x}}", "11"),
        *((text, text) for text in ("a {{ b", "a {{ b }", "{{{{", "}} {{", "x}}", "{ {x}}", "")),
    ],
)
def test_vectors(text: str, expected: str) -> None:
    assert ours(text, {"x": "1"}) == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *(
            (text, MALFORMED)
            for text in ("lone {{ and {{x}}", "{{{x}}}", "{{{x}}", "{{{{x}}}}", "a{{b{c}}d")
        ),
        ("a {{ b } }} c", MALFORMED),
        *((text, NAME) for text in ("{{ x }}", "{{}}", "{{X}}", "{{__proto__}}", "{{\nx}}")),
        *((text, NAME) for text in ("{{x\n}}", "{{é}}", "{{1}}")),
        ("{{y}}", "prompt/reference-unknown"),
        ("{{constructor}}", "prompt/reference-unknown"),
        ("{{none}}", "prompt/reference-no-value"),
    ],
)
def test_refused_vectors(text: str, code: str) -> None:
    with pytest.raises(PromptError) as error:
        ours(text, {"x": "1", "none": None})
    assert error.value.code == code
    assert error.value.fix


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "lone {{ and {{x}}",
            'malformed prompt variable reference at "{{ and {{x}}…" in context "a"b" '
            "(references are complete simple {{name}} groups)",
        ),
        (
            "{{{45678901234567890}}",
            'malformed prompt variable reference at "{{{4567890123456…" in context "a"b" '
            "(references are complete simple {{name}} groups)",
        ),
        (
            "{{ x }}",
            'malformed prompt variable reference "{{ x }}" in context "a"b" '
            "(variable names match /^[a-z][a-z0-9_]*$/)",
        ),
        (
            "{{y}}",
            'unknown prompt variable "{{y}}" in context "a"b"; registered variables: x, none',
        ),
        ("{{none}}", 'prompt variable "{{none}}" has no value for this assembly (context "a"b")'),
    ],
)
def test_texts_of_errors(text: str, message: str) -> None:
    with pytest.raises(PromptError) as error:
        interpolate(text, {"x": "1", "none": None}, kind="context", name='a"b')
    assert error.value.message == message


def test_a_surrogate_pair_may_be_cut() -> None:
    with pytest.raises(PromptError) as error:
        ours("{{{456789012345\U0001f600}}", {})
    assert '"{{{456789012345\ud83d…"' in error.value.message


def test_no_variable_at_all() -> None:
    with pytest.raises(PromptError, match=re.escape("registered variables: (none)")):
        ours("{{y}}", {})


def test_values_are_not_scanned_again() -> None:
    assert ours("{{x}} {{y}}", {"x": "{{y}}", "y": "{{"}) == "{{y}} {{"


def test_a_value_that_is_no_string_is_refused() -> None:
    with pytest.raises(PromptError, match="is no string") as error:
        ours("{{x}}", {"x": 5})  # type: ignore[dict-item]
    assert error.value.code == "prompt/variable-value"


# ---- A second algorithm ---------------------------------------------------------------------------------------------

VARIABLES = {"x": "1", "y_2": "{{x}}", "none": None, "empty": ""}


class Refused(Exception):
    """What the second algorithm says instead of a text."""


def theirs(text: str, variables: Mapping[str, str | None]) -> str:
    """The same by one substitution: a group, or two braces that are no group."""

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            if "}}" in text[match.end() :]:
                raise Refused(MALFORMED)
            return match[0]
        if not re.fullmatch("[a-z][a-z0-9_]*", name):
            raise Refused(NAME)
        if name not in variables:
            raise Refused("prompt/reference-unknown")
        value = variables[name]
        if value is None:
            raise Refused("prompt/reference-no-value")
        return value

    return re.sub(r"\{\{(?:([^{}]*)\}\})?", replace, text)


PIECES = st.sampled_from(
    [
        *("{{", "}}", "{", "}", "x", "y_2", "{{x}}", "{{y_2}}", "{{none}}", "{{empty}}", "{{no}}"),
        *(" ", "\n", "X", "_", "a", "\U0001f600", "\ud83d", "\ufffd", '"'),
    ]
)
TEXTS = st.lists(PIECES, max_size=12).map("".join)


@given(TEXTS)
@settings(max_examples=2000, deadline=None)
def test_against_a_second_algorithm(text: str) -> None:
    try:
        expected: str | Refused = theirs(text, VARIABLES)
    except Refused as refused:
        expected = refused
    if isinstance(expected, str):
        assert ours(text, VARIABLES) == expected
        return
    with pytest.raises(PromptError) as error:
        ours(text, VARIABLES)
    assert error.value.code == str(expected)


def rendered(text: str, kind: Any, name: str) -> str:
    """The text, or the text of the error: the official library tells them apart by their place."""
    try:
        return interpolate(text, VARIABLES, kind=kind, name=name)
    except PromptError as error:
        return error.message


def test_against_the_official_library() -> None:
    with official_runtime() as official:

        @given(
            TEXTS, st.sampled_from(["section", "context"]), st.sampled_from(["n", 'a"é\U0001f600'])
        )
        @example("{{{45678901234\U0001f600}}", "section", "n")
        @settings(max_examples=400, deadline=None)
        def compare(text: str, kind: str, name: str) -> None:
            variables = [
                {"name": key} if value is None else {"name": key, "value": value}
                for key, value in VARIABLES.items()
            ]
            given_ = {"text": text, "variables": variables, "kind": kind, "name": name}
            answer = official.answer("prompt.interpolate", given_)
            assert answer.get("ok", answer.get("refused")) == {"text": rendered(text, kind, name)}

        compare()
