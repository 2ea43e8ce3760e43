"""dsh-protocol: read, check and rebuild DeepSeek Harness session logs.

Everything public is here. Names are loaded when they are first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .check import Report, check_file, check_log, check_path
    from .dialect import Dialect
    from .findings import (
        Finding,
        JsonError,
        PromptError,
        ProtocolError,
        RefusedError,
        RegistrationError,
        ScopeError,
        StorageError,
        UnsupportedFormatError,
        UsageError,
        WireError,
    )
    from .plugins import (
        Installed,
        PluginContext,
        PluginHost,
    )
    from .projections import (
        Attempt,
        CallOptions,
        Commit,
        HeaderDecision,
        LogFacts,
        PreparedCall,
        RequestProjections,
        RuntimeContextProjection,
        SeriesMemory,
        SingleCommitProjection,
        SystemPromptProjection,
        decide_header,
        seed_config,
    )
    from .prompt import (
        AssembleContext,
        Contributor,
        PromptAssembly,
        PromptConfig,
        PromptService,
        PromptText,
        assemble_context_for,
        context_order,
        interpolate,
        join_context_sections,
        register_persona,
        render_context_sections,
        render_context_snapshot,
        render_prompt,
        section_order,
    )
    from .reading import Accepted, accept, open_session, replay
    from .rebuild import request_body, session_log_member
    from .reference import EventType, Explanation, event_type, event_types, explain
    from .requests import ModelRequest, iter_requests, request_at
    from .rows import Event, Header, Log, ReadLimits, find_logs, make_event, open_log
    from .rules import Rule, rule
    from .schemas import SchemaFinding, Validator, schema, schema_names
    from .scopes import Events, Owner, Scopes
    from .session import ForkError, Messages, Session, SessionOptions, fork_seed, repair
    from .state import LogState, Surface
    from .store import (
        Cursor,
        LogReader,
        Store,
        StoredSession,
        StoreError,
        list_sessions,
        salvage,
    )
    from .verdicts import Verdicts
    from .wire import DirectoryAttachments, serialize

_MODULES = {
    "check": ("Report", "check_file", "check_log", "check_path"),
    "dialect": ("Dialect",),
    "findings": (
        "Finding",
        "JsonError",
        "PromptError",
        "ProtocolError",
        "RefusedError",
        "RegistrationError",
        "ScopeError",
        "StorageError",
        "UnsupportedFormatError",
        "UsageError",
        "WireError",
    ),
    "projections": (
        "Attempt",
        "CallOptions",
        "Commit",
        "HeaderDecision",
        "LogFacts",
        "PreparedCall",
        "RequestProjections",
        "RuntimeContextProjection",
        "SeriesMemory",
        "SingleCommitProjection",
        "SystemPromptProjection",
        "decide_header",
        "seed_config",
    ),
    "plugins": ("Installed", "PluginContext", "PluginHost"),
    "prompt": (
        "AssembleContext",
        "Contributor",
        "PromptAssembly",
        "PromptConfig",
        "PromptService",
        "PromptText",
        "assemble_context_for",
        "context_order",
        "interpolate",
        "join_context_sections",
        "register_persona",
        "render_context_sections",
        "render_context_snapshot",
        "render_prompt",
        "section_order",
    ),
    "reading": ("Accepted", "accept", "open_session", "replay"),
    "rebuild": ("request_body", "session_log_member"),
    "reference": ("EventType", "Explanation", "event_type", "event_types", "explain"),
    "requests": ("ModelRequest", "iter_requests", "request_at"),
    "rows": ("Event", "Header", "Log", "ReadLimits", "find_logs", "make_event", "open_log"),
    "rules": ("Rule", "rule"),
    "schemas": ("SchemaFinding", "Validator", "schema", "schema_names"),
    "scopes": ("Events", "Owner", "Scopes"),
    "session": ("ForkError", "Messages", "Session", "SessionOptions", "fork_seed", "repair"),
    "state": ("LogState", "Surface"),
    "store": (
        "Cursor",
        "LogReader",
        "Store",
        "StoreError",
        "StoredSession",
        "list_sessions",
        "salvage",
    ),
    "verdicts": ("Verdicts",),
    "wire": ("DirectoryAttachments", "serialize"),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [  # noqa: RUF022 (by module)
    "Report",
    "Verdicts",
    "check_file",
    "check_log",
    "check_path",
    "Dialect",
    "Finding",
    "JsonError",
    "PromptError",
    "ProtocolError",
    "RefusedError",
    "RegistrationError",
    "ScopeError",
    "StorageError",
    "UnsupportedFormatError",
    "UsageError",
    "WireError",
    "Accepted",
    "accept",
    "open_session",
    "replay",
    "request_body",
    "session_log_member",
    "EventType",
    "Explanation",
    "event_type",
    "event_types",
    "explain",
    "ModelRequest",
    "iter_requests",
    "request_at",
    "Event",
    "Header",
    "Log",
    "ReadLimits",
    "find_logs",
    "make_event",
    "open_log",
    "Rule",
    "rule",
    "SchemaFinding",
    "Validator",
    "schema",
    "schema_names",
    "ForkError",
    "Messages",
    "Session",
    "SessionOptions",
    "fork_seed",
    "repair",
    "Events",
    "Owner",
    "Scopes",
    "AssembleContext",
    "Contributor",
    "PromptAssembly",
    "PromptConfig",
    "PromptService",
    "PromptText",
    "assemble_context_for",
    "context_order",
    "interpolate",
    "join_context_sections",
    "register_persona",
    "render_context_sections",
    "render_context_snapshot",
    "render_prompt",
    "section_order",
    "Installed",
    "PluginContext",
    "PluginHost",
    "LogState",
    "Surface",
    "Attempt",
    "CallOptions",
    "Commit",
    "HeaderDecision",
    "LogFacts",
    "PreparedCall",
    "RequestProjections",
    "RuntimeContextProjection",
    "SeriesMemory",
    "SingleCommitProjection",
    "SystemPromptProjection",
    "decide_header",
    "seed_config",
    "Cursor",
    "LogReader",
    "Store",
    "StoreError",
    "StoredSession",
    "list_sessions",
    "salvage",
    "DirectoryAttachments",
    "serialize",
]


def __getattr__(name: str) -> Any:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
