"""The corpus: suites of cases, read from `conformance/` as `case.schema.json` describes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dsh_protocol.rules import show

from .errors import CorpusError
from .files import read_json, read_schema, require_shape
from .references import References

Json = dict[str, Any]

CASE_FORMAT = 1
"""The version of the case format that this harness reads."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question and the right answer. `input` and `expect` may hold references (`Corpus.resolve`)."""

    id: str
    title: str
    rules: tuple[str, ...]
    formats: tuple[int, ...]
    op: str
    input: Json
    expect: Json
    cites: tuple[str, ...] = ()

    @property
    def suite(self) -> str:
        """The suite that the case belongs to."""
        return self.id.split("/", 1)[0]

    @property
    def refusals(self) -> list[Json]:
        """What the case expects to be refused: each defect and its place, those of its steps included; empty if it
        accepts all.
        """
        answers = [self.expect, *(step or {} for step in self.expect.get("steps", []))]
        return [finding for answer in answers for finding in _list(answer.get("refused", []))]

    @property
    def named(self) -> list[Json]:
        """All findings that the case expects, those it is warned of included."""
        return [*self.refusals, *self.warnings]

    @property
    def warnings(self) -> list[Json]:
        """What the case expects to be warned of, and its place."""
        return _list(self.expect.get("warned", []))

    def breaks(self, rule_id: str) -> bool:
        """Whether the case expects this rule to be broken, as an error or as a warning."""
        return any(finding.get("rule") == rule_id for finding in self.named)


@dataclass(frozen=True, slots=True)
class Suite:
    """The cases of one area. Those of a suite `from_examples` are not listed one by one in the manifest."""

    name: str
    cases: tuple[Case, ...]
    from_examples: bool = False


@dataclass(frozen=True)
class Corpus:
    """All suites of one `conformance/` folder."""

    root: Path
    suites: Mapping[str, Suite] = field(repr=False)

    @classmethod
    def open(cls, root: Path) -> Corpus:
        """Read every suite below a folder.

        Raises:
            CorpusError: the folder holds no suites, or a file is no suite of a known version.
        """
        paths = sorted((root / "suites").glob("*.json"))
        if not paths:
            raise CorpusError(
                "corpus/missing",
                f"{root} holds no conformance suites",
                fix="Name the conformance folder of a checkout with --corpus.",
            )
        schema = read_schema(root / "case.schema.json")
        suites = (_suite(path, schema) for path in paths)
        return cls(root, {suite.name: suite for suite in suites})

    @cached_property
    def cases(self) -> list[Case]:
        """The cases of all suites, suite by suite."""
        return [case for suite in self.suites.values() for case in suite.cases]

    def select(self, names: Iterable[str] = (), ops: Iterable[str] = ()) -> list[Case]:
        """The cases of some suites, each named by its area or a prefix of it (`prompt`: all `prompt-*`), and of
        some ops; all where nothing is named.

        Raises:
            CorpusError: `corpus/no-such-suite`, `corpus/no-cases`.
        """
        chosen = {suite.name: suite for name in names for suite in self._named(name)}
        wanted = frozenset(ops)
        found = [
            case
            for suite in (chosen or self.suites).values()
            for case in suite.cases
            if not wanted or case.op in wanted
        ]
        if not found:
            raise CorpusError(
                "corpus/no-cases",
                f"no case of these suites has the op {', '.join(sorted(wanted))}",
                fix="conformance/README.md lists the ops.",
            )
        return found

    def _named(self, name: str) -> list[Suite]:
        found = [
            suite
            for suite in self.suites.values()
            if suite.name == name or suite.name.startswith(f"{name}-")
        ]
        if not found:
            known = ", ".join(self.suites)
            raise CorpusError(
                "corpus/no-such-suite", f'no suite is called "{name}"', fix=f"There are {known}."
            )
        return found

    @cached_property
    def _references(self) -> References:
        return References(self.root)

    def resolve(self, value: Any) -> Any:
        """An input or an expectation with every reference filled in.

        Raises:
            CorpusError: `corpus/reference`.
        """
        return self._references.resolve(value)


def find_corpus(start: Path | None = None) -> Path:
    """The `conformance/` folder of the checkout that `start` (the current folder) or this package lies in.

    Raises:
        CorpusError: `corpus/missing`.
    """
    for place in (start or Path.cwd(), Path(__file__)):
        for folder in (place.resolve(), *place.resolve().parents):
            for root in (folder, folder / "conformance"):
                if (root / "suites").is_dir() and (root / "case.schema.json").is_file():
                    return root
    raise CorpusError(
        "corpus/missing",
        "no conformance folder is here",
        fix="Run this in a checkout of the project, or name its conformance folder with --corpus.",
    )


def _list(value: Any) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _suite(path: Path, schema: Json) -> Suite:
    raw = read_json(path)
    members: Json = raw if isinstance(raw, dict) else {}
    if members.get("caseFormat", CASE_FORMAT) != CASE_FORMAT:
        raise CorpusError(
            "corpus/version", f"{path.name}: case format {show(raw['caseFormat'])} is not known"
        )
    # With the one alternative that is meant, an error says what is wrong inside.
    with_cases, with_examples = schema["oneOf"]
    meant = with_examples if "examples" in members else with_cases
    require_shape(path, raw, {**schema, "oneOf": [meant]})
    if "examples" in raw:
        cases = tuple(_examples(raw["suite"], path.parent / raw["examples"], raw["formats"]))
        return Suite(raw["suite"], cases, from_examples=True)
    return Suite(raw["suite"], tuple(map(_case, raw["cases"])))


def _case(raw: Json) -> Case:
    return Case(
        id=raw["id"],
        title=raw["title"],
        rules=tuple(raw["rules"]),
        formats=tuple(raw["formats"]),
        op=raw["op"],
        input=raw["input"],
        expect=raw["expect"],
        cites=tuple(raw.get("cites", ())),
    )


def _examples(suite: str, folder: Path, formats: list[int]) -> Iterator[Case]:
    """The examples below a folder of `spec/examples` as cases of the op `validate`."""
    for path in sorted(folder.rglob("*.json")):
        try:
            yield _example(suite, path, formats, read_json(path))
        except (KeyError, TypeError, AttributeError) as error:
            shown = f"{folder.name}/{path.name}: no example: {error!r}"
            raise CorpusError("corpus/malformed", shown) from None


def _example(suite: str, path: Path, formats: list[int], raw: Json) -> Case:
    folder = path.parent.name.replace(".", "-")
    refused = {"rule": "schema/payload", "seq": None, **raw.get("refusal", {})}
    is_event = "definition" not in raw
    shows_type = is_event and raw["valid"] and folder != "unknown-types"
    name = f"session/v{formats[0]}/event" if is_event else raw["definition"]
    return Case(
        id=f"{suite}/{folder}/{path.stem}",
        title=raw["about"].rstrip("."),
        rules=("schema/payload",),
        formats=tuple(formats),
        op="validate",
        input={"schema": name, "value": raw["value"]},
        expect={"ok": {"valid": True}} if raw["valid"] else {"refused": refused},
        cites=(f"type:{raw['value']['type']}",) if shows_type else (),
    )
