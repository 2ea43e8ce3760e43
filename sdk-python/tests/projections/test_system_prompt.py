"""How a rendering reaches the surface: the released rule and the earlier one, by their tables and worked examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from sessions import CONFIG, new_session

from dsh_protocol.findings import RefusedError
from dsh_protocol.projections import (
    Attempt,
    PreparedCall,
    PromptProjection,
    RequestProjections,
    SingleCommitProjection,
    SystemPromptProjection,
)
from dsh_protocol.session import Session

Json = dict[str, Any]
FORMATS = pytest.mark.parametrize("version", [3, 4])
OPAQUE = [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
SOURCES = {
    3: {"kind": "plugin", "plugin": "@deepseek-ai/dsh-system-prompt"},
    4: {"kind": "system-prompt"},
}


def in_step(version: int = 4, **options: Any) -> Session:
    session = new_session(version, **options)
    session.append("turn/start", {"turn": 1})
    session.append("step/start", {"turn": 1, "step": 1})
    return session


def system(session: Session, content: Any, replaced: int | None = None) -> int:
    """Put a prompt on the surface, or in the place of another. Gives its number."""
    message = {**session.make.system_message(), "content": content}
    place: Json = {"surface_op": "append"}
    if replaced is not None:
        place["surface_op"] = {"op": "replace", "startSeq": replaced, "endSeq": replaced}
        place["source_event_seqs"] = [replaced]
    data = {"turn": 1, "step": 1, "message": message}
    return session.append("system/message", data, **place).seq


def text(words: str) -> list[Json]:
    return [{"type": "text", "text": words}] if words else []


def prompts(session: Session, *texts: str) -> list[int]:
    """A surface with these prompts, each with an input behind it."""
    seqs = []
    for words in texts:
        seqs.append(system(session, text(words)))
        session.append_message(session.make.user_message("u"))
    return seqs


def project(
    session: Session,
    rendered: str,
    *flags: Literal["capable", "starts"],
    by: type[PromptProjection] = SystemPromptProjection,
) -> list[tuple[int | None, str]]:
    """The commits as (number of the node that is replaced, new text)."""
    projection = by(session.surface, session.dialect)
    commits = projection.project(
        rendered, in_history="capable" in flags, starts_series="starts" in flags
    )
    shown: list[tuple[int | None, str]] = []
    for commit in commits:
        content = commit.message["content"]
        words = content[0]["text"] if content else ""
        if isinstance(commit.surface_op, dict):
            seq = commit.surface_op["startSeq"]
            assert commit.surface_op == {"op": "replace", "startSeq": seq, "endSeq": seq}
            assert commit.source_event_seqs == (seq,)
            shown.append((seq, words))
        else:
            assert commit.source_event_seqs is None
            shown.append((None, words))
    return shown


# ---- The released rule: a list of commits ----------------------------------------------------------


@FORMATS
@pytest.mark.parametrize("flags", [(), ("capable",), ("starts",), ("capable", "starts")])
@pytest.mark.parametrize("rendered", ["", "A"])
def test_the_first_prompt_is_appended_also_when_it_is_empty(
    version: int, flags: Any, rendered: str
) -> None:
    session = in_step(version)
    assert project(session, rendered, *flags) == [(None, rendered)]


@FORMATS
def test_the_message_is_that_of_the_format(version: int) -> None:
    session = in_step(version)
    projection = SystemPromptProjection(session.surface, session.dialect, lambda: "m-1")
    (commit,) = projection.project("A", in_history=False, starts_series=False)
    assert list(commit.message) == ["role", "content", "source", "id"]
    assert commit.message == {
        "role": "system",
        "content": [{"type": "text", "text": "A"}],
        "source": SOURCES[version],
        "id": "m-1",
    }
    (empty,) = projection.project("", in_history=False, starts_series=False)
    assert empty.message["content"] == []


@FORMATS
@pytest.mark.parametrize("flags", [(), ("starts",), ("capable", "starts")])
def test_without_the_capability_or_in_a_new_series_the_prompt_moves_to_the_head(
    version: int, flags: Any
) -> None:
    session = in_step(version)
    head, second, third = prompts(session, "A", "B", "C")
    assert project(session, "D", *flags) == [(second, ""), (third, ""), (head, "D")]
    # Also when the model read the same text already, and when the head has it.
    assert project(session, "C", *flags) == [(second, ""), (third, ""), (head, "C")]
    assert project(session, "A", *flags) == [(second, ""), (third, "")]


@FORMATS
def test_an_empty_rendering_clears_all(version: int) -> None:
    session = in_step(version)
    head, second = prompts(session, "A", "B")
    cleared = [(second, ""), (head, "")]
    assert project(session, "", "capable") == cleared
    assert project(session, "") == cleared


@FORMATS
def test_a_capable_route_that_continues_gets_the_new_text_behind_the_old(version: int) -> None:
    session = in_step(version)
    prompts(session, "A", "B")
    assert project(session, "B", "capable") == []
    assert project(session, "C", "capable") == [(None, "C")]
    # The latest counts, not the head.
    assert project(session, "A", "capable") == [(None, "A")]


@FORMATS
def test_dormant_nodes_supply_no_text_and_are_left_alone(version: int) -> None:
    session = in_step(version)
    head, second, third = prompts(session, "A", "B", "C")
    system(session, [], second)
    system(session, [], third)
    assert project(session, "A", "capable") == []
    assert project(session, "B") == [(head, "B")]
    system(session, [], head)
    assert project(session, "", "capable", "starts") == []
    assert project(session, "", "capable") == []


@FORMATS
def test_with_nothing_but_dormant_nodes_the_head_is_the_latest(version: int) -> None:
    session = in_step(version)
    prompts(session, "", "")
    assert project(session, "A", "capable") == [(None, "A")]
    assert project(session, "A") == [(2, "A")]


@FORMATS
def test_content_that_is_not_one_text_equals_no_rendering_and_is_cleared(version: int) -> None:
    session = in_step(version)
    prompts(session, "A")
    opaque = system(session, OPAQUE)
    assert project(session, "A\n\nB", "capable") == [(None, "A\n\nB")]
    assert project(session, "A") == [(opaque, "")]


def test_an_empty_text_block_is_an_empty_prompt() -> None:
    session = in_step()
    prompts(session, "A")
    system(session, [{"type": "text", "text": ""}])
    assert project(session, "A") == []


@FORMATS
def test_a_replacement_of_anything_else_moves_nothing(version: int) -> None:
    session = in_step(version)
    head, _ = prompts(session, "A", "B")
    replace_range(session, head + 1, session.next_seq - 1)
    assert project(session, "B", "capable", "starts") == [(head, "B")]


@FORMATS
def test_a_prompt_stands_where_the_range_stood_that_it_replaced(version: int) -> None:
    session = in_step(version, level="append")
    head, second, third = prompts(session, "A", "B", "C")
    middle = system(session, text("M"), second)
    assert project(session, "X") == [(middle, ""), (third, ""), (head, "X")]
    # In the place of an input between two prompts.
    input_ = head + 1
    between = system(session, text("N"), input_)
    assert project(session, "X") == [(between, ""), (middle, ""), (third, ""), (head, "X")]


@FORMATS
def test_when_no_prompt_survives_one_is_appended_at_the_end(version: int) -> None:
    # A live session takes a prompt behind an input; the reader of format 4 would not take its log.
    session = in_step(version, level="append")
    session.append_message(session.make.user_message("u"))
    late = system(session, text("P"))
    assert project(session, "P", "capable") == []
    replace_range(session, late, late)
    for by in (SystemPromptProjection, SingleCommitProjection):
        assert project(session, "P", "capable", by=by) == [(None, "P")]
        assert project(session, "P", "starts", by=by) == [(None, "P")]


def replace_range(session: Session, start: int, end: int) -> None:
    """What a compaction does, between two numbers that are nodes."""
    nodes = list(session.surface.nodes)
    gone = nodes[nodes.index(start) : nodes.index(end) + 1]
    session.append(
        "user/message",
        session.make.user_message("sum"),
        surface_op={"op": "replace", "startSeq": start, "endSeq": end},
        source_event_seqs=sorted(gone),
    )


# ---- The earlier rule: at most one commit ----------------------------------------------------------


def single(session: Session, rendered: str, *flags: Any) -> list[tuple[int | None, str]]:
    return project(session, rendered, *flags, by=SingleCommitProjection)


@FORMATS
def test_the_earlier_rule_appends_when_no_prompt_is_there(version: int) -> None:
    assert single(in_step(version), "") == [(None, "")]
    assert single(in_step(version), "A", "capable", "starts") == [(None, "A")]


@FORMATS
def test_the_earlier_rule_replaces_exactly_the_last_prompt(version: int) -> None:
    session = in_step(version)
    _, second = prompts(session, "A", "B")
    assert single(session, "B") == []
    assert single(session, "C") == [(second, "C")]
    assert single(session, "A") == [(second, "A")]
    assert single(session, "") == [(second, "")]
    assert single(session, "", "capable") == [(second, "")]
    system(session, [], second)
    assert single(session, "") == []


@FORMATS
def test_the_earlier_rule_on_a_capable_route(version: int) -> None:
    session = in_step(version)
    (head,) = prompts(session, "A")
    assert single(session, "B", "capable") == [(None, "B")]
    assert single(session, "B", "capable", "starts") == [(head, "B")]
    prompts(session, "B")
    assert single(session, "C", "capable") == [(None, "C")]
    assert single(session, "C", "capable", "starts") == [(None, "C")]
    assert single(session, "B", "capable", "starts") == []


# ---- Worked examples -------------------------------------------------------------------------------

TOOL = {"name": "t", "description": "d", "parameters": {"type": "object"}}


@dataclass
class Run:
    """A loop whose model always answers; each turn shows what it added and what the model reads."""

    session: Session
    prompt: PromptProjection | None = None
    turns: int = 0

    def __post_init__(self) -> None:
        self.loop = RequestProjections(self.session, self.prompt)

    def turn(
        self,
        rendered: str,
        *,
        capable: bool = False,
        tools: Sequence[Json] = (),
        starts: bool = False,
    ) -> tuple[list[tuple[str, str]], list[str], str]:
        """One turn: the prompt's commits as (old text, new text), the headers, and the roles that are sent."""
        self.turns += 1
        session = self.session
        session.append("turn/start", {"turn": self.turns})
        session.append("step/start", {"turn": self.turns, "step": 1})
        update = "in-history" if capable else None
        call = PreparedCall(config=CONFIG, tools=tools, system_prompt_update=update)
        added = self.loop.admit(
            Attempt(
                call=call,
                rendered=rendered,
                messages=[session.make.user_message("u")],
                starts_request_series=starts,
            )
        )
        sent = " ".join(map(self._shown, session.messages()))
        session.append_message(session.make.assistant_message("a", **CONFIG))
        session.append("step/end", {"turn": self.turns, "step": 1})
        session.append("turn/end", {"turn": self.turns, "reason": {"kind": "completed"}})
        commits = [self._commit(e.seq) for e in added if e.type == "system/message"]
        headers = [
            e.data["reason"] + " + startsSeries" * ("startsSeries" in e.data)
            for e in added
            if e.type == "request/header"
        ]
        return commits, headers, sent

    def compact(self, start: int, end: int) -> None:
        """Replace the nodes at these places of the surface (counted as in a list) by a summary."""
        nodes = list(self.session.surface.nodes)
        replace_range(self.session, nodes[start], nodes[end])

    def _commit(self, seq: int) -> tuple[str, str]:
        event = self.session.events[seq]
        new = self._words(event.data["message"])
        if event.surface_op == "append":
            return "append", new
        (replaced,) = event.source_event_seqs or [seq]
        return self._words(self.session.events[replaced].data["message"]), new

    @staticmethod
    def _words(message: Json) -> str:
        return message["content"][0]["text"] if message["content"] else ""

    def _shown(self, message: Json) -> str:
        if message["role"] == "system":
            return f"s:{self._words(message)}"
        if message["role"] == "user" and self._words(message) == "sum":
            return "sum"
        return str(message["role"][0])


@FORMATS
@pytest.mark.parametrize("by", [SystemPromptProjection, SingleCommitProjection])
def test_a_route_that_reads_only_the_head(version: int, by: type[PromptProjection]) -> None:
    session = new_session(version)
    run = Run(session, by(session.surface, session.dialect))
    assert run.turn("") == ([("append", "")], ["initial"], "u")
    assert run.turn("A") == ([("", "A")], ["series"], "s:A u a u")
    assert run.turn("A") == ([], [], "s:A u a u a u")
    assert run.turn("B") == ([("A", "B")], ["series"], "s:B u a u a u a u")
    assert run.turn("") == ([("B", "")], ["series"], "u a u a u a u a u")
    commits, headers, sent = run.turn("C", tools=[TOOL])
    assert (commits, headers) == ([("", "C")], ["change + startsSeries"])
    # In format 4 the new tool is told in a developer message, at the end.
    end = " d" if version == 4 else ""
    assert sent == "s:C u a u a u a u a u a u" + end


@FORMATS
def test_a_route_that_reads_the_newest(version: int) -> None:
    run = Run(new_session(version))
    assert run.turn("A", capable=True) == ([("append", "A")], ["initial"], "s:A u")
    assert run.turn("B", capable=True) == ([("append", "B")], [], "s:A u a s:B u")
    assert run.turn("C", capable=True) == ([("append", "C")], [], "s:A u a s:B u a s:C u")
    assert run.turn("A", capable=True) == ([("append", "A")], [], "s:A u a s:B u a s:C u a s:A u")
    assert run.turn("A", capable=True, starts=True) == (
        [("B", ""), ("C", ""), ("A", "")],
        ["series"],
        "s:A u a u a u a u a u",
    )
    assert run.turn("D", capable=True) == (
        [("append", "D")],
        [],
        "s:A u a u a u a u a u a s:D u",
    )
    users = "u" + " a u" * 6
    assert run.turn("", capable=True) == ([("D", ""), ("A", "")], ["series"], users)
    assert run.turn("", capable=True) == ([], [], users + " a u")
    assert run.turn("E", capable=True) == ([("append", "E")], [], users + " a u a s:E u")
    commits, headers, sent = run.turn("F", capable=True, tools=[TOOL])
    assert (commits, headers) == ([("E", ""), ("", "F")], ["change + startsSeries"])
    assert sent.startswith("s:F u")
    commits, headers, sent = run.turn("G", capable=True, tools=[TOOL])
    assert (commits, headers) == ([("append", "G")], [])
    assert sent.endswith("s:G u")
    first = run.session.context
    commits, headers, sent = run.turn("G", tools=[TOOL])
    assert (commits, headers) == ([("G", ""), ("F", "G")], ["series"])
    assert sent.startswith("s:G u")
    assert sent.count("s:") == 1
    assert first == {**CONFIG, "systemPromptUpdate": "in-history"}
    assert run.session.context == CONFIG


@FORMATS
def test_a_compaction_that_takes_a_later_prompt_away(version: int) -> None:
    run = Run(new_session(version))
    run.turn("A", capable=True)
    run.turn("B", capable=True)
    run.compact(1, -1)
    assert run.turn("B", capable=True) == ([("A", "B")], ["series"], "s:B sum u")


@FORMATS
def test_the_earlier_rule_after_the_same_compaction(version: int) -> None:
    session = new_session(version)
    run = Run(session, SingleCommitProjection(session.surface, session.dialect))
    run.turn("A", capable=True)
    run.turn("B", capable=True)
    run.compact(1, -1)
    assert run.turn("B", capable=True) == ([("A", "B")], ["series"], "s:B sum u")


@FORMATS
def test_a_compaction_over_the_head_is_refused(version: int) -> None:
    run = Run(new_session(version))
    run.turn("A")
    with pytest.raises(RefusedError) as caught:
        run.compact(0, 1)
    assert [found.rule for found in caught.value.findings] == ["surface/head-protected"]


@FORMATS
def test_a_malformed_prompt_is_refused(version: int) -> None:
    session = in_step(version, level="append")
    prompts(session, "A")
    session.append("system/message", {"turn": 1, "step": 1, "message": 5}, surface_op="append")
    with pytest.raises(RefusedError):
        project(session, "A")
