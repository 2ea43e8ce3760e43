"""Every recorded event whose type has a schema passes through the models and comes back equal."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from pydantic import TypeAdapter

import dsh_protocol_data
from dsh_protocol_models.session.v3 import events as v3
from dsh_protocol_models.session.v4 import events as v4

RecordedEvent = tuple[int, str, dict[str, Any]]

MODELS: dict[int, TypeAdapter[Any]] = {
    3: TypeAdapter(v3.SessionEvent),
    4: TypeAdapter(v4.SessionEvent),
}


def tags(version: int) -> set[str]:
    bundle = dsh_protocol_data.load(f"schemas/session-v{version}")
    return set(bundle["$defs"]["KnownSessionEvent"]["discriminator"]["mapping"])


def as_text(value: object) -> str:
    """JSON text with sorted members; in Python `1`, `1.0` and `True` would be equal."""
    return json.dumps(value, sort_keys=True)


def compare(events: list[RecordedEvent]) -> Counter[str]:
    """Load and dump every event that has a schema; returns how often each type occurred."""
    described = {version: tags(version) for version in MODELS}
    seen: Counter[str] = Counter()
    for version, place, value in events:
        if value["type"] not in described[version]:
            continue
        models = MODELS[version]
        loaded = models.validate_python(value, by_name=False)
        assert as_text(models.dump_python(loaded, mode="json")) == as_text(value), place
        assert as_text(json.loads(models.dump_json(loaded))) == as_text(value), place
        seen[f"v{version} {value['type']}"] += 1
    return seen


def test_shipped_recordings_survive(recordings: list[RecordedEvent]) -> None:
    seen = compare(recordings)
    for version in MODELS:
        for type_ in ("system/message", "assistant/message", "tool/result", "request/header"):
            assert seen[f"v{version} {type_}"], f"no {type_} in the recordings of format {version}"


def test_full_recordings_survive(shared_recordings: list[RecordedEvent]) -> None:
    assert sum(compare(shared_recordings).values()) > 400


@pytest.mark.parametrize("version", [3, 4])
def test_every_described_type_is_in_the_vocabulary(version: int) -> None:
    vocabulary = dsh_protocol_data.load("vocabulary")["types"]
    known = {entry["type"] for entry in vocabulary if version in entry["formats"]}
    assert tags(version) <= known
