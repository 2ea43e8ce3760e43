"""Logs of every shape that a session takes, written with `Session` as a user would, for the official runtime to go on with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from official_runtime import PROVIDER
from recorded import ROOT, SHIPPED
from scripted_model import Reply, says

from dsh_protocol.rows import Event
from dsh_protocol.session import Session, end_interruption, repair

Json = dict[str, Any]

PLUGIN = Path(__file__).parents[1] / "data" / "official"
"""A plugin of ours for the official runtime, and the patch that loads it."""
PLAIN = "deepseek-v4-pro"
"""A model that reads no changes of its prompt or tools inside the history."""
IN_HISTORY = "deepseek-flash"
"""One that does."""
PROMPT = "You are a careful assistant."
ECHO: Json = {
    "name": "echo",
    "description": "Give a text back.",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}
"""The tool of `tools.mjs`, as a request header names it."""
LOOKUP: Json = {**ECHO, "name": "lookup", "description": "Look a word up."}
_STARTED = "interrupted after it was recorded"
_NOT_STARTED = "interrupted before the Harness recorded it as started"


class Author:
    """Writes a session turn by turn, in the order of the released loop."""

    def __init__(
        self, home: Path, workspace: Path, model: str, session: Session | None = None
    ) -> None:
        self.home = home
        self.workspace = workspace
        self.model = model
        self.session = session or Session.create(id="s-1", cwd=str(workspace))
        turns = (event.data["turn"] for event in self.session.events if event.type == "turn/start")
        self.turn = max(turns, default=0)

    def begin(
        self,
        text: str | Sequence[Mapping[str, Any]],
        *,
        system: str | None = None,
        tools: Sequence[Json] | None = None,
        reason: str = "initial",
        told: Sequence[str] = (),
    ) -> None:
        """Open a turn with one step: a prompt if there is a new one, the input, a header if there are `tools`."""
        session = self.session
        self.turn += 1
        session.append("turn/start", {"turn": self.turn})
        session.append("step/start", {"turn": self.turn, "step": 1})
        if system is not None:
            session.append_message(session.make.system_message(system))
        session.append_message(session.make.user_message(text))
        if tools is not None:
            self.header(tools, reason)
        if told:
            message = session.make.developer_message(added=told)
            session.append_message(message, headerSeq=session.next_seq - 1)

    def header(self, tools: Sequence[Json], reason: str) -> None:
        """Say what the model is asked with from now on."""
        config = {"provider": PROVIDER, "model": self.model, "maxTokens": 256000}
        defaults = {"reasoningEffort": True, "maxTokens": True}
        header: Json = {
            "config": {**config, "reasoningEffort": "high"},
            "adapterDefaults": defaults,
        }
        if tools:
            header["tools"] = list(tools)
        self.session.append("request/header", {"header": header, "reason": reason})

    def answer(self, text: str = "", calls: Sequence[str] = ()) -> None:
        """Let the model say something, and call `echo` once for each of these ids."""
        blocks: list[Json] = [{"type": "text", "text": text}] if text else []
        for id_ in calls:
            arguments = f'{{"text":"{id_}"}}'
            blocks.append({"type": "tool-call", "id": id_, "name": "echo", "arguments": arguments})
        make = self.session.make
        message = make.assistant_message(blocks, provider=PROVIDER, model=self.model)
        self.session.append_message(message)

    def start(self, call: str) -> None:
        """Start a tool call."""
        data = {"turn": self.turn, "step": 1, "callId": call, "name": "echo"}
        self.session.append("tool/call", {**data, "arguments": f'{{"text":"{call}"}}'})

    def result(self, call: str, text: str, **more: Any) -> None:
        """Give a call its result."""
        self.session.append_message(self.session.make.tool_result(call, text, **more))

    def end(self) -> None:
        """End the step and the turn."""
        self.session.append("step/end", {"turn": self.turn, "step": 1})
        reason = {"kind": "completed"}
        self.session.append("turn/end", {"turn": self.turn, "reason": reason})

    def exchange(self, text: str, answer: str, **begin: Any) -> None:
        """A turn without tools."""
        self.begin(text, **begin)
        self.answer(answer)
        self.end()

    def take(self, events: Sequence[Event]) -> None:
        """Append events that somebody made."""
        for event in events:
            self.session.append(
                event.type,
                event.data,
                surface_op=event.surface_op,
                source_event_seqs=event.source_event_seqs,
                time=event.time,
            )


@dataclass(frozen=True, slots=True)
class Shape:
    """A log, and what comes of it when the official runtime goes on.

    `model` and `prompt` are those of the runtime. `script` are the answers of the model, `tail` bytes that stand behind
    the log. What the first request has to contain, and what not, is in `has` and `lacks`: so that it is the shape which is
    tested, and not its absence.
    """

    write: Callable[[Author], None]
    model: str = PLAIN
    prompt: str = PROMPT
    compression: Literal["none", "zstd"] = "none"
    script: tuple[Reply, ...] = (says("Continued."),)
    tail: bytes = b""
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


def plain(author: Author) -> None:
    author.exchange("Hi.", "Hello.", system=PROMPT, tools=[ECHO])
    author.exchange("Again, in 中文 😀.", "你好 😀")


def tools(author: Author) -> None:
    author.begin("Say a and b.", system=PROMPT, tools=[ECHO])
    author.answer("Now.", calls=["a", "b"])
    author.start("a")
    author.result("a", "A first result.")
    author.start("b")
    author.result("b", "It went wrong.", is_error=True)
    author.answer("Done.")
    author.end()


def replaced_prompt(author: Author) -> None:
    author.exchange("Hi.", "Hello.", system="The first prompt.", tools=[ECHO])
    session = author.session
    author.begin("Again.")
    message = session.make.system_message("The second prompt.")
    session.append(
        "system/message",
        {"turn": author.turn, "step": 1, "message": message},
        surface_op={"op": "replace", "startSeq": 2, "endSeq": 2},
        source_event_seqs=[2],
    )
    author.answer("Hello again.")
    author.end()


def appended_prompts(author: Author) -> None:
    author.exchange("Hi.", "Hello.", system="The first prompt.", tools=[ECHO])
    author.exchange("Again.", "Hello again.", system="The second prompt.")


def empty_head(author: Author) -> None:
    author.exchange("Hi.", "Hello.", system="", tools=[ECHO])


def compaction(author: Author) -> None:
    author.exchange("An old question.", "An old answer.", system=PROMPT, tools=[ECHO])
    author.exchange("A recent question.", "A recent answer.")
    session = author.session
    compacted = [3, 5]
    session.append("turn/start", {"turn": 3})
    start = session.append("compaction/start", {"compactionId": "k-1", "turn": 3})
    text = [{"type": "text", "text": "What was said before."}]
    summary = session.append(
        "compaction/summary",
        {
            "compactionId": "k-1",
            "summary": text,
            "rawOutput": text,
            "llmStreamCall": True,
            "shadowedRange": {"start": 3, "end": 5},
            "shadowedSeqs": compacted,
            "shadowedTokenCount": 20,
            "provider": PROVIDER,
            "model": author.model,
            "maxTokens": 300,
        },
    )
    source = {"kind": "compact-checkpoint", "compactionId": "k-1"}
    session.append(
        "user/message",
        session.make.user_message(text, source=source),
        surface_op={"op": "replace", "startSeq": 3, "endSeq": 5},
        source_event_seqs=[start.seq, summary.seq, *compacted],
    )
    session.append("compaction/end", {"compactionId": "k-1", "turn": 3})
    session.append("turn/end", {"turn": 3, "reason": {"kind": "completed"}})


def half_a_turn(author: Author) -> None:
    """A turn that stops while one tool runs and another has not been started."""
    author.exchange("Hi.", "Hello.", system=PROMPT, tools=[ECHO])
    author.begin("Say a, b and c.")
    author.answer(calls=["a", "b", "c"])
    author.start("a")
    author.result("a", "A first result.")
    author.start("b")


def repaired(author: Author) -> None:
    half_a_turn(author)
    author.take(repair(author.session.events))


def fork(author: Author) -> None:
    half_a_turn(author)
    parent = author.session
    author.result("b", "The parent alone has this result.")
    author.session = parent.fork(parent.next_seq - 2, id="s-1")


def fork_of_a_fork(author: Author) -> None:
    plain(author)
    child = author.session.fork(id="s-2")
    author.session = child
    author.exchange("The child asks.", "The child is answered.")
    author.session = child.fork(id="s-1")


def half_a_step(author: Author) -> None:
    """A step whose answer has not come."""
    author.exchange("Hi.", "Hello.", system=PROMPT, tools=[ECHO])
    author.begin("Are you there?")


def half_a_compaction(author: Author) -> None:
    """A turn that stops while the history is summarized."""
    author.exchange("Hi.", "Hello.", system=PROMPT, tools=[ECHO])
    author.session.append("turn/start", {"turn": 2})
    author.session.append("compaction/start", {"compactionId": "k-1", "turn": 2})


def ended_compaction(author: Author) -> None:
    half_a_compaction(author)
    author.take(end_interruption(author.session.events))


def many_types(author: Author) -> None:
    """Every event that a log may have at its end, whatever it is about: the examples of the specification."""
    plain(author)
    session = author.session
    # Input that waits has a shape of its own, and the directory of the example does not exist.
    others = {*session.dialect.surface_types, "agent/inbox/spliced", "working-directory/change"}
    for path in sorted((ROOT / "spec" / "examples" / "session" / "v4").glob("*/maximal.json")):
        event = json.loads(path.read_text(encoding="utf-8"))["value"]
        if event.get("type") in others or "data" not in event:
            continue
        given = (event["type"], event["data"])
        if not any(f.severity == "error" for f in session.check_append(*given)):
            session.append(*given)
    assert len({event.type for event in session.events}) > 20


def ignorable(author: Author) -> None:
    author.begin("Hi.", system=PROMPT, tools=[ECHO])
    author.session.append_plugin_record("plugin:acme/note", {"text": "of our own", "n": [1, 2.5]})
    author.answer("Hello.")
    author.session.append("acme/unknown", {"anything": None}, ignorable=True)
    author.end()


def runtime_context(author: Author) -> None:
    author.begin("Hi.", system=PROMPT, tools=[ECHO])
    section = f'Current working directory: "{author.workspace}".'
    head = "Current runtime context. This snapshot supersedes earlier runtime-context snapshots."
    source: Json = {
        "kind": "runtime-context",
        "form": "snapshot",
        "sections": [{"name": "working-directory:current", "text": section}],
    }
    session = author.session
    session.append_message(session.make.user_message(f"{head}\n\n{section}", source=source))
    author.answer("Hello.")
    author.end()


def images(author: Author) -> None:
    """Two pictures, of which the first is taken out again."""
    (stored,) = (SHIPPED / "v4" / "image-inline" / "attachments").rglob("efbe6*")
    content = stored.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    target = author.home / "attachments" / "v1" / "objects" / digest[:2] / digest
    target.parent.mkdir(parents=True)
    target.write_bytes(content)
    size = {"width": 40, "height": 30, "bytes": len(content)}
    reference = {"attachmentId": f"sha256:{digest}", "mediaType": "image/png", **size}
    image = {"type": "image", "attachment": reference}
    author.begin([{"type": "text", "text": "Two."}, image, image], system=PROMPT, tools=[ECHO])
    author.session.append("image/offload", {"targets": [{"seq": 3, "imageIndexes": [0]}]})
    author.answer("I see.")
    author.end()


def tool_changes(author: Author) -> None:
    author.exchange("Hi.", "Hello.", system=PROMPT, tools=[])
    author.exchange("Now with a tool.", "Yes.", tools=[LOOKUP], reason="change", told=["lookup"])


def attempts(author: Author) -> None:
    author.begin("Hi.", system=PROMPT, tools=[ECHO])
    failure = {"message": "bad input", "code": "INVALID_REQUEST", "status": 400}
    finish = {"type": "finish", "reason": {"kind": "error", "failure": failure}}
    stream = [{"type": "chunk", "time": 1, "chunk": finish}]
    author.session.append("assistant/attempt", {"turn": 1, "step": 1, "stream": stream})
    author.session.append("step/end", {"turn": 1, "step": 1})
    reason = {"kind": "error", "error": failure}
    author.session.append("turn/end", {"turn": 1, "reason": reason})


def waiting_input(author: Author) -> None:
    author.exchange("Hi.", "Hello.", system=PROMPT, tools=[ECHO])
    message = author.session.make.user_message("This one waits.")
    data = {"target": "next-turn", "start": 0, "inserted": [message]}
    author.session.append("agent/inbox/spliced", data)


def odd_texts(author: Author) -> None:
    odd = '\u2028 \x00 \x7f \ud800 \\ " / <b> \r\n\t 😀 e\u0301'
    author.exchange(odd, odd, system=PROMPT, tools=[ECHO])


TWO = (says("", calls=[("c-9", "echo", {"text": "An echo."})]), says("It said so."))

SHAPES: dict[str, Shape] = {
    "plain": Shape(plain, has=("Again, in 中文 😀.", "你好 😀")),
    "tools": Shape(tools, IN_HISTORY, script=TWO, has=("A first result.", '"is_error":true')),
    "replaced-prompt": Shape(replaced_prompt, prompt="A third prompt.", has=("A third prompt.",)),
    "replaced-prompt-kept": Shape(
        replaced_prompt, prompt="The second prompt.", has=('"system":"The second prompt."',)
    ),
    "appended-prompts": Shape(
        appended_prompts,
        IN_HISTORY,
        "A third prompt.",
        has=("The first prompt.", "The second prompt.", "A third prompt."),
    ),
    "appended-prompts-put-in-front": Shape(
        appended_prompts, PLAIN, "A third prompt.", has=('"system":"A third prompt."',)
    ),
    "empty-head": Shape(empty_head, prompt="", lacks=('"system":',)),
    "empty-head-filled": Shape(empty_head, has=(f'"system":"{PROMPT}"',)),
    "compaction": Shape(
        compaction,
        has=("What was said before.", "A recent question."),
        lacks=("An old question.", "An old answer."),
    ),
    "fork": Shape(
        fork,
        has=("A first result.", "The parent session may have", '"tool_use_id":"c"'),
        lacks=("The parent alone has this result.",),
    ),
    "fork-of-a-fork": Shape(fork_of_a_fork, has=("Again, in 中文 😀.", "The child asks.")),
    "repaired-interruption": Shape(repaired, has=(_STARTED, _NOT_STARTED)),
    "interruption": Shape(half_a_turn, has=(_STARTED, _NOT_STARTED)),
    "interrupted-step": Shape(half_a_step, has=("Are you there?",)),
    "interrupted-compaction": Shape(half_a_compaction, has=("Hello.",)),
    "repaired-compaction": Shape(ended_compaction, has=("Hello.",)),
    "many-types": Shape(many_types, has=("Again, in 中文 😀.",)),
    "torn-end": Shape(plain, tail=b'{"type":"turn/start","seq":13,"ti', has=("你好 😀",)),
    "unknown-ignorable-event": Shape(ignorable, has=("Hello.",)),
    "zstd": Shape(tools, compression="zstd", script=TWO, has=("A first result.",)),
    "zstd-fork": Shape(fork, compression="zstd", has=("The parent session may have",)),
    "zstd-torn-end": Shape(plain, compression="zstd", tail=b"\x28\xb5\x2f\xfd\x04", has=("你好",)),
    "runtime-context": Shape(runtime_context, has=("Current working directory",)),
    "images": Shape(images, IN_HISTORY, has=('"data":"iVBORw0KGgo',)),
    "tool-changes": Shape(tool_changes, IN_HISTORY, has=('"tool_addition"', "defer_loading")),
    "tool-changes-unsaid": Shape(
        tool_changes, has=('"echo"',), lacks=("tool_addition", "defer_loading")
    ),
    "attempts": Shape(attempts, has=("Hi.",)),
    "waiting-input": Shape(
        waiting_input, script=(says("First."), says("Second.")), has=("This one waits.",)
    ),
    "odd-texts": Shape(odd_texts, has=("\u2028", "\\ud800", "e\u0301", "<b>")),
    "no-events": Shape(lambda _author: None, has=(f'"system":"{PROMPT}"',)),
}
