"""The event types: a page for each, their list, and the table of who checks what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dsh_protocol.jsonvalue import dumps
from dsh_protocol.reference import LEVELS, EventType, Member, event_types
from dsh_protocol.schemas import schema

from .examples import add_examples
from .markdown import Page, code, plain


def pages(examples: Path) -> Iterator[Page]:
    """The list, the table of all members, and a page for each type."""
    yield _index()
    yield _enforcement()
    for entry in event_types().values():
        yield _page(entry, examples)


def file_of(entry: EventType) -> str:
    """The name of the page of a type."""
    return f"{entry.type.replace('/', '.')}.md"


def _index() -> Page:
    page = Page("events/index.md", "Events")
    page.paragraph(
        "Every event type that a reader of formats 3 and 4 knows. An event on the surface is part of what the model sees."
    )
    page.table(
        ("Type", "Says", "Formats", "On the surface"),
        [
            (
                f"[{entry.type}]({file_of(entry)})",
                plain(_first_sentence(_definition(entry, max(entry.formats))["description"])),
                _listed(entry.formats),
                "yes" if entry.surface else "",
            )
            for entry in event_types().values()
        ],
    )
    return page


def _enforcement() -> Page:
    page = Page("enforcement.md", "Who checks what")
    page.paragraph(
        "A schema says what a writer is meant to produce. Released software checks less, at several places:"
    )
    page.bullets(f"**{level}**: {plain(where)}" for level, where in LEVELS.items())
    page.paragraph(
        "*schema only* means that no release looks: a bad member is a warning and changes no verdict. "
        "An entry stands for its member and for everything inside it that has no entry of its own. "
        "Format 3 is release 0.1.5-rc.1, format 4 is 0.2.1-rc.2."
    )
    for entry in event_types().values():
        page.heading(
            f"[{entry.type}](events/{file_of(entry)})", anchor=entry.type.replace("/", ".")
        )
        _add_members(page, entry)
    return page


def _page(entry: EventType, examples: Path) -> Page:
    page = Page(f"events/{file_of(entry)}", entry.type)
    newest = max(entry.formats)
    page.paragraph(plain(_definition(entry, newest)["description"]))
    kind = "on the surface" if entry.surface else "not on the surface"
    facts = [f"formats {_listed(entry.formats)}, {kind}", f"family: {entry.family}"]
    facts += [f"written since release {entry.since}"] if entry.since else []
    facts += [f"written until release {entry.until}"] if entry.until else []
    facts += [plain(entry.note)] if entry.note else []
    page.bullets(facts)
    page.heading("Who checks what")
    _add_members(page, entry)
    if entry.changes:
        page.heading("What came and went")
        page.table(("Member", "Formats", "Since", "Note"), [_change(c) for c in entry.changes])
    for version in sorted(entry.formats, reverse=True):
        _add_format(page, entry, version, examples)
    return page


def _add_members(page: Page, entry: EventType) -> None:
    if not entry.members:
        page.paragraph("The payload has no members.")
        return
    formats = [f"Format {version}" for version in entry.formats]
    page.table(("Member", *formats, "What it must be"), [_member(m, entry) for m in entry.members])


def _member(member: Member, entry: EventType) -> tuple[str, ...]:
    place = code(member.path) if member.path else "the payload"
    levels = (_levels(member.by.get(version)) for version in entry.formats)
    return (place, *levels, plain(member.must))


def _levels(levels: tuple[str, ...] | None) -> str:
    if levels is None:
        return "not there"
    return ", ".join(levels) or "schema only"


def _change(change: Any) -> tuple[str, str, str, str]:
    value = "" if change.value is None else f" {code(dumps(change.value))}"
    place = code(change.path) + value
    return place, _listed(change.formats), change.since or "", plain(change.note)


def _add_format(page: Page, entry: EventType, version: int, examples: Path) -> None:
    page.heading(f"Format {version}")
    definition = _definition(entry, version)
    payload = definition["properties"]["data"].get("$ref", "").rpartition("/")[2]
    name = f"session/v{version}/{_name(entry, version)}"
    page.paragraph(f"`dsh-protocol schema {name}` prints the whole schema. The payload:")
    known = schema(name)["$defs"]
    page.json(known[payload] if payload else definition["properties"]["data"])
    folder = examples / "session" / f"v{version}" / entry.type.replace("/", ".")
    add_examples(page, folder)


def _name(entry: EventType, version: int) -> str:
    mapping = schema(f"session/v{version}/KnownSessionEvent")["discriminator"]["mapping"]
    return str(mapping[entry.type]).rpartition("/")[2]


def _definition(entry: EventType, version: int) -> dict[str, Any]:
    return schema(f"session/v{version}/{_name(entry, version)}")


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".") + "."


def _listed(formats: tuple[int, ...]) -> str:
    return ", ".join(map(str, formats))
