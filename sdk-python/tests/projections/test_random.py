"""Random sessions: whatever the prompts, routes and replacements were, the log is valid and the model reads what it should."""

from __future__ import annotations

from typing import Any

from attempts import snapshot
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sessions import CONFIG, new_session, stored

from dsh_protocol.check import check_log
from dsh_protocol.projections import (
    CLEARED,
    Attempt,
    PreparedCall,
    PromptProjection,
    RequestProjections,
    SingleCommitProjection,
    SystemPromptProjection,
)
from dsh_protocol.rows import open_log
from dsh_protocol.session import Session
from dsh_protocol.state.prompts import sole_text

Json = dict[str, Any]
TEXTS = st.sampled_from(["", "A", "B", "C"])
SECTIONS = st.sampled_from([[], [{"name": "x", "text": "1"}], [{"name": "x", "text": "2"}]])
TOOLS = st.lists(st.sampled_from("abc"), unique=True)


def _tool(name: str) -> Json:
    return {"name": name, "description": name, "parameters": {"type": "object"}}


def scanned(session: Session) -> list[tuple[int, str | None]]:
    """The prompts on the surface with their texts, by looking at every node."""
    prompts = []
    for event in session.surface.events():
        if event.type == "system/message":
            message = event.data["message"]
            prompts.append((event.seq, sole_text(message) if message["content"] else ""))
    return prompts


class Loops(RuleBasedStateMachine):
    """A loop that is asked for one attempt after the other, and others who rewrite its surface."""

    by: type[PromptProjection] = SystemPromptProjection

    @initialize(version=st.sampled_from([3, 4]))
    def begin(self, version: int) -> None:
        self.session = new_session(version)
        self.turn = 0
        self.attach()

    @rule()
    def attach(self) -> None:
        """A loop begins, or begins anew."""
        prompt = self.by(self.session.surface, self.session.dialect)
        self.loop = RequestProjections(self.session, prompt)

    @rule(
        rendered=TEXTS,
        sections=SECTIONS,
        tools=TOOLS,
        capable=st.booleans(),
        takes_tools=st.booleans(),
        starts=st.booleans(),
        retries=st.integers(0, 1),
    )
    def step(
        self,
        rendered: str,
        sections: list[Json],
        tools: list[str],
        capable: bool,
        takes_tools: bool,
        starts: bool,
        retries: int,
    ) -> None:
        """A turn with one step, which may be tried again."""
        session = self.session
        self.turn += 1
        session.append("turn/start", {"turn": self.turn})
        text = snapshot(sections)
        messages = self.loop.enter([session.make.user_message("u")], text, sections)
        session.append("step/start", {"turn": self.turn, "step": 1})
        call = PreparedCall(
            config=CONFIG,
            tools=[_tool(name) for name in tools],
            system_prompt_update="in-history" if capable else None,
            tool_update="in-history" if takes_tools else None,
        )
        for attempt in range(retries + 1):
            self.loop.admit(
                Attempt(
                    call=call,
                    rendered=rendered,
                    snapshot=text,
                    sections=sections,
                    messages=messages,
                    is_first=attempt == 0,
                    starts_request_series=starts,
                )
            )
            self.check_prompt(rendered, capable)
            self.check_context(text)
        session.append_message(session.make.assistant_message("a", **CONFIG))
        session.append("step/end", {"turn": self.turn, "step": 1})
        session.append("turn/end", {"turn": self.turn, "reason": {"kind": "completed"}})

    @rule(data=st.data())
    def compact(self, data: st.DataObject) -> None:
        """A range of the surface without its head gives way to a summary."""
        nodes = list(self.session.surface.nodes)
        if not nodes:
            return
        low = data.draw(st.integers(0, len(nodes) - 1))
        high = data.draw(st.integers(low, len(nodes) - 1))
        if low == 0 and self.session.surface.type_of(nodes[0]) == "system/message":
            return
        gone = nodes[low : high + 1]
        self.session.append(
            "user/message",
            self.session.make.user_message("sum"),
            surface_op={"op": "replace", "startSeq": gone[0], "endSeq": gone[-1]},
            source_event_seqs=sorted(gone),
        )

    def check_prompt(self, rendered: str, capable: bool) -> None:
        """The model obeys the newest prompt on a capable route, and the first one on any other: there is one then."""
        told = [text for _, text in scanned(self.session) if text != ""]
        if not rendered:
            assert told == []
        elif capable:
            assert told[-1] == rendered
        else:
            assert told == [rendered]

    def check_context(self, text: str) -> None:
        """The newest message with runtime context that the model has is the one in force."""
        is_context = self.session.dialect.is_context
        told = [
            sole_text(message)
            for message in self.session.messages()
            if message["role"] == "user" and is_context(message["source"])
        ]
        if text:
            assert told[-1] == text
        else:
            assert told[-1:] in ([], [CLEARED])

    @invariant()
    def the_state_follows_the_prompts(self) -> None:
        prompts = scanned(self.session)
        tracked = self.session.surface.prompts
        assert tracked.head == (prompts[0][0] if prompts else None)
        assert tracked.last == (prompts[-1][0] if prompts else None)
        assert tracked.speaking() == [seq for seq, text in prompts if text != ""]
        assert [tracked.text(seq) for seq, _ in prompts] == [text for _, text in prompts]

    def teardown(self) -> None:
        if hasattr(self, "session"):
            report = check_log(open_log(stored(self.session)))
            assert [found for found in report.findings if found.severity == "error"] == []


class EarlierLoops(Loops):
    """The same with the rule that allows one commit: the log is valid, too, but older prompts may still be read."""

    by = SingleCommitProjection

    def check_prompt(self, rendered: str, capable: bool) -> None:
        prompts = scanned(self.session)
        assert prompts[-1][1] == rendered


TestLoops = Loops.TestCase
TestLoops.settings = settings(max_examples=60, stateful_step_count=12, deadline=None)
TestEarlierLoops = EarlierLoops.TestCase
TestEarlierLoops.settings = settings(max_examples=30, stateful_step_count=12, deadline=None)


@given(rendered=TEXTS, capable=st.booleans(), starts=st.booleans(), texts=st.lists(TEXTS))
def test_a_projection_that_was_carried_out_has_nothing_left_to_do(
    rendered: str, capable: bool, starts: bool, texts: list[str]
) -> None:
    session = new_session()
    session.append("turn/start", {"turn": 1})
    session.append("step/start", {"turn": 1, "step": 1})
    for text in texts:
        session.append_message(session.make.system_message(text))
    projection = SystemPromptProjection(session.surface, session.dialect)
    for commit in projection.project(rendered, in_history=capable, starts_series=starts):
        session.append(
            "system/message",
            {"turn": 1, "step": 1, "message": commit.message},
            surface_op=commit.surface_op,
            source_event_seqs=commit.source_event_seqs,
        )
    assert projection.project(rendered, in_history=capable, starts_series=starts) == []
    assert projection.project(rendered, in_history=capable, starts_series=False) == []
