"""The reference pages that `scripts/docs` writes: every type, every rule, every schema, and links that lead somewhere."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

import pages
import pytest
import yaml

from _docs.__main__ import pages as reference_pages
from _docs.markdown import Page, code, plain
from dsh_protocol.reference import event_types
from dsh_protocol.rules import rules
from dsh_protocol.schemas import schema_names

_LINK = re.compile(r"\]\((?P<target>[^)#:]+)(?:#(?P<anchor>[^)]+))?\)")
_ANCHOR = re.compile(r"\{ #(?P<anchor>\S+) \}$", re.MULTILINE)
_BLOCK = re.compile(r"^(`{3,}).*?^\1$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    found = list(reference_pages(pages.ROOT / "spec" / "examples"))
    assert len({page.path for page in found}) == len(found)
    return {f"reference/{page.path}": page.text for page in found}


def test_every_event_type_has_a_page_with_examples(reference: dict[str, str]) -> None:
    for entry in event_types().values():
        text = reference[f"reference/events/{entry.type.replace('/', '.')}.md"]
        for version in entry.formats:
            assert f"## Format {version}" in text
        for part in ("### Example: minimal", "### Example: maximal", "### Refused"):
            assert text.count(part) == len(entry.formats), (entry.type, part)
        for member in entry.members:
            assert not member.path or code(member.path) in text


def test_every_rule_has_a_section_with_its_cases(reference: dict[str, str]) -> None:
    for rule_id, entry in rules().items():
        area, _, name = rule_id.partition("/")
        text = reference[f"reference/rules/{area}.md"]
        assert f"## {rule_id} {{ #{name} }}" in text
        assert plain(entry.statement) in text
    assert sum(text.count("\nBroken: ") for text in reference.values()) > len(rules()) - 10


def test_every_schema_is_listed(reference: dict[str, str]) -> None:
    for name in schema_names():
        if name.rpartition("/")[2][0].isupper():
            assert code(name) in reference["reference/schemas.md"]


def test_links_lead_somewhere(reference: dict[str, str]) -> None:
    docs = pages.ROOT / "docs"
    texts = reference | {path.name: path.read_text(encoding="utf-8") for path in docs.glob("*.md")}
    count = 0
    for name, text in texts.items():
        for link in _LINK.finditer(_BLOCK.sub("", text)):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), link["target"]))
            assert target in texts, f"{name}: {link[0]}"
            if link["anchor"]:
                anchors = {found["anchor"] for found in _ANCHOR.finditer(texts[target])}
                assert link["anchor"] in anchors, f"{name}: {link[0]}"
            count += 1
    assert count > 200


def test_every_page_of_the_guide_is_in_the_navigation() -> None:
    def leaves(nav: object) -> list[str]:
        if isinstance(nav, dict):
            nav = list(nav.values())
        return [nav] if isinstance(nav, str) else [x for part in nav for x in leaves(part)]  # type: ignore[attr-defined]

    config = yaml.safe_load((pages.ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = {name for name in leaves(config["nav"]) if not name.startswith("reference/")}
    assert listed == {path.name for path in (pages.ROOT / "docs").glob("*.md")}
    assert config["plugins"] == ["search"]


def test_values_cannot_break_a_table() -> None:
    page = Page("x.md", "X")
    page.table(("a",), [(code("x|<b>`"),), (plain("y|*z*"),)])
    assert page.text.count("|") == 2 * 4
    assert "<b>" not in page.text


def test_the_reference_is_not_committed() -> None:
    ignored = Path(pages.ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"docs/reference/", "site/"} <= set(ignored)
