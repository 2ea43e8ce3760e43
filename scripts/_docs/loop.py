"""What a loop writes: the rules of `spec/loop`, on one page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import dsh_protocol_data

from .markdown import Page, plain

_SOURCES = {
    "released": "released behaviour, measured",
    "seed-000": "the design of prompts on the surface; no release follows it",
    "seed-004": "the design of prompt assembly; no release follows it",
}


def pages() -> Iterator[Page]:
    """The page."""
    page = Page("loop.md", "What a loop writes")
    page.paragraph(
        "What enters the log before each request and around it. These rules bind no reader; who follows them writes what the "
        "releases write."
    )
    for rule in dsh_protocol_data.load("loop_rules")["rules"]:
        _section(page, rule)
    yield page


def _section(page: Page, rule: dict[str, Any]) -> None:
    page.heading(rule["id"], anchor=_anchor(rule["id"]))
    page.paragraph(plain(rule["statement"]))
    items = [f"**Formats**: {_formats(rule)}", f"**Source**: {_SOURCES[rule['source']]}"]
    if "divergence" in rule:
        items.append(f"**Divergence**: {plain(rule['divergence'])}")
    if "supersedes" in rule:
        earlier = rule["supersedes"]
        items.append(f"**In the place of**: [{earlier}](#{_anchor(earlier)})")
    page.bullets(items)


def _formats(rule: dict[str, Any]) -> str:
    since, until = rule["since"], rule["until"]
    if until is None:
        return f"{since} and later"
    return str(since) if since == until else f"{since} to {until}"


def _anchor(rule_id: str) -> str:
    return str(rule_id).partition("/")[2]
