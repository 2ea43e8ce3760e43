"""How runtime context reaches the surface: a user message with the whole of it whenever the model was last told something else.

The texts come from prompt assembly, as one snapshot and as the sections it was joined from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import dsh_protocol_data
from dsh_protocol.dialect import Dialect
from dsh_protocol.rows import Event
from dsh_protocol.session import Messages
from dsh_protocol.session.messages import NewId, random_id
from dsh_protocol.state import Surface
from dsh_protocol.state.prompts import sole_text

Json: TypeAlias = dict[str, Any]

_USER = "user/message"
CLEARED: str = dsh_protocol_data.load("prompt_texts")["snapshot-none"]
"""What the model is told once there is no runtime context any more."""


@dataclass(frozen=True, slots=True)
class Told:
    """The message with runtime context that the model still has: its event and its text (null: not one text block)."""

    seq: int
    text: str | None


Retained: TypeAlias = "Told | Literal['never', 'removed']"
"""What the model has of its runtime context: a message, none since a replacement took it away, or never any."""


class RuntimeContextProjection:
    """Knows what the model was told last about its surroundings. One for each loop that writes a session.

    Make it with `restore`, and hand each event that is appended afterwards to `observe`.

    Following and restoring can come to different ends, as in the releases, whose logs this reproduces (rule
    `loop/context-restored`): who follows takes the message as removed once a replacement cites it, who restores looks at what
    is on the surface. So after a replacement of the newest message, a resumed session may rely on an older one that
    still stands, where the session before would have told the model again.
    """

    def __init__(
        self, dialect: Dialect, retained: Retained = "never", new_id: NewId = random_id
    ) -> None:
        self._dialect = dialect
        self._make = Messages(dialect, new_id)
        self.retained: Retained = retained

    @classmethod
    def restore(
        cls,
        events: Sequence[Event],
        surface: Surface,
        dialect: Dialect,
        new_id: NewId = random_id,
    ) -> RuntimeContextProjection:
        """The projection for a log that is there: the newest of its messages that is still on the surface counts.

        `events` are all events of the log, those inherited from a parent included.
        """
        return cls(dialect, _newest(events, surface, dialect), new_id)

    def observe(self, event: Event) -> None:
        """Take the next event of the log in (rules `loop/context-owned` and `loop/context-removed`)."""
        if event.type == _USER and self._dialect.is_context(_source(event)):
            self.retained = Told(event.seq, sole_text(event.data))
        elif self._is_replaced_by(event):
            self.retained = "removed"

    def project(self, snapshot: str, sections: Sequence[Mapping[str, Any]]) -> Json | None:
        """The message that is due, to be appended to the surface; null when the model has it already (rule `loop/context-due`).

        `snapshot` is the text of the whole context, empty when there is none; `sections` are the `{name, text}` that it was
        made of.
        """
        if self.retained == "never" and not snapshot:
            return None
        text = snapshot or CLEARED
        if isinstance(self.retained, Told) and self.retained.text == text:
            return None
        return self._make.user_message(text, source=self._source_of(sections))

    def _is_replaced_by(self, event: Event) -> bool:
        told = self.retained
        if not isinstance(told, Told) or not isinstance(event.surface_op, Mapping):
            return False
        return told.seq in (event.citations or ())

    def _source_of(self, sections: Iterable[Mapping[str, Any]]) -> Json:
        named = [{"name": section["name"], "text": section["text"]} for section in sections]
        source: Json = dict(self._dialect.context_source)
        return {**source, "form": "snapshot", "sections": named} if named else source


def _newest(events: Sequence[Event], surface: Surface, dialect: Dialect) -> Retained:
    found: Retained = "never"
    for event in reversed(events):
        if event.type != _USER or not dialect.is_context(_source(event)):
            continue
        if event.seq in surface.nodes:
            return Told(event.seq, sole_text(event.data))
        found = "removed"
    return found


def _source(event: Event) -> Any:
    data = event.data
    return data.get("source") if isinstance(data, dict) else None
