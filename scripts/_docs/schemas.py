"""The schemas that are no events: headers, rows, requests, prompts; and every definition by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dsh_protocol.schemas import schema, schema_names

from .examples import add_examples
from .markdown import Page, code, plain

_ENTRIES = (
    "session/v4/header",
    "session/v4/stored-header",
    "session/v4/stored-event",
    "session/v3/header",
    "session/v3/stored-header",
    "session/v3/stored-event",
    "wire/deepseek-messages",
    "wire/deepseek-chat",
    "wire/generate-options",
    "wire/route",
    "prompt/section",
    "prompt/context",
    "prompt/variable",
    "prompt/tool-provider-result",
    "prompt/assemble-context",
    "prompt/assembly",
    "prompt/config",
    "prompt/persona",
    "prompt/tool-definition",
    "prompt/output-schema",
    "prompt/parameter-specs",
    "prompt/value-spec",
    "prompt/tool-restriction",
    "prompt/tool-invocation",
    "prompt/tool-success",
    "prompt/tool-failure",
    "prompt/pre-decision",
    "prompt/post-decision",
    "prompt/projection-input",
    "prompt/surface-commit",
    "prompt/prepared-call",
    "prompt/header-decision",
)


def pages(examples: Path) -> Iterator[Page]:
    """A page for each entry point, and the list of all schemas."""
    index = Page("schemas.md", "Schemas")
    index.paragraph(
        "`dsh-protocol schema NAME` prints a schema as one document of JSON Schema 2020-12; "
        "`Validator(NAME)` checks values against it. Events have [pages of their own](events/index.md)."
    )
    index.table(
        ("Name", "Describes"),
        [
            (f"[{name}](schemas/{_file(name)})", plain(schema(name)["description"]))
            for name in _ENTRIES
        ],
    )
    for family in ("session/v4", "session/v3", "wire", "prompt"):
        index.heading(f"Definitions: {family}")
        names = [name for name in schema_names() if name.rpartition("/")[0] == family]
        index.table(
            ("Name", "Describes"),
            [
                (code(name), plain(schema(name).get("description", "")))
                for name in names
                if name.rpartition("/")[2][0].isupper()
            ],
        )
    yield index
    for name in _ENTRIES:
        yield _page(name, examples)


def _file(name: str) -> str:
    return f"{name.replace('/', '.')}.md"


def _page(name: str, examples: Path) -> Page:
    page = Page(f"schemas/{_file(name)}", name)
    document = schema(name)
    page.paragraph(plain(document["description"]))
    page.paragraph(f"`dsh-protocol schema {name}` prints the whole schema. Its root:")
    page.json({key: value for key, value in document.items() if key not in ("$schema", "$defs")})
    add_examples(page, examples / name, level=2)
    return page
