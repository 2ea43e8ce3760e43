"""How a rendered system prompt reaches the surface: the events that make the model read it, and no older one.

Two revisions with one interface: `SystemPromptProjection` is what releases do, `SingleCommitProjection` the earlier rule, of
the design that introduced prompts on the surface.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from dsh_protocol.dialect import Dialect
from dsh_protocol.session import Messages
from dsh_protocol.session.messages import NewId, random_id
from dsh_protocol.state import Surface
from dsh_protocol.state.prompts import Prompts

from ._commit import Commit


class PromptProjection(ABC):
    """Compares a rendering with the prompts on a surface. It follows the surface, and changes nothing."""

    def __init__(self, surface: Surface, dialect: Dialect, new_id: NewId = random_id) -> None:
        self._prompts: Prompts = surface.prompts
        self._make = Messages(dialect, new_id)

    def project(self, rendered: str, *, in_history: bool, starts_series: bool) -> list[Commit]:
        """The system/message events that are due, in order; none when the model reads `rendered` already.

        `rendered` is empty when there is no prompt. `in_history`: the route of this very attempt declares
        `systemPromptUpdate: "in-history"`, so that its model obeys the newest system message wherever it stands (rule
        `loop/prompt-capability`).
        `starts_series`: this request does not continue the messages of the one before
        (`SeriesMemory.prompt_starts_series`). Append all commits before projecting again.

        Raises:
            RefusedError: a prompt on the surface is malformed.
        """
        head = self._prompts.head
        if head is None:
            # Also an empty one: it reserves the head for a later prompt (rule `loop/prompt-first`).
            return [Commit(self._make.system_message(rendered))]
        return self._reconcile(head, rendered, in_history=in_history, starts_series=starts_series)

    @abstractmethod
    def _reconcile(
        self, head: int, rendered: str, *, in_history: bool, starts_series: bool
    ) -> list[Commit]:
        """The commits for a surface that has prompts."""

    def _append(self, text: str) -> Commit:
        return Commit(self._make.system_message(text))

    def _replace(self, seq: int, text: str) -> Commit:
        return Commit.replace(seq, self._make.system_message(text))


class SystemPromptProjection(PromptProjection):
    """The released rules `loop/prompt-consolidated` and `loop/prompt-appended` (formats 3 and 4): any number of commits.

    The prompt is moved to the head and all others are emptied, unless a capable route continues a series with another
    text: then the text is appended, which leaves everything before it as the provider has it cached.
    """

    def _reconcile(
        self, head: int, rendered: str, *, in_history: bool, starts_series: bool
    ) -> list[Commit]:
        speaking = self._prompts.speaking()
        if not in_history or starts_series or not rendered:
            return self._consolidate(head, speaking, rendered)
        latest = speaking[-1] if speaking else head
        return [] if self._prompts.text(latest) == rendered else [self._append(rendered)]

    def _consolidate(self, head: int, speaking: list[int], rendered: str) -> list[Commit]:
        commits = [self._replace(seq, "") for seq in speaking if seq != head]
        if self._prompts.text(head) != rendered:
            commits.append(self._replace(head, rendered))
        return commits


class SingleCommitProjection(PromptProjection):
    """The rule `loop/prompt-single` of the first design: at most one commit, and only the last prompt is looked at.

    No release works like this. A prompt before the last one is never emptied, so that a route without in-history updates may
    read two; that is why the released rule replaced this one. What the design leaves to a companion document (a route with
    in-history updates whose series starts) is as that document had it: the last prompt is replaced when it is the only one,
    and followed by the new one when it is not. The design also had another place for it (`loop/prompt-before-step`): call
    `project` after the pre-step hook, and append its commit right behind `step/start`.
    """

    def _reconcile(
        self, head: int, rendered: str, *, in_history: bool, starts_series: bool
    ) -> list[Commit]:
        last = self._prompts.last
        if last is None or self._prompts.text(last) == rendered:
            return []
        follows = in_history and bool(rendered) and (last != head or not starts_series)
        return [self._append(rendered) if follows else self._replace(last, rendered)]
