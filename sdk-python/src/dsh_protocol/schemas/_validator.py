"""A validator of one named schema: values or JSON text in, findings or a typed model out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from msgspec import Raw

from dsh_protocol.findings import Finding, JsonError, RefusedError
from dsh_protocol.jsonvalue import (
    MAX_DEPTH,
    check_lossless,
    is_surely_lossless,
    loads,
    utf8_error,
)
from dsh_protocol.rules import Words, refuse

from ._bulk import read_all
from ._catalog import find
from ._engines import Engine, Path, are_valid, is_valid
from ._finding import SchemaFinding, schema_finding, seq_of, without_repeats
from ._leaves import MOST, leaves
from ._models import builder
from ._sites import Site, Union, site_of, union_at

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    from dsh_protocol_models.session.common.envelopes import StoredEventRow
    from dsh_protocol_models.session.v3 import events as v3
    from dsh_protocol_models.session.v3 import headers as v3_headers
    from dsh_protocol_models.session.v4 import events as v4
    from dsh_protocol_models.session.v4 import headers as v4_headers
    from dsh_protocol_models.wire.deepseek_chats import ChatRequest
    from dsh_protocol_models.wire.deepseek_messages import MessagesRequest
    from dsh_protocol_models.wire.generate_options import GenerateOptions
    from dsh_protocol_models.wire.pi_ai_contexts import PiAiContext
    from dsh_protocol_models.wire.route_definitions import Route

    # So that an annotation may say `Validator` alone.
    _Model = TypeVarWithDefault("_Model", covariant=True, default=Any)
else:
    _Model = TypeVar("_Model", covariant=True)
_Value = TypeVar("_Value")


class Validator(Generic[_Model]):
    """Checks values against one named schema; may be shared by threads.

    Compiled on first use, a tagged union branch by branch, and once per process whatever the number
    of validators. `engine="reference"` uses the reference implementation of JSON Schema throughout:
    the same findings, but slower.

    A value is one that `dsh_protocol.jsonvalue.loads` could give: nested 512 deep at most. The methods
    whose names end in `_json` take its text instead, as `bytes` in UTF-8 or as `str`, and find what is
    wrong with the text as well: `json/syntax`, `json/encoding` and `json/depth`, and for the schemas of
    session logs the numbers that do not survive a round trip, `json/finite` and `json/negative-zero`.

    Raises:
        UsageError: `schemas/unknown-name`, no schema has this name.
    """

    # What `model` gives, for the names that most callers use.
    @overload
    def __init__(
        self: Validator[v4.SessionEvent],
        name: Literal["session/v4/event"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[v3.SessionEvent],
        name: Literal["session/v3/event"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[v4_headers.SessionHeader],
        name: Literal["session/v4/header"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[v3_headers.SessionHeader],
        name: Literal["session/v3/header"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[v4_headers.StoredSessionHeader],
        name: Literal["session/v4/stored-header"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[v3_headers.StoredSessionHeader],
        name: Literal["session/v3/stored-header"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[StoredEventRow],
        name: Literal["session/v3/stored-event", "session/v4/stored-event"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[MessagesRequest],
        name: Literal["wire/deepseek-messages"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[ChatRequest],
        name: Literal["wire/deepseek-chat"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[PiAiContext],
        name: Literal["wire/pi-ai-context"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[GenerateOptions],
        name: Literal["wire/generate-options"],
        *,
        engine: Engine = "fast",
    ) -> None: ...
    @overload
    def __init__(
        self: Validator[Route], name: Literal["wire/route"], *, engine: Engine = "fast"
    ) -> None: ...
    @overload
    def __init__(self: Validator[Any], name: str, *, engine: Engine = "fast") -> None: ...

    def __init__(self, name: str, *, engine: Engine = "fast") -> None:
        self.name = name
        self._engine = engine
        self._target = find(name)
        self._site = site_of(self._target)
        self._union = union_at(self._site) if self._site.is_union else Union(None, {}, None, ())

    def covers(self, tag: str) -> bool:
        """Whether a tagged union has this tag; for events, whether the type has a schema."""
        return tag in self._union.by_tag

    # ---- Values --------------------------------------------------------------------------------

    def read_members(self, tag: str, member: str, texts: Sequence[bytes | Raw]) -> list[Any] | None:
        """The values of JSON texts, if the branch that a tag selects takes each of them as this member.

        Null if it does not, and also if that takes a closer look.
        """
        branch = self._union.by_tag.get(tag)
        if branch is None or self._engine != "fast":
            return None
        return read_all(branch.child("properties", member, member=member), texts)

    def take_members(self, tag: str, member: str, values: list[Any]) -> bool:
        """Whether this member of the branch that a tag selects may have each of these values: one question for many.

        No when the tag is unknown, or when the fast engine cannot say.
        """
        branch = self._union.by_tag.get(tag)
        if branch is None or self._engine != "fast":
            return False
        return are_valid(branch.child("properties", member, member=member), values)

    def findings(self, value: Any) -> list[SchemaFinding]:
        """Everything that the schema refuses about a value, ordered by path; what `check` says of an event.

        A thousand places at most, and of a part with more than 20,000 members and entries the first that is found.
        """
        found = leaves(self._branch(value), value, self._engine)
        if not found:
            return []
        found.sort(key=lambda leaf: (_order(leaf.path), leaf.keyword, leaf.subject))
        return [schema_finding(leaf, value) for leaf in found]

    def is_valid(self, value: Any) -> bool:
        """Whether there are no findings: the fastest question."""
        verdict = is_valid(self._branch(value), value) if self._engine == "fast" else None
        return not self.findings(value) if verdict is None else verdict

    def validate(self, value: _Value) -> _Value:
        """The value itself, if the schema takes it.

        Raises:
            RefusedError: with all findings.
        """
        self._require(self.findings(value))
        return value

    def model(self, value: Any) -> _Model:
        """The generated model of a value: an instance, or plain data where the schema is no object.

        Raises:
            RefusedError: the schema refuses the value; with all findings.
            pydantic.ValidationError: it holds `3.0` for an integer, which no value from `loads` does.
        """
        model: _Model = builder(self._target)(self.validate(value))
        return model

    # ---- JSON text -----------------------------------------------------------------------------

    def findings_json(self, text: bytes | str) -> list[Finding]:
        """Everything that is wrong with a JSON text and, as in `findings`, with the value in it."""
        return self._read(text)[1]

    def is_valid_json(self, text: bytes | str) -> bool:
        """Whether `findings_json` finds nothing: the faster question."""
        try:
            value = loads(text)
        except JsonError:
            return False
        return not self._lost(text, value) and self.is_valid(value)

    def validate_json(self, text: bytes | str) -> Any:
        """The value in a JSON text.

        Raises:
            RefusedError: with all findings.
        """
        value, findings = self._read(text)
        self._require(findings)
        return value

    def _read(self, text: bytes | str) -> tuple[Any, list[Finding]]:
        try:
            value = loads(text)
        except JsonError as error:
            detail, offset = Words(error.message), utf8_error(_bytes_of(text))
            return None, [refuse(error.code, detail=detail, limit=MAX_DEPTH, offset=offset)]
        lost = self._lost(text, value)
        found = self.findings(value)
        return value, [*lost, *without_repeats(found, lost)] if lost else [*found]

    # ---- Inside --------------------------------------------------------------------------------

    def _lost(self, text: bytes | str, value: Any) -> list[Finding]:
        """The numbers of a text that do not survive a round trip."""
        # These are rules of session logs; a request may hold any number.
        if self._target.is_wire or is_surely_lossless(_bytes_of(text)):
            return []
        places = islice(check_lossless(value), MOST)
        seq = seq_of(value)
        return [refuse(rule_id, seq=seq, path=path) for path, rule_id in places]

    def _branch(self, value: Any) -> Site:
        """The branch of a tagged union, so that only what is needed is compiled and asked."""
        if self._union.tag is None or not isinstance(value, dict):
            return self._site
        tag = value.get(self._union.tag)
        return self._union.by_tag.get(tag, self._site) if isinstance(tag, str) else self._site

    def _require(self, findings: list[Finding] | list[SchemaFinding]) -> None:
        if findings:
            message = f"{len(findings)} findings: this is no valid {self.name}"
            raise RefusedError(message, findings)


def _bytes_of(text: bytes | str) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def _order(path: Path) -> tuple[tuple[int, int, str], ...]:
    """Entries of a list in their order, members of an object by name."""
    return tuple((0, step, "") if isinstance(step, int) else (1, 0, step) for step in path)
