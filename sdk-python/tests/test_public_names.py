"""The one public face: what it offers, that it is lazy, and that every name leads somewhere."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import dsh_protocol

NAMES = {
    *("Endpoint", "Model", "ModelCallError", "ReplayModel", "RetryPolicy", "ScriptedModel"),
    *("ask", "deepseek", "parse_response"),
    *(
        "Accepted",
        "Dialect",
        "DirectoryAttachments",
        "Event",
        "Finding",
        "Header",
        "JsonError",
        "Log",
    ),
    *("LogState", "ModelRequest", "ProtocolError", "ReadLimits", "RefusedError", "Report", "Rule"),
    *("SchemaFinding", "StorageError", "Surface", "UnsupportedFormatError", "UsageError"),
    *("Validator", "Verdicts", "WireError", "accept", "check_file", "check_log", "check_path"),
    *("find_logs", "iter_requests", "make_event", "open_log", "open_session", "replay"),
    *("request_at", "request_body", "rule", "schema", "schema_names", "serialize"),
    *("session_log_member", "EventType", "Explanation", "event_type", "event_types", "explain"),
    *("LoopExplanation", "explain_loop", "loop_rules"),
    *("ForkError", "Messages", "Session", "SessionOptions", "fork_seed", "repair"),
    *("Attempt", "CallOptions", "Commit", "HeaderDecision", "LogFacts", "PreparedCall"),
    *("RequestProjections", "RuntimeContextProjection", "SeriesMemory", "SingleCommitProjection"),
    *("SystemPromptProjection", "decide_header", "seed_config"),
    *("Events", "Owner", "Scopes", "Installed", "PluginContext", "PluginHost"),
    *("PromptError", "RegistrationError", "ScopeError", "AssembleContext", "Contributor"),
    *("PromptAssembly", "PromptConfig", "PromptService", "PromptText", "assemble_context_for"),
    *("context_order", "section_order", "interpolate", "register_persona", "render_prompt"),
    *("join_context_sections", "render_context_sections", "render_context_snapshot"),
    *("AbortController", "AbortSignal", "FunctionTool", "JsonSchemaError", "ToolArgsError"),
    *("ToolCall", "ToolDefinition", "ToolError", "ToolExecution", "ToolFailure"),
    *("ToolNotFoundError", "ToolOutput", "ToolOutputError", "ToolRegistry", "ToolSuccess"),
    *("Tools", "parameter_schema", "schema_violations", "tool", "typed_tool", "value_schema"),
    *("value_violations",),
    *("Answer", "Capabilities", "ChunkStream", "Endpoint", "Model", "ModelCall"),
    *("ModelCallError", "ReplayModel", "ResponseLimits", "RetryPolicy", "ScriptedModel"),
    *("answer", "ask", "deepseek", "parse_response", "refusal"),
    *("Agent", "AgentOptions", "AgentParts", "BlockingAgent", "Committed", "Enter"),
    *("FailedRequest", "FallbackTitle", "FrameStream", "Hooks", "Inbox", "InboxError", "Journal"),
    *("ModelFailureError", "Outcome", "PreStep", "Reject", "Retries", "StatusChanged"),
    *("StepHook", "StoreJournal", "StreamCall", "StreamChunk", "StreamEnd", "StreamStart"),
    *("TurnStopping", "blocking"),
    *("Cursor", "LogReader", "Store", "StoreError", "StoredSession", "list_sessions", "salvage"),
}


def test_the_list_of_public_names() -> None:
    assert set(dsh_protocol.__all__) == NAMES
    assert len(dsh_protocol.__all__) == len(NAMES)
    assert dir(dsh_protocol) == sorted(NAMES)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_name_is_there_and_documented(name: str) -> None:
    value = getattr(dsh_protocol, name)
    assert value.__doc__
    assert value.__module__.startswith("dsh_protocol.")


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dsh_protocol.nothing


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, json, dsh_protocol; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"pydantic", "msgspec", "jsonschema", "jsonschema_rs", "typer", "rich"}
    assert not [name for name in loaded if name.startswith("dsh_protocol.")]
