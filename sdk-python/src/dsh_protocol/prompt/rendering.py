"""The texts of an assembly: the system prompt and the snapshot of the runtime context. Nothing is trimmed anywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ._texts import TEXTS, prompt_error, quoted
from .assembly import PromptAssembly, PromptText
from .interpolation import Kind, interpolate


@dataclass(frozen=True, slots=True)
class ContextText:
    """One context as its rendered text; a member of `sections` in the source of a snapshot."""

    name: str
    text: str

    def to_json(self) -> dict[str, str]:
        """This text as the log has it."""
        return {"name": self.name, "text": self.text}


def render_prompt(assembly: PromptAssembly) -> str:
    """The system prompt: the sections that have a text, an empty line between them; empty where there is none.

    Raises:
        PromptError: `prompt/text-type`, or one of `interpolate`.
    """
    texts = (_rendered(section, assembly, "section") for section in assembly.sections)
    return TEXTS["joiner"].join(text for text in texts if text)


def render_context_sections(assembly: PromptAssembly) -> list[ContextText]:
    """The contexts that have a text.

    Raises:
        PromptError: `prompt/text-type`, or one of `interpolate`.
    """
    contexts = (
        ContextText(entry.name, _rendered(entry, assembly, "context"))
        for entry in assembly.contexts
    )
    return [context for context in contexts if context.text]


def join_context_sections(sections: Iterable[ContextText]) -> str:
    """The snapshot of rendered contexts: a fixed first line and all texts; empty where these make no text together."""
    joiner = TEXTS["joiner"]
    body = joiner.join(section.text for section in sections)
    return f"{TEXTS['snapshot-header']}{joiner}{body}" if body else ""


def render_context_snapshot(assembly: PromptAssembly) -> str:
    """The snapshot of the runtime context; empty where no context has a text.

    Raises:
        PromptError: `prompt/text-type`, or one of `interpolate`.
    """
    return join_context_sections(render_context_sections(assembly))


def _rendered(entry: PromptText, assembly: PromptAssembly, kind: Kind) -> str:
    if not isinstance(entry.text, str):
        raise prompt_error("prompt/text-type", kind=kind, input=quoted(entry.name))
    if entry.interpolate is False:
        return entry.text
    return interpolate(entry.text, assembly.variables, kind=kind, name=entry.name)
