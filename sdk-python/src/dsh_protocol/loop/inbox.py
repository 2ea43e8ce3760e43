"""The inbox of an agent: user messages that wait for a turn or a step, persisted as `agent/inbox/spliced` events.

Two ordered lists: each message in `next-turn` opens a turn of its own, those in `next-step` join the next step. Every
change is one event of the log, so the lists are a fold of it, inherited events included: a fork inherits what was pending
(rule `loop/inbox-fold`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from dsh_protocol.findings import UsageError
from dsh_protocol.jsonvalue import is_count

if TYPE_CHECKING:
    from dsh_protocol.rows import Event

Json: TypeAlias = dict[str, Any]
Target: TypeAlias = Literal["next-turn", "next-step"]
Append: TypeAlias = "Callable[[str, Json], Event]"
Leaving: TypeAlias = Callable[[list[Json]], None]

SPLICED: Final = "agent/inbox/spliced"
_TARGETS: Final[tuple[Target, ...]] = ("next-step", "next-turn")


class InboxError(UsageError):
    """A splice in the log that does not fit what was pending, or a message that is pending already."""


class Inbox:
    """The pending messages of one session. Changes are appended to the log by the function it is made with.

    It has to be told of every event of the log, its own changes included (`follow`). `claimed` and `discarded` are
    called with messages that have left it: for a step, or because they were taken back.
    """

    def __init__(self, append: Append) -> None:
        self._append = append
        self._lists: dict[Target, list[Json]] = {target: [] for target in _TARGETS}
        self.claimed: Leaving = _nobody
        self.discarded: Leaving = _nobody

    def __len__(self) -> int:
        return sum(len(pending) for pending in self._lists.values())

    def pending(self, target: Target) -> Sequence[Mapping[str, Any]]:
        """The messages of one list, first one first."""
        return tuple(self._lists[target])

    # ---- Following the log -------------------------------------------------------------------------

    def follow(self, event: Event) -> None:
        """Take an event of the log in.

        Raises:
            InboxError: `inbox/splice`: a splice that does not fit; the message is what released software fails with.
        """
        if event.type != SPLICED:
            return
        data, seq = event.data, event.seq
        problem = self._problem(data)
        if problem is not None:
            raise InboxError(
                "inbox/splice",
                f"invalid persisted inbox splice at session seq {seq}: {problem}",
                fix="Continue a log whose inbox splices fit: fork it in front of this event.",
                seq=seq,
            )
        start = data["start"]
        self._lists[data["target"]][start : start + data.get("removedCount", 0)] = data["inserted"]

    def _problem(self, data: Any) -> str | None:
        if not isinstance(data, dict) or data.get("target") not in _TARGETS:
            return "invalid inbox splice"
        start, removed = data.get("start"), data.get("removedCount", 0)
        inserted = data.get("inserted")
        pending = self._lists[data["target"]]
        if not is_count(start) or not is_count(removed) or not isinstance(inserted, list):
            return "invalid inbox splice"
        if start + removed > len(pending) or not all(_is_message(entry) for entry in inserted):
            return "invalid inbox splice"
        return self._repeated(inserted, pending[start : start + removed])

    def _repeated(self, inserted: list[Json], leaving: list[Json]) -> str | None:
        kept = {message["id"] for messages in self._lists.values() for message in messages}
        kept -= {message["id"] for message in leaving}
        for message in inserted:
            if message["id"] in kept:
                return f'message "{message["id"]}" is already pending'
            kept.add(message["id"])
        return None

    # ---- Changing it -------------------------------------------------------------------------------

    def append(self, target: Target, *messages: Json) -> None:
        """Put messages at the end of a list.

        Raises:
            InboxError: `inbox/pending`: a message of this id is pending. Nothing is logged then.
        """
        self._splice(target, len(self._lists[target]), 0, list(messages))

    def prepend(self, target: Target, *messages: Json) -> None:
        """Put messages in front of a list.

        Raises:
            InboxError: as `append`.
        """
        self._splice(target, 0, 0, list(messages))

    def replace(self, message_id: str, message: Json) -> bool:
        """Put another message in the place of a pending one; false when it is not pending (any more).

        Rule `loop/inbox-taken-back`.
        """
        return self._exchange(message_id, [message])

    def remove(self, message_id: str) -> bool:
        """Take a pending message out; false when it is not pending (any more)."""
        return self._exchange(message_id, [])

    def clear(self) -> None:
        """Take everything out."""
        for target in _TARGETS:
            self._splice(target, 0, len(self._lists[target]), [], canceled=True)

    def claim(self, *, first: bool) -> list[Json]:
        """Take out what the next step begins with: all of `next-step`, and for the first step of a turn one of `next-turn`.

        Rule `loop/inbox-claim`.
        """
        claimed = self._take("next-step", len(self._lists["next-step"]))
        return claimed + self._take("next-turn", 1) if first else claimed

    def _take(self, target: Target, count: int) -> list[Json]:
        taken = self._lists[target][:count]
        self._splice(target, 0, len(taken), [])
        self.claimed(taken)
        return taken

    def _exchange(self, message_id: str, inserted: list[Json]) -> bool:
        for target in _TARGETS:
            for index, message in enumerate(self._lists[target]):
                if message["id"] == message_id:
                    self._splice(target, index, 1, inserted, canceled=True)
                    return True
        return False

    def _splice(
        self,
        target: Target,
        start: int,
        removed: int,
        inserted: list[Json],
        *,
        canceled: bool = False,
    ) -> None:
        if not removed and not inserted:
            return  # Rule `loop/inbox-no-op`.
        data: Json = {"target": target, "start": start}
        if removed:
            data["removedCount"] = removed
        data["inserted"] = inserted
        if canceled:
            data["outcome"] = "canceled"
        problem = self._problem(data)
        if problem is not None:
            raise InboxError(
                "inbox/pending",
                problem,
                fix="Send a message of a new id, or replace the pending one.",
            )
        leaving = self._lists[target][start : start + removed]
        self._append(SPLICED, data)
        if canceled:
            self.discarded(leaving)


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("id"), str)


def _nobody(_messages: list[Json]) -> None:
    pass
