"""Random scripts of the op `loop.replay`: what an agent is given, says and meets, made from a number."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

Json = dict[str, Any]

IN_HISTORY = "in-history"
ECHO: Json = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}
TOOLS: list[Json] = [
    {"name": "echo", "parameters": ECHO},
    {"name": "look", "parallel": True},
    {"name": "see", "parallel": True},
]
STOP: Json = {"type": "finish", "reason": {"kind": "stop"}}
_ARGUMENTS = ("{}", "", '{"text":"x"}', '{"text":', "[1]", '{"n":1e999}')
_CODES = ("SERVER", "RATE_LIMIT", "INVALID_REQUEST", "EMPTY_RESPONSE", "ODD")
_ROUTES: tuple[Json, ...] = (
    {},
    {"contextWindow": 100},
    {"systemPromptUpdate": IN_HISTORY},
    {"systemPromptUpdate": IN_HISTORY, "toolUpdate": IN_HISTORY},
    {"toolUpdate": "addition-only", "defaultMaxTokens": 50},
    {"efforts": ["low", "high"], "defaultEffort": "low"},
)


class ScriptWriter:
    """Writes one script. Nothing in it depends on how long anything takes."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._calls: Json = {}
        self._said = 0

    def script(self) -> Json:
        """The input of a case."""
        random = self._random
        backoff = {"initialDelayMs": 1, "maxDelayMs": 3, "jitterRatio": 0}
        given: Json = {
            "prompt": random.choice(("", "Be brief.", "Be kind.")),
            "context": random.choice(("", "Sunny.")),
            "route": random.choice(_ROUTES),
            "tools": TOOLS,
            "retryPolicy": random.choice(
                (
                    {"mode": "normal", "maxRetries": 2, "backoff": backoff},
                    {"mode": "normal", "maxRetries": 0},
                    {"mode": "always", "backoff": backoff},
                )
            ),
            "hooks": self._hooks(),
            "inputs": [self._input() for _ in range(random.randint(2, 5))],
        }
        given["replies"] = [self._reply() for _ in range(14)] + [[STOP]] * 30
        return {**given, "calls": self._calls}

    # ---- Acts ----------------------------------------------------------------------------------------

    def _text(self) -> str:
        self._said += 1
        return f"text {self._said}"

    def _input(self) -> list[Json]:
        random = self._random
        acts = [self._act() for _ in range(random.randint(0, 3))]
        # The official loop reads the prompt while a waking call returns, ours a moment later.
        acts.sort(key=lambda act: act["do"] != "set")
        if random.random() < 0.15:
            acts.insert(0, {"do": "restart"})
        return [*acts, {"do": random.choice(("followup", "steer")), "text": self._text()}]

    def _act(self) -> Json:
        random = self._random
        verbs = ("followup", "steer", "inject", "inject", "cancel", "set", "prepend")
        verb = random.choice(verbs)
        if verb == "cancel":
            cause = random.choice(({"kind": "user"}, {"kind": "hook", "reason": "why"}))
            return {"do": "cancel", "cause": cause, "keepInbox": random.random() < 0.5}
        if verb == "set":
            return {"do": "set", **self._setting()}
        if verb == "prepend":
            target = random.choice(("next-turn", "next-step"))
            return {"do": "pending", "verb": "prepend", "target": target, "text": self._text()}
        return {"do": verb, "text": self._text()}

    def _setting(self) -> Json:
        random = self._random
        settings: tuple[Json, ...] = (
            {"prompt": random.choice(("", "Be brief.", "Be verbose."))},
            {"context": random.choice(("", "Sunny.", "Rain."))},
            {"tools": random.choice((["echo"], ["look", "see"], ["echo", "look", "see"], []))},
            {"route": random.choice(_ROUTES)},
        )
        return random.choice(settings)

    def _acts(self, chance: float) -> list[Json]:
        return [self._act()] if self._random.random() < chance else []

    # ---- Hooks ---------------------------------------------------------------------------------------

    def _hooks(self) -> Json:
        random = self._random
        makers: dict[str, Callable[[], Json]] = {
            "pre-step": self._pre_step,
            "request": lambda: random.choice(({"config": {"temperature": 0.5}}, {})),
            "request-error": lambda: random.choice(({"retries": True}, {}, {})),
            "turn-stopping": dict,
            "stream": lambda: random.choice(({"after": 1, "throws": "broken"}, {}, {})),
        }
        return {
            name: [self._turn(make()) for _ in range(random.randint(0, 5))]
            for name, make in makers.items()
        }

    def _turn(self, turn: Json) -> Json:
        if self._random.random() < 0.05:
            turn["throws"] = "refused"
        return {**turn, "acts": self._acts(0.25)}

    def _pre_step(self) -> Json:
        turns: tuple[Json, ...] = (
            *({}, {}),
            *({"rejects": True}, {"drops": True}, {"startsRequestSeries": True}),
            {"adds": [{"text": self._text()}]},
        )
        return dict(self._random.choice(turns))

    # ---- Answers -------------------------------------------------------------------------------------

    def _reply(self) -> list[Json]:
        random = self._random
        chunks: list[Json] = [*self._acts(0.1)]
        index = 0
        if random.random() < 0.3:
            chunks += [{"type": "reasoning-delta", "index": 0, "text": self._text()}]
            index += 1
        if random.random() < 0.7:
            texts = random.choice((["a", "b"], [" "], ["c"]))
            chunks += [{"type": "text-delta", "index": index, "text": text} for text in texts]
            index += 1
        chunks += self._acts(0.2)
        if random.random() < 0.5:
            for _ in range(random.randint(1, 4)):
                chunks += self._tool_call(index)
                index += 1
        if random.random() < 0.5:
            usage = {"inputTokens": 3, "outputTokens": 1}
            chunks.append({"type": "usage", "usage": usage})
        return [*chunks, *self._acts(0.1), *self._finish()]

    def _finish(self) -> list[Json]:
        random = self._random
        if random.random() < 0.1:
            return []
        kind = random.choice(("stop", "stop", "tool-calls", "max-tokens", "error", "aborted"))
        reason: Json = {"kind": kind}
        if kind in ("error", "aborted"):
            reason["failure"] = {"message": "it broke", "code": random.choice(_CODES)}
            if random.random() < 0.3:
                reason["failure"]["providerRetryAfterMs"] = random.choice((2, 9))
        return [{"type": "finish", "reason": reason}]

    def _tool_call(self, index: int) -> list[Json]:
        random = self._random
        id_ = f"c{len(self._calls) + 1}"
        name = random.choice(("echo", "echo", "look", "see", "nobody"))
        text = random.choice(_ARGUMENTS) if name in ("echo", "nobody") else "{}"
        self._calls[id_] = self._call(name)
        block = {"type": "tool-call", "id": id_, "name": name, "arguments": text}
        delta = {"type": "tool-call-delta", "index": index, "id": id_, "name": name}
        return [
            {**delta, "argumentsDelta": text},
            {"type": "block-end", "index": index, "block": block},
        ]

    def _call(self, name: str) -> Json:
        """What the body of a call does. Parallel ones take their time, so that all of a pool begin before one ends."""
        random = self._random
        call: Json = {"returns": self._text()}
        if random.random() < 0.2:
            call["throws"] = "went wrong"
        if random.random() < 0.1:
            call["coded"] = {"name": "DiskError", "code": "DISK_FULL", "message": "no room"}
        if random.random() < 0.3:
            call["contexts"] = [{"text": self._text()} for _ in range(random.randint(1, 2))]
        if random.random() < 0.15:
            call["concludes"] = True
        call["acts"] = self._acts(0.3) if name == "echo" else [{"do": "pause", "ms": 20}]
        return call
