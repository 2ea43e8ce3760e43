"""Conditions on the members of one payload that a schema cannot say (rules `source/*` and `feedback/times`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.jsonvalue import is_count
from dsh_protocol.state._values import is_text, member

from ._scene import Aspect, Scene

if TYPE_CHECKING:
    pass

Place: TypeAlias = tuple[str | int, ...]

_MESSAGE = "user/message"
_LISTS = {"agent/inbox/spliced": "inserted", "session/title-llm-request": "messages"}
_FEEDBACK = "feedback/message-put"
_CONTEXT = frozenset(
    {
        "dsh-session-title-llm",
        "hooks-claude-code",
        "hooks-codex",
        "model-selection",
        "plan-mode",
        "plugin",
        "repeat-tool-reminder",
        "runtime-context",
        "schedule",
        "time-context",
        "tmux-context",
        "tool-cordis",
        "tool-goal",
        "tool-jobs",
        "user-approval",
    }
)
"""The source kinds that may have any context form."""
_PLAIN = frozenset({"model", "tool", "user"})
_FORMS = {"snapshot": "sections", "notice": "summary"}
"""The member that goes with a form."""


class Sources(Aspect):
    """Nothing to remember: each payload is looked at by itself."""

    checked = frozenset({_MESSAGE, _FEEDBACK, *_LISTS})

    __slots__ = ()

    def check(self, scene: Scene) -> None:
        """Report what does not fit in the sources of the messages of an event."""
        data = scene.data
        if scene.type == _MESSAGE:
            _check_source(scene, data.get("source"), ("data", "source"))
        elif scene.type == _FEEDBACK:
            _check_feedback(scene, data.get("item"))
        else:
            name = _LISTS[scene.type]
            messages = data.get(name)
            for index, message in enumerate(messages if isinstance(messages, list) else ()):
                if isinstance(message, dict):
                    place = ("data", name, index, "source")
                    _check_source(scene, message.get("source"), place)


def _check_source(scene: Scene, source: Any, place: Place) -> None:
    if not isinstance(source, dict):
        return
    kind = source.get("kind")
    if not isinstance(kind, str) or kind in _PLAIN:
        return
    if kind in _CONTEXT:
        _check_form(scene, source, place)
    if kind == "plugin":
        _check_checkpoint(scene, source, place)
    elif kind == "session-reference":
        _check_references(scene, source.get("references"), (*place, "references"))


def _check_form(scene: Scene, source: Mapping[str, Any], place: Place) -> None:
    """Sections and summary go with their forms. Where no form is named, nobody looks."""
    form = source.get("form")
    if not isinstance(form, str):
        return
    for of, name in _FORMS.items():
        if (name in source) != (form == of):
            where = member(source, name, *place)
            scene.report.add("source/form", *where, form=form, member=name)


def _check_checkpoint(scene: Scene, source: Mapping[str, Any], place: Place) -> None:
    plugin, id_ = source.get("plugin"), source.get("compactionId")
    wrong = not is_text(id_) if plugin == "compact" else "compactionId" in source
    if wrong:
        where = member(source, "compactionId", *place)
        scene.report.add("source/checkpoint", *where, plugin=plugin, found=id_)


def _check_references(scene: Scene, references: Any, place: Place) -> None:
    seen: set[str] = set()
    for index, reference in enumerate(references if isinstance(references, list) else ()):
        if not isinstance(reference, dict):
            continue
        where = (*place, index)
        for name, found, expected in _count_problems(reference):
            scene.report.add(
                "source/reference-counts",
                *where,
                name,
                member=name,
                found=found,
                known=expected,
            )
        found = reference.get("inputIndex")
        if is_count(found) and found != index:
            place_ = (*where, "inputIndex")
            scene.report.add("source/reference-index", *place_, found=found, known=index)
        session = reference.get("sessionId")
        if isinstance(session, str):
            if session in seen:
                place_ = (*where, "sessionId")
                scene.report.add("source/reference-repeated", *place_, session=session)
            seen.add(session)


def _count_problems(reference: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The members of a reference that do not follow from the others; what is no count is the schema's matter."""
    had, kept = reference.get("originalMessages"), reference.get("retainedMessages")
    omitted, size = reference.get("omittedMessages"), reference.get("omittedBytes")
    truncated = reference.get("truncated")
    if isinstance(had, int) and isinstance(kept, int) and isinstance(omitted, int):
        if kept > had:
            yield "retainedMessages", kept, had
            return
        if omitted != had - kept:
            yield "omittedMessages", omitted, had - kept
            return
    if isinstance(omitted, int) and isinstance(size, int) and isinstance(truncated, bool):
        expected = omitted > 0 or size > 0
        if truncated != expected:
            yield "truncated", truncated, expected


def _check_feedback(scene: Scene, item: Any) -> None:
    if not isinstance(item, dict):
        return
    created, updated = item.get("createdAt"), item.get("updatedAt")
    if is_count(created) and is_count(updated) and updated < created:
        place = ("data", "item", "updatedAt")
        scene.report.add("feedback/times", *place, found=updated, known=created)
