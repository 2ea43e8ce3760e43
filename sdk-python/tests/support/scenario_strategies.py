"""Random calls of a tool inside random listeners."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = Any

VALUES: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, 5, 1.5, "text", "", [], [1, "a"], {}, {"r": "hi"}, {"r": 5, "x": None}, -0.0]
)
CONTENT: st.SearchStrategy[Json] = st.sampled_from(
    [
        [],
        [{"type": "text", "text": "shown"}],
        [{"type": "text", "text": "a"}, {"type": "image", "attachment": {"attachmentId": "i"}}],
        [{"type": "text", "text": ""}],
        [{"type": "text", "text": "x", "n": -0.0}],
    ]
)
MESSAGES: st.SearchStrategy[Json] = st.lists(
    st.sampled_from(
        [
            {"role": "user", "id": "u1", "content": [{"type": "text", "text": "mind this"}]},
            {"role": "user", "id": "u2", "content": []},
        ]
    ),
    min_size=1,
    max_size=2,
)
CODED = st.fixed_dictionaries(
    {"name": st.just("FileError"), "code": st.just("NO_FILE"), "message": st.sampled_from(["gone"])}
)
FAILS = st.sampled_from([{"throws": "it broke"}]) | st.fixed_dictionaries({"coded": CODED})


def acts(returns: st.SearchStrategy[Json], *, passes: bool = True) -> st.SearchStrategy[Json]:
    """Acts that mostly do something sensible."""
    kinds = [st.fixed_dictionaries({"returns": returns})] * 3 + [FAILS]
    if passes:
        kinds += [st.just({"passes": True})] * 5
    more = {"notes": st.sampled_from(["one", "two"]), "aborts": st.just(True)}
    if passes:
        more["first"] = st.just(True)
    return st.builds(
        lambda act, extra, plain: act if plain else {**act, **extra},
        st.one_of(*kinds),
        st.fixed_dictionaries({}, optional=more),
        st.integers(0, 3).map(bool),
    )


PRE = acts(
    st.one_of(
        st.just({"kind": "allow"}),
        st.fixed_dictionaries(
            {"kind": st.just("deny"), "reason": st.sampled_from(["not now", ""])},
            optional={"info": st.just({"name": "PolicyError", "code": "NO", "reason": "because"})},
        ),
        st.fixed_dictionaries({"kind": st.just("ask")}, optional={"reason": st.just("sure?")}),
        st.just({"kind": "cancel"}),
    )
)
ATTACHED = {"additionalContexts": MESSAGES}
POST = acts(
    st.one_of(
        st.fixed_dictionaries({"kind": st.just("accept")}, optional=ATTACHED),
        st.fixed_dictionaries({"kind": st.just("accept"), "content": CONTENT}, optional=ATTACHED),
        st.fixed_dictionaries({"kind": st.just("accept"), "value": VALUES}, optional=ATTACHED),
        st.just({"kind": "accept", "content": [], "value": 1}),
        st.fixed_dictionaries({"kind": st.just("block"), "feedback": CONTENT}, optional=ATTACHED),
    )
)
AROUND = acts(
    st.one_of(
        st.fixed_dictionaries(
            {"isError": st.just(False), "value": VALUES, "content": CONTENT},
            optional={"meta": VALUES, **ATTACHED},
        ),
        st.fixed_dictionaries(
            {
                "isError": st.just(True),
                "error": st.sampled_from(
                    [{"message": "m"}, {"message": "m", "info": {"name": "N", "code": "C"}}]
                ),
                "content": CONTENT,
            },
            optional={"meta": VALUES, **ATTACHED},
        ),
    )
)
BODIES = st.builds(
    lambda body, extra: {**body, **extra},
    st.one_of(
        *[st.fixed_dictionaries({"returns": VALUES})] * 4,
        st.just({"echo": True}),
        st.just({"returns": 1, "aborts": True}),
        st.just({"throws": "too late", "aborts": True}),
        FAILS,
    ),
    st.fixed_dictionaries({}, optional={"defers": MESSAGES, "concludes": st.just(True)}),
)
OUTPUT_SCHEMAS: st.SearchStrategy[Json] = st.sampled_from(
    [
        {},
        {},
        {"type": "string"},
        {"type": "object", "required": ["r"], "properties": {"r": {"type": "string"}}},
        {"oneOf": [{"type": "number"}, {"type": "null"}]},
    ]
)
OUTPUTS = st.builds(
    lambda schema, more: {"schema": schema, **more},
    OUTPUT_SCHEMAS,
    st.fixed_dictionaries(
        {},
        optional={
            "render": acts(CONTENT, passes=False),
            "presentationMeta": acts(VALUES, passes=False),
        },
    ),
)
_HOOK = acts(CONTENT | st.none(), passes=False)
TOOLS = st.builds(
    lambda body, output, typed, more: {
        "name": "t",
        "description": "d",
        **_parameters(typed),
        "output": {**output, **({"schema": _typed(output["schema"])} if typed else {})},
        "body": body,
        **more,
    },
    BODIES,
    OUTPUTS,
    st.booleans(),
    st.fixed_dictionaries(
        {},
        optional={
            "projectContent": _HOOK,
            "finalizeContent": _HOOK,
            "isConcurrencySafe": acts(st.sampled_from([True, False, 1, "yes"]), passes=False),
        },
    ),
)


def _parameters(typed: bool) -> Json:
    node = {"r": {"type": "string", "required": True}}
    return {"typed": True, "parameters": node} if typed else {"parameters": {"type": "object"}}


def _typed(schema: Json) -> Json:
    """The output schemas above, in the typed form."""
    if schema.get("type") == "object":
        node = {"r": {"type": "string", "required": True}}
        return {"type": "object", "additionalProperties": True, "properties": node}
    return schema or {"type": "json"}


CALLS = st.fixed_dictionaries(
    {
        "callId": st.just("c1"),
        "name": st.sampled_from(["t", "t", "t", "t", "zap"]),
        "arguments": st.sampled_from([*[{"r": "a"}] * 6, {}, {"r": 5}, "no json", [], -0.0]),
    }
)
SCENARIOS = st.fixed_dictionaries(
    {"tool": st.one_of(TOOLS, TOOLS, TOOLS, TOOLS, st.none()), "call": CALLS},
    optional={
        "signal": st.sampled_from(["open"] * 5 + ["aborted"]),
        "pre": st.lists(PRE, max_size=2),
        "guards": st.lists(acts(st.sampled_from([None, "guarded"]), passes=False), max_size=2),
        "around": st.lists(AROUND, max_size=2),
        "post": st.lists(POST, max_size=2),
    },
)
