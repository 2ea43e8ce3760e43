"""Random questions about prompts, tools and projections, and whether both sides answer them alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from dsh_protocol.conformance.adapter import answer
from dsh_protocol.conformance.judge import RIGHT, judge

from .compare import Ask, Difference
from .logs import random_log
from .writer import Json

_EXACT = frozenset(
    {
        *("prompt/reference-malformed", "prompt/reference-name", "prompt/reference-unknown"),
        *("prompt/reference-no-value", "prompt/multiple-complete", "prompt/tool-name-reserved"),
        *("prompt/tool-order-unknown", "prompt/tool-order-repeated", "prompt/tool-order-rest"),
        *("tools/schema-subset", "tools/schema-author", "tools/parameters-lossless"),
    }
)
"""The rules whose message ends up in a log, and is the same everywhere."""

_PIECES = (
    "{{x}}",
    "{{y}}",
    "{{",
    "}}",
    "{",
    "}",
    "a",
    " ",
    "\n",
    "{{ x }}",
    "{{X}}",
    "\U0001f600",
    "",
)
_NAMES = ("a", "b", "B", "\U0001f600", "\ufffd", "deployment:persona-prefix")
_ORDERS: tuple[Any, ...] = (-1, 0, 0, 0, 1, 1.5, 2, "1", None)
_VARIABLES = ("x", "y", "z", "X")
_TOOLS = ("bash", "read", "write", "Read", "<unlisted-tools>")
_OWNERS = (None, None, "plugin", "preset", "agent")
_TYPES = ("string", "number", "integer", "boolean", "null", "array", "object", "json", "text")
_SCALARS: tuple[Any, ...] = ("", "a", "b", 0, 1, 1.5, -1, True, False, None)
_RENDERED = ("", "A", "A", "B", "C")


def prompt_differences(rng: random.Random, version: int, ask: Ask) -> list[Difference]:
    """What the two sides say differently about a random question."""
    op, given = question(rng, version)
    ours, theirs = answer(op, given, version), ask(op, given)
    if "unsupported" in theirs or agree(ours, theirs):
        return []
    return [Difference(op, {"input": given, **ours}, theirs, None)]


def agree(ours: Json, theirs: Json) -> bool:
    """Whether both give the same values and refuse the same, with the same words where these are fixed."""
    steps = [_expected(each) for each in ours.get("steps", ())]
    expect = {"steps": steps} if steps else _expected(ours)
    return judge(expect, theirs, ("code", "text")).verdict in RIGHT


def _expected(ours: Json) -> Json:
    if "ok" in ours:
        return {"ok": ours["ok"]}
    refused = dict(ours["refused"])
    if refused.get("rule") not in _EXACT and refused.get("code") != "THROWN":
        refused.pop("text", None)
    return {"refused": refused}


def question(rng: random.Random, version: int) -> tuple[str, Json]:
    """An op and an input for it."""
    kinds: Sequence[Callable[[random.Random, int], tuple[str, Json]]] = (_attempts, _requests)
    if version >= 4:
        kinds = (_service, _service, _calls, _calls, _text, _subset, _typed, _value, *kinds)
    return rng.choice(kinds)(rng, version)


# ---- Services ----------------------------------------------------------------------------------------


def _service(rng: random.Random, _version: int) -> tuple[str, Json]:
    config: Json = {"includeHarnessIdentity": False}
    if rng.random() < 0.3:
        config["toolOrder"] = rng.sample([*_TOOLS[:4], "<unlisted-tools>"], rng.randint(1, 5))
    if rng.random() < 0.2:
        config["includeRuntimeContext"] = False
    start = {"do": "start", "config": config}
    if "<unlisted-tools>" not in config.get("toolOrder", ("<unlisted-tools>",)):
        # The service does not start, and there is nothing to do.
        return "prompt.run", {"steps": [start]}
    steps: list[Json] = [
        start,
        {"do": "plugin", "name": "plugin"},
        {"do": "scope", "name": "preset"},
        {"do": "scope", "name": "agent", "parent": "preset"},
    ]
    made: list[str] = []
    steps += [_service_step(rng, made, f"r{index}") for index in range(rng.randint(4, 14))]
    name = rng.choice((None, "preset", "agent", "nobody"))
    context = {} if name is None else {"scope": name}
    shown = [{"do": do, "of": "last"} for do in ("render", "contexts", "tools-text")]
    steps += [{"do": "assemble", "context": context, "as": "last"}, *shown]
    steps.append(_service_step(rng, made, "late"))
    steps += [{"do": "refresh", "of": "last", "context": context}, {"do": "calls"}]
    return "prompt.run", {"steps": steps}


def _service_step(rng: random.Random, made: list[str], label: str) -> Json:
    if made and rng.random() < 0.1:
        return {"do": "dispose", "of": rng.choice(made)}
    if rng.random() < 0.03:
        return {"do": "unload", "owner": rng.choice(("plugin", "preset", "agent"))}
    step = rng.choice(
        (_section, _section, _context, _context, _variable, _provider, _suppress, _listen)
    )(rng)
    owner = rng.choice(_OWNERS)
    made.append(label)
    return {**step, "as": label, **({} if owner is None else {"owner": owner})}


def _section(rng: random.Random) -> Json:
    return {"do": "section", "section": _entry(rng, "complete", 0.1)}


def _context(rng: random.Random) -> Json:
    return {"do": "context", "context": _entry(rng, "required", 0.3)}


def _entry(rng: random.Random, flag: str, chance: float) -> Json:
    entry: Json = {"name": rng.choice(_NAMES), "order": rng.choice(_ORDERS), "text": _words(rng)}
    if rng.random() < 0.2:
        entry["text"] = {"counts": entry["text"], "as": entry["name"]}
    if rng.random() < 0.4:
        entry["interpolate"] = rng.random() < 0.3
    if rng.random() < chance:
        entry[flag] = True
    return entry


def _words(rng: random.Random) -> str:
    return "".join(rng.choice(_PIECES) for _ in range(rng.choice((0, 1, 1, 2, 5))))


def _variable(rng: random.Random) -> Json:
    value = rng.choice((_words(rng), "1", {"undefined": True}, {"value": "2", "as": "variable"}))
    return {"do": "variable", "name": rng.choice(_VARIABLES), "value": value}


def _provider(rng: random.Random) -> Json:
    names = rng.choices(_TOOLS[:4] if rng.random() < 0.9 else _TOOLS, k=rng.randint(0, 3))
    result: Json = {"schemas": [_tool(rng, name) for name in names]}
    if rng.random() < 0.4:
        result["knownNames"] = rng.sample(_TOOLS[:4], rng.randint(0, 4))
    return {"do": "tools", "result": result}


def _tool(rng: random.Random, name: str) -> Json:
    tool: Json = {"name": name, "description": rng.choice("dDe"), "parameters": {"type": "object"}}
    if rng.random() < 0.3:
        tool |= rng.choice(({"deferLoading": True}, {"deferLoading": False}, {"private": 1}))
    return tool


def _suppress(_rng: random.Random) -> Json:
    return {"do": "suppress"}


def _listen(rng: random.Random) -> Json:
    acts = [
        rng.choice(
            (
                {"act": "insert", "path": "/sections/0", "value": {"name": "new", "text": "{{x}}"}},
                {"act": "insert", "path": "/contexts/0", "value": {"name": "b", "text": "new"}},
                {"act": "set", "path": "/variables/x", "value": "set"},
                {"act": "remove", "path": "/sections/0"},
                {"act": "set", "path": "/note", "value": 1},
            )
        )
        for _ in range(rng.randint(0, 2))
    ]
    acts.insert(rng.randint(0, len(acts)), {"act": "next"})
    return {
        "do": "listen",
        "acts": acts,
        "prepend": rng.random() < 0.3,
        "global": rng.random() < 0.2,
    }


def _text(rng: random.Random, _version: int) -> tuple[str, Json]:
    text = "".join(rng.choice(_PIECES) for _ in range(rng.randint(1, 9)))
    variables = [{"name": "x", "value": _words(rng)}, {"name": "y"}]
    kind = rng.choice(("section", "context"))
    given = {"text": text, "variables": rng.sample(variables, rng.randint(0, 2))}
    return "prompt.interpolate", {**given, "kind": kind, "name": rng.choice(_NAMES)}


# ---- Tools -------------------------------------------------------------------------------------------


def _calls(rng: random.Random, _version: int) -> tuple[str, Json]:
    steps: list[Json] = [
        {"do": "scope", "name": "preset"},
        {"do": "scope", "name": "agent", "parent": "preset"},
        {"do": "on-result", "as": "result"},
    ]
    steps += [_registry_step(rng) for _ in range(rng.randint(3, 9))]
    for scope in rng.sample(("preset", "agent", None), 2):
        seen = {} if scope is None else {"scope": scope}
        steps += [
            {"do": "schemas", **seen},
            {"do": "provide", **seen},
            {"do": "assemble", "context": seen},
        ]
        for _ in range(2):
            call = {"callId": "c-1", "name": rng.choice(_TOOLS[:4]), "arguments": _json(rng, 2)}
            steps += [{"do": "mode", **seen, "call": call}, {"do": "execute", **seen, "call": call}]
            if rng.random() < 0.1:
                steps[-1]["signal"] = "aborted"
    return "tools.run", {"steps": [*steps, {"do": "calls"}]}


def _registry_step(rng: random.Random) -> Json:
    owner = rng.choice((None, "preset", "agent"))
    owned = {} if owner is None else {"owner": owner}
    kind = rng.choice(
        ("register", "register", "register", "restrict", "pre", "post", "around", "guard")
    )
    if kind == "register":
        return {"do": kind, **owned, "tool": _defined(rng)}
    if kind == "restrict":
        lists = {name: rng.sample(_TOOLS[:3], rng.randint(0, 2)) for name in ("allow", "deny")}
        kept = {name: names for name, names in lists.items() if rng.random() < 0.6}
        return {"do": kind, **owned, **kept}
    if kind == "guard":
        return {"do": kind, **owned, "reason": rng.choice((None, None, "guarded"))}
    if kind == "around":
        given: Json = {"isError": False, "value": rng.choice(("around", 5)), "content": []}
        return {
            "do": kind,
            **owned,
            "as": kind,
            **rng.choice(({}, {"throws": "around"}, {"result": given})),
        }
    step = {"do": kind, **owned, "as": kind, "decision": _decision(rng, kind)}
    return {**step, "aborts": True} if rng.random() < 0.05 else step


def _decision(rng: random.Random, kind: str) -> Any:
    if rng.random() < 0.6:
        return "next"
    block = {"type": "text", "text": "decided"}
    message = {"role": "user", "id": "m", "content": [block], "source": {"kind": "user"}}
    choices: dict[str, tuple[Json, ...]] = {
        "pre": (
            {"kind": "allow"},
            {"kind": "deny", "reason": "denied"},
            {"kind": "deny", "reason": "", "info": {"name": "E", "code": "C"}},
            {"kind": "ask", "reason": "asked"},
            {"kind": "ask"},
            {"kind": "cancel"},
        ),
        "post": (
            {"kind": "accept"},
            {"kind": "accept", "content": [block]},
            {"kind": "accept", "value": rng.choice(("v", 5))},
            {"kind": "accept", "additionalContexts": [message]},
            {"kind": "block", "feedback": [block, block]},
        ),
    }
    return rng.choice(({"throws": "decided"}, *choices[kind]))


def _defined(rng: random.Random) -> Json:
    """A tool that mostly works."""
    name = rng.choice(_TOOLS[:3])
    bodies: tuple[Json, ...] = (
        {"returns": "v"},
        {"returns": "v"},
        {"echo": True},
        {"throws": "broke"},
        {"returns": 5},
    )
    tool: Json = {"name": name, "description": rng.choice("de"), "parameters": _sound(rng, 2)}
    tool["execute"] = {"as": name, **rng.choice(bodies)}
    if rng.random() < 0.1:
        tool["execute"]["aborts"] = True
    tool["output"] = {"schema": rng.choice(({"type": "string"}, {}, _sound(rng, 2)))}
    extra: dict[str, Any] = {
        "projectContent": rng.choice(
            ([{"type": "text", "text": "projected"}], {"throws": "projector"})
        ),
        "finalizeContent": rng.choice(
            ([{"type": "text", "text": "final"}], {"throws": "finalizer"})
        ),
        "isConcurrencySafe": rng.choice((True, False, "yes", {"throws": "no"})),
        "deferLoading": rng.choice((True, False)),
        "private": 1,
    }
    return tool | {key: extra[key] for key in extra if rng.random() < 0.2}


# ---- Schemas -----------------------------------------------------------------------------------------


def _subset(rng: random.Random, _version: int) -> tuple[str, Json]:
    ask = rng.choice(("subset", "subset", "object"))
    return "tools.schema", {"ask": ask, "schema": _schema(rng, 3)}


def _schema(rng: random.Random, depth: int, *, typed: bool = False) -> Any:
    if rng.random() < 0.05:
        return rng.choice(_SCALARS)
    schema: Json = {}
    if rng.random() < 0.8:
        schema["type"] = rng.choice(_TYPES)
    inner: dict[str, Callable[[], Any]] = {
        "oneOf": lambda: [_schema(rng, depth - 1, typed=typed) for _ in range(rng.randint(0, 3))],
        "properties": lambda: {
            name: _schema(rng, depth - 1, typed=typed)
            for name in rng.sample("abc", rng.randint(0, 3))
        },
        "items": lambda: _schema(rng, depth - 1, typed=typed),
    }
    other: dict[str, Callable[[], Any]] = {
        "required": lambda: rng.choice((True, False, ["a"], ["a", "b"], [1], "a")),
        "additionalProperties": lambda: rng.choice((True, False, False, {}, None)),
        "enum": lambda: rng.sample(_SCALARS, rng.randint(0, 3)),
        "const": lambda: rng.choice(_SCALARS),
        "description": lambda: rng.choice(("d", "d", 1)),
        "default": lambda: rng.choice(_SCALARS),
        "pattern": lambda: "x",
    }
    members = {**other, **inner} if depth else other
    for name in rng.sample(list(members), rng.choice((0, 1, 1, 2, 3))):
        schema[name] = members[name]()
    return schema


def _typed(rng: random.Random, _version: int) -> tuple[str, Json]:
    if rng.random() < 0.3:
        return "tools.schema", {"ask": "value", "value": _schema(rng, 3, typed=True)}
    names = rng.sample("abc", rng.randint(0, 3))
    parameters = {name: _property(rng) for name in names}
    return "tools.schema", {"ask": "parameters", "parameters": parameters}


def _property(rng: random.Random) -> Any:
    node = _schema(rng, 2, typed=True)
    if isinstance(node, dict) and rng.random() < 0.6:
        if node.get("type") == "object":
            node.setdefault("additionalProperties", True)
        node.pop("required", None)
        if rng.random() < 0.5:
            node["required"] = True
    return node


def _value(rng: random.Random, _version: int) -> tuple[str, Json]:
    schema = _sound(rng, 3)
    value = _json(rng, 3)
    if rng.random() < 0.5:
        return "tools.schema", {"ask": "arguments", "schema": schema, "arguments": value}
    return "tools.schema", {"ask": "validate", "schema": schema, "value": value, "path": "value"}


def _sound(rng: random.Random, depth: int) -> Json:
    """A schema of the subset."""
    kind = rng.choice(("object", "object", "array", "string", "integer", "number", "any", "one"))
    if kind == "any" or depth == 0:
        return {}
    if kind == "one":
        return {"oneOf": [_sound(rng, depth - 1) for _ in range(2)]}
    if kind == "array":
        return {"type": kind, "items": _sound(rng, depth - 1)}
    if kind != "object":
        return {"type": kind}
    properties = {name: _sound(rng, depth - 1) for name in rng.sample("abc", rng.randint(0, 3))}
    required = [name for name in properties if rng.random() < 0.5]
    schema: Json = {"type": kind, "properties": properties, "required": required}
    return {**schema, "additionalProperties": rng.random() < 0.5}


def _json(rng: random.Random, depth: int) -> Any:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice((*_SCALARS, -0.0, 3.0))
    if rng.random() < 0.3:
        return [_json(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    return {name: _json(rng, depth - 1) for name in rng.sample("abcd", rng.randint(0, 4))}


# ---- Projections -------------------------------------------------------------------------------------


def _log(rng: random.Random, version: int) -> Json:
    """A log that a session is opened from without adding anything to it."""
    if rng.random() < 0.3:
        header = {"type": "session", "version": version, "id": "s-1", "createdAt": 1}
        events: list[Json] = []
        log: Json = {
            "header": {**header, "isSeeded": False, "delegationDepth": 0},
            "events": events,
        }
    else:
        made = random_log(rng, version)
        log = {"header": made.header, "events": made.events}
    events = log["events"]
    if not events or events[-1]["type"] != "session/end-seed":
        events.append({"type": "session/end-seed", "seq": len(events), "time": 1, "data": {}})
    return log


def _attempts(rng: random.Random, version: int) -> tuple[str, Json]:
    steps: list[Json] = []
    for index in range(rng.randint(2, 7)):
        if rng.random() < 0.1:
            steps.append({"do": "restart"})
        steps.append(_attempt(rng, index))
    return "prompt.attempt", {**_log(rng, version), "steps": [*steps, {"do": "messages"}]}


def _attempt(rng: random.Random, index: int) -> Json:
    sections = [{"name": name, "text": name.upper()} for name in "cd" if rng.random() < 0.4]
    step: Json = {"do": "attempt", "rendered": rng.choice(_RENDERED), "contexts": sections}
    step |= _request(rng)
    if rng.random() < 0.5:
        source = {"kind": "user"}
        content = [{"type": "text", "text": "hello"}]
        message = {"role": "user", "id": f"fuzz-{index}", "content": content, "source": source}
        step["messages"] = [message]
    if rng.random() < 0.2:
        changed = rng.random() < 0.5
        step["retry"] = {"route": {"systemPromptUpdate": "in-history"}} if changed else {}
    return step


def _requests(rng: random.Random, version: int) -> tuple[str, Json]:
    steps: list[Json] = []
    for _ in range(rng.randint(2, 8)):
        if rng.random() < 0.1:
            steps.append({"do": "restart"})
        if rng.random() < 0.3:
            options = {"provider": "p", "model": rng.choice("mn"), "maxTokens": 9}
            kept = [name for name in options if rng.random() < 0.7]
            steps.append({"do": "seed", "options": {name: options[name] for name in kept}})
        steps.append({"do": "request", **_request(rng)})
    return "prompt.header", {**_log(rng, version), "steps": steps}


def _request(rng: random.Random) -> Json:
    config: Json = {"provider": "p", "model": rng.choice("mmmn")}
    if rng.random() < 0.3:
        config |= rng.choice(
            ({"maxTokens": 5}, {"temperature": 0.5}, {"stop": ["x"]}, {"stop": []})
        )
    step: Json = {"config": config}
    if "maxTokens" in config and rng.random() < 0.5:
        step["adapterDefaults"] = {"maxTokens": rng.random() < 0.7}
    names = [name for name in _TOOLS[:3] if rng.random() < 0.3]
    step["tools"] = [_plain_tool(rng, name) for name in names]
    route: Json = {}
    if rng.random() < 0.6:
        route["systemPromptUpdate"] = "in-history"
    if rng.random() < 0.4:
        route["toolUpdate"] = rng.choice(("in-history", "addition-only"))
    if rng.random() < 0.3:
        route["contextWindow"] = rng.choice((1000, 2000))
    step["route"] = route
    if rng.random() < 0.15:
        step["startsRequestSeries"] = True
    return step


def _plain_tool(rng: random.Random, name: str) -> Json:
    return {"name": name, "description": rng.choice("ddde"), "parameters": {"type": "object"}}
