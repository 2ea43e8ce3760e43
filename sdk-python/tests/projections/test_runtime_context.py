"""What the model is told about its surroundings, and when, by the tables of the releases."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from attempts import snapshot
from sessions import new_session

from dsh_protocol.projections import CLEARED, RuntimeContextProjection, Told
from dsh_protocol.session import Session

Json = dict[str, Any]
FORMATS = pytest.mark.parametrize("version", [3, 4])
HEAD = "Current runtime context. This snapshot supersedes earlier runtime-context snapshots."
GONE = "Current runtime context: none. Earlier runtime-context snapshots no longer apply."
SOURCES: dict[int, Json] = {
    3: {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"},
    4: {"kind": "runtime-context"},
}
A = [{"name": "a", "text": "A"}]
B = [{"name": "b", "text": "B"}]


class Live:
    """A session whose context is followed from its beginning."""

    def __init__(self, version: int) -> None:
        self.session = new_session(version, level="append")
        self.session.append_message(self.session.make.user_message("first"))
        self.follow()

    def follow(self) -> None:
        """Begin anew, from the log."""
        self.followed = restored(self.session)
        self.session.subscribe(self.followed.observe)

    def project(self, sections: list[Json]) -> Json | None:
        return self.followed.project(snapshot(sections), sections)

    def tell(self, sections: list[Json]) -> int:
        """Append the message that is due."""
        message = self.project(sections)
        assert message is not None
        return self.session.append_message(message).seq

    def replace(self, start: int, end: int, *more: int) -> int:
        """Put a summary in the place of the nodes from one number to another; `more` events are cited besides."""
        nodes = list(self.session.surface.nodes)
        gone = nodes[nodes.index(start) : nodes.index(end) + 1]
        event = self.session.append(
            "user/message",
            self.session.make.user_message("sum"),
            surface_op={"op": "replace", "startSeq": start, "endSeq": end},
            source_event_seqs=sorted({*gone, *more}),
        )
        return event.seq


def restored(session: Session) -> RuntimeContextProjection:
    return RuntimeContextProjection.restore(session.events, session.surface, session.dialect)


def texts(message: Json | None) -> str | None:
    return None if message is None else str(message["content"][0]["text"])


def test_the_constant() -> None:
    assert CLEARED == GONE


@FORMATS
def test_never_and_nothing_is_nothing(version: int) -> None:
    live = Live(version)
    assert live.followed.retained == "never"
    assert live.project([]) is None


@FORMATS
def test_a_snapshot_has_its_sections(version: int) -> None:
    live = Live(version)
    message = live.project([*A, *B])
    assert message is not None
    assert list(message) == ["content", "source", "role", "id"]
    assert message["content"] == [{"type": "text", "text": f"{HEAD}\n\nA\n\nB"}]
    assert message["source"] == {**SOURCES[version], "form": "snapshot", "sections": [*A, *B]}
    assert message["role"] == "user"


@FORMATS
def test_it_is_told_again_when_it_has_changed_and_not_before(version: int) -> None:
    live = Live(version)
    seq = live.tell(A)
    assert live.followed.retained == Told(seq, f"{HEAD}\n\nA")
    assert live.project(A) is None
    # Only the text counts.
    assert live.project([{"name": "other", "text": "A"}]) is None
    assert texts(live.project(B)) == f"{HEAD}\n\nB"


@FORMATS
def test_nothing_after_something_is_told_once(version: int) -> None:
    live = Live(version)
    live.tell(A)
    message = live.project([])
    assert message is not None
    assert texts(message) == GONE
    assert message["source"] == SOURCES[version]
    live.session.append_message(message)
    assert live.project([]) is None
    assert texts(live.project(A)) == f"{HEAD}\n\nA"


@FORMATS
@pytest.mark.parametrize("how", ["followed", "restored"])
def test_what_a_compaction_took_away_is_told_again(version: int, how: str) -> None:
    live = Live(version)
    seq = live.tell(A)
    live.replace(seq, seq)
    if how == "restored":
        live.follow()
    assert live.followed.retained == "removed"
    assert texts(live.project(A)) == f"{HEAD}\n\nA"
    # Nothing is told, too, when something was taken away.
    assert texts(live.project([])) == GONE


@FORMATS
def test_a_cleared_message_that_is_taken_away_is_cleared_again(version: int) -> None:
    live = Live(version)
    live.tell(A)
    seq = live.tell([])
    live.replace(seq, seq)
    assert texts(live.project([])) == GONE


@FORMATS
@pytest.mark.parametrize("content", ["other", [], [{"type": "text", "text": "A"}] * 2])
def test_any_message_with_its_source_counts(version: int, content: Any) -> None:
    live = Live(version)
    live.tell(A)
    foreign = live.session.make.user_message(content, source=SOURCES[version])
    seq = live.session.append_message(foreign).seq
    text = content if isinstance(content, str) else None
    assert live.followed.retained == Told(seq, text)
    assert restored(live.session).retained == Told(seq, text)
    assert texts(live.project(A)) == f"{HEAD}\n\nA"
    assert texts(live.project([])) == GONE


@FORMATS
def test_the_source_of_the_other_format_does_not_count(version: int) -> None:
    live = Live(version)
    message = live.session.make.user_message("x", source=SOURCES[7 - version])
    live.session.append("user/message", message, surface_op="append")
    assert live.followed.retained == "never"
    assert restored(live.session).retained == "never"


@FORMATS
def test_a_replacement_by_a_message_of_its_own_is_the_new_one(version: int) -> None:
    live = Live(version)
    seq = live.tell(A)
    message = live.project(B)
    replacing = live.session.append(
        "user/message",
        message,
        surface_op={"op": "replace", "startSeq": seq, "endSeq": seq},
        source_event_seqs=[seq],
    )
    assert live.followed.retained == Told(replacing.seq, f"{HEAD}\n\nB")
    assert restored(live.session).retained == live.followed.retained


# ---- Where following and restoring differ, in the releases as here -----------------------------------


@FORMATS
@pytest.mark.parametrize("how", ["followed", "restored"])
def test_an_older_message_counts_only_for_who_restores(
    version: int, how: Literal["followed", "restored"]
) -> None:
    live = Live(version)
    older = live.tell(A)
    newer = live.tell(B)
    live.replace(newer, newer)
    if how == "followed":
        assert live.followed.retained == "removed"
        assert texts(live.project(A)) == f"{HEAD}\n\nA"
    else:
        live.follow()
        assert live.followed.retained == Told(older, f"{HEAD}\n\nA")
        assert live.project(A) is None


@FORMATS
def test_a_message_that_is_cited_and_still_stands_counts_only_for_who_restores(
    version: int,
) -> None:
    live = Live(version)
    seq = live.tell(A)
    live.replace(0, 0, seq)
    assert live.followed.retained == "removed"
    assert restored(live.session).retained == Told(seq, f"{HEAD}\n\nA")


@FORMATS
def test_a_replacement_elsewhere_changes_nothing(version: int) -> None:
    live = Live(version)
    seq = live.tell(A)
    live.replace(0, 0)
    assert live.followed.retained == Told(seq, f"{HEAD}\n\nA") == restored(live.session).retained
