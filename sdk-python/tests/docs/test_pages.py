"""Every block of code in the guide and the readme works, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
from pathlib import Path
from typing import Any

import pages
import pytest
from typer.testing import CliRunner

from dsh_protocol.cli import app

_NOT_RUN = ("pip install ", "git clone ")


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which the recordings stand where they stand in a clone, and no endpoint to be asked."""
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    (tmp_path / "conformance").symlink_to(pages.ROOT / "conformance")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_python(block: pages.Block, page: Path, names: dict[str, Any]) -> str:
    padded = "\n" * block.line + block.text
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(padded, page, "exec"), names)
    return printed.getvalue()


def run_shell(block: pages.Block) -> str:
    printed = ""
    for command, code in pages.commands(block):
        program, *arguments = shlex.split(command)
        if program == "dsh-protocol":
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == code, f"{command}: {result.output}"
            printed += result.stdout
        elif program.startswith("scripts/"):
            script = pages.ROOT / program
            assert script.is_file(), command
            assert os.access(script, os.X_OK), command
        else:
            assert command.startswith(_NOT_RUN), command
    return printed


@pytest.mark.parametrize("page", pages.pages(), ids=lambda page: page.name)
def test_page(page: Path, workplace: Path) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    for block in pages.blocks(page):
        printed = ""
        if block.language == "python":
            printed = run_python(block, page, names)
        elif block.language == "sh":
            printed = run_shell(block)
        elif block.language == "json":
            json.loads(block.text)
        else:
            pytest.fail(f"{page.name}, line {block.line}: nobody looks at {block.language!r}")
        if block.output is not None:
            assert pages.matches(printed, block.output), f"line {block.line} prints\n{printed}"


def test_the_pages_say_something() -> None:
    found = [block for page in pages.pages() for block in pages.blocks(page)]
    assert sum(block.language == "python" for block in found) > 12
    assert sum(block.language == "sh" for block in found) > 12
    assert sum(block.output is not None for block in found) > 12


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\n", False),
        ("a\nb\nc\n", "a\n...\n", True),
        ("a\nb\nc\n", "a\n...\nc\n", True),
        ("a\nc\n", "a\n...\nc\n", True),
        ("a\nb\nc\n", "...\nb\n", False),
        ("a: 17 x\n", "a: ...\n", True),
        ("a.\n", "ab\n", False),
        ("ab\n", "a.\n", False),
    ],
)
def test_what_a_page_shows_is_compared(printed: str, expected: str, same: bool) -> None:
    assert pages.matches(printed, expected) is same
