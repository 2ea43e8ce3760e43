"""How a system prompt is put together: contributions of plugins, their assembly, and its rendering.

Plugins contribute sections, contexts, variables and tool providers through a `Contributor`; `PromptService.assemble` evaluates
them for one request; `render_prompt` and the context functions make the texts of it that enter the log.
"""

from __future__ import annotations

from .assembly import AssembleContext, PromptAssembly, PromptText, assemble_context_for
from .config import PromptConfig
from .contributions import TextProvider, ToolProvider, ToolProviderResult, VariableProvider
from .contributor import Contributor
from .interpolation import interpolate
from .orders import context_order, section_order
from .persona import register_persona
from .rendering import (
    ContextText,
    join_context_sections,
    render_context_sections,
    render_context_snapshot,
    render_prompt,
)
from .service import ASSEMBLE, CHANGE, PromptService
from .tool_order import UNLISTED_TOOLS

__all__ = [
    "ASSEMBLE",
    "CHANGE",
    "UNLISTED_TOOLS",
    "AssembleContext",
    "ContextText",
    "Contributor",
    "PromptAssembly",
    "PromptConfig",
    "PromptService",
    "PromptText",
    "TextProvider",
    "ToolProvider",
    "ToolProviderResult",
    "VariableProvider",
    "assemble_context_for",
    "context_order",
    "interpolate",
    "join_context_sections",
    "register_persona",
    "render_context_sections",
    "render_context_snapshot",
    "render_prompt",
    "section_order",
]
