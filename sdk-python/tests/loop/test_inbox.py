"""Pending input: what each operation logs, and what a log folds to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_protocol.loop import Inbox, InboxError
from dsh_protocol.session import Session

Json = dict[str, Any]


def message(name: str) -> Json:
    """A message of this id."""
    return {
        "content": [{"type": "text", "text": name}],
        "source": {"kind": "user"},
        "role": "user",
        "id": name,
    }


def inbox_of(session: Session) -> Inbox:
    """The inbox of a session, following it."""
    inbox = Inbox(session.append)
    session.subscribe(inbox.follow)
    return inbox


def spliced(session: Session) -> list[Json]:
    """What was logged, messages by their ids."""
    return [
        {**event.data, "inserted": [entry["id"] for entry in event.data["inserted"]]}
        for event in session.events
    ]


def ids(inbox: Inbox) -> dict[str, list[str]]:
    """What is pending, by list."""
    names: tuple[Any, ...] = ("next-turn", "next-step")
    return {name: [entry["id"] for entry in inbox.pending(name)] for name in names}


def test_each_operation_logs_one_splice() -> None:
    session = Session.create()
    inbox = inbox_of(session)
    inbox.append("next-turn", message("a"))
    inbox.append("next-turn", message("b"))
    inbox.prepend("next-turn", message("c"))
    assert inbox.replace("a", message("d"))
    assert inbox.remove("c")
    assert not inbox.remove("c")
    assert not inbox.replace("c", message("e"))
    assert spliced(session) == [
        {"target": "next-turn", "start": 0, "inserted": ["a"]},
        {"target": "next-turn", "start": 1, "inserted": ["b"]},
        {"target": "next-turn", "start": 0, "inserted": ["c"]},
        {
            "target": "next-turn",
            "start": 1,
            "removedCount": 1,
            "inserted": ["d"],
            "outcome": "canceled",
        },
        {
            "target": "next-turn",
            "start": 0,
            "removedCount": 1,
            "inserted": [],
            "outcome": "canceled",
        },
    ]
    assert ids(inbox) == {"next-turn": ["d", "b"], "next-step": []}


def test_clearing_empties_the_next_step_first_and_logs_nothing_for_an_empty_list() -> None:
    session = Session.create()
    inbox = inbox_of(session)
    inbox.clear()
    inbox.append("next-turn", message("a"), message("b"))
    inbox.append("next-step", message("c"))
    inbox.clear()
    assert spliced(session)[2:] == [
        {
            "target": "next-step",
            "start": 0,
            "removedCount": 1,
            "inserted": [],
            "outcome": "canceled",
        },
        {
            "target": "next-turn",
            "start": 0,
            "removedCount": 2,
            "inserted": [],
            "outcome": "canceled",
        },
    ]


def test_a_first_step_claims_what_joins_it_and_then_one_of_the_turns() -> None:
    session = Session.create()
    inbox = inbox_of(session)
    claimed: list[list[Json]] = []
    inbox.claimed = claimed.append
    inbox.append("next-turn", message("a"), message("b"))
    inbox.append("next-step", message("c"), message("d"))
    assert [entry["id"] for entry in inbox.claim(first=True)] == ["c", "d", "a"]
    assert [entry["id"] for entry in inbox.claim(first=False)] == []
    assert ids(inbox) == {"next-turn": ["b"], "next-step": []}
    assert spliced(session)[2:] == [
        {"target": "next-step", "start": 0, "removedCount": 2, "inserted": []},
        {"target": "next-turn", "start": 0, "removedCount": 1, "inserted": []},
    ]
    assert [entry["id"] for entries in claimed for entry in entries] == ["c", "d", "a"]


def test_an_id_is_pending_once() -> None:
    session = Session.create()
    inbox = inbox_of(session)
    inbox.append("next-turn", message("a"))
    with pytest.raises(InboxError, match='message "a" is already pending') as caught:
        inbox.append("next-step", message("a"))
    assert caught.value.code == "inbox/pending"
    assert session.next_seq == 1
    # In its own place it may be replaced by itself.
    assert inbox.replace("a", message("a"))


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        ({"target": "next-turn", "start": 1, "inserted": []}, "invalid inbox splice"),
        (
            {"target": "next-turn", "start": 0, "removedCount": 2, "inserted": []},
            "invalid inbox splice",
        ),
        ({"target": "elsewhere", "start": 0, "inserted": []}, "invalid inbox splice"),
        ({"target": "next-turn", "start": 0, "inserted": [{}]}, "invalid inbox splice"),
        (
            {"target": "next-step", "start": 0, "inserted": [message("a"), message("a")]},
            'message "a" is already pending',
        ),
    ],
)
def test_a_stored_splice_that_does_not_fit(data: Json, detail: str) -> None:
    event = Session.create(options=_lenient()).append("agent/inbox/spliced", data)
    with pytest.raises(InboxError) as caught:
        Inbox(_never).follow(event)
    assert caught.value.message == f"invalid persisted inbox splice at session seq 0: {detail}"
    assert (caught.value.code, caught.value.seq) == ("inbox/splice", 0)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["append", "prepend", "claim", "first", "remove", "clear"]),
            st.booleans(),
            st.integers(0, 5),
        )
    )
)
def test_following_a_log_gives_the_lists_that_made_it(steps: list[tuple[str, bool, int]]) -> None:
    session = Session.create()
    inbox = inbox_of(session)
    expected: dict[str, list[str]] = {"next-turn": [], "next-step": []}
    for number, (what, turn, place) in enumerate(steps):
        target: Any = "next-turn" if turn else "next-step"
        name = f"m{number}"
        if what == "append":
            inbox.append(target, message(name))
            expected[target].append(name)
        elif what == "prepend":
            inbox.prepend(target, message(name))
            expected[target].insert(0, name)
        elif what == "remove":
            known = [*expected["next-step"], *expected["next-turn"]]
            chosen = known[place] if place < len(known) else "none"
            assert inbox.remove(chosen) == (chosen in known)
            expected = {key: [n for n in names if n != chosen] for key, names in expected.items()}
        elif what == "clear":
            inbox.clear()
            expected = {"next-turn": [], "next-step": []}
        else:
            inbox.claim(first=what == "first")
            taken = expected["next-turn"][1:] if what == "first" else expected["next-turn"]
            expected = {"next-turn": taken, "next-step": []}
    assert ids(inbox) == expected
    again = Inbox(_never)
    for event in session.events:
        again.follow(event)
    assert ids(again) == expected
    assert len(again) == sum(map(len, expected.values()))


def _never(_type: str, _data: Json) -> Any:
    raise AssertionError("nothing is appended")


def _lenient() -> Any:
    from dsh_protocol.session import SessionOptions

    return SessionOptions(level="append")
