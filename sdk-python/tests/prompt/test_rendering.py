"""Texts of an assembly. Expected values: section 5 of the reference."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_protocol.findings import PromptError
from dsh_protocol.prompt import (
    ContextText,
    PromptAssembly,
    PromptText,
    join_context_sections,
    render_context_sections,
    render_context_snapshot,
    render_prompt,
)

HEADER = "Current runtime context. This snapshot supersedes earlier runtime-context snapshots."


def prompt(*texts: str) -> str:
    sections = [PromptText(str(index), text) for index, text in enumerate(texts)]
    return render_prompt(PromptAssembly(sections=sections, variables={"e": "", "x": "1"}))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], ""),
        ([""], ""),
        (["a", "b"], "a\n\nb"),
        (["a", "", "{{e}}", "b"], "a\n\nb"),
        (["a", " ", "b"], "a\n\n \n\nb"),
        (["B\n", "\nC"], "B\n\n\n\nC"),
        (["{{x}}{{e}}"], "1"),
    ],
)
def test_prompts(texts: list[str], expected: str) -> None:
    assert prompt(*texts) == expected


def test_contexts_and_their_snapshot() -> None:
    contexts = [
        PromptText("a", "{{x}}"),
        PromptText("b", ""),
        PromptText("c", "{{x}}", interpolate=False),
        PromptText("d", "{{y}}"),
    ]
    assembly = PromptAssembly(contexts=contexts, variables={"x": "1", "y": ""})
    assert [c.to_json() for c in render_context_sections(assembly)] == [
        {"name": "a", "text": "1"},
        {"name": "c", "text": "{{x}}"},
    ]
    assert render_context_snapshot(assembly) == f"{HEADER}\n\n1\n\n{{{{x}}}}"
    assert render_context_snapshot(PromptAssembly()) == ""


@pytest.mark.parametrize(
    ("texts", "expected"),
    [([], ""), ([""], ""), (["", ""], f"{HEADER}\n\n\n\n"), (["a"], f"{HEADER}\n\na")],
)
def test_joining_filters_nothing(texts: list[str], expected: str) -> None:
    assert join_context_sections([ContextText("n", text) for text in texts]) == expected


@pytest.mark.parametrize("interpolate", [None, False])
@pytest.mark.parametrize("text", [5, None, ["a"]])
def test_a_text_that_is_no_string(text: Any, interpolate: bool | None) -> None:
    entry = PromptText("mine", text, interpolate)
    assembly = PromptAssembly(sections=[entry], contexts=[entry])
    for render in (render_prompt, render_context_sections):
        with pytest.raises(PromptError, match='"mine"') as error:
            render(assembly)
        assert error.value.code == "prompt/text-type"
