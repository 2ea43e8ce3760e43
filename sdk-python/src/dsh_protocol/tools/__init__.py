"""Tools that a model may call: how they are declared, which of them a scope sees, and how a call becomes a result."""

from __future__ import annotations

from ._pipeline import Stage
from ._results import NOT_STARTED, ToolFailure, ToolResult, ToolSuccess
from .definitions import ToolDefinition, ToolOutput, typed_tool
from .dsl import parameter_schema, value_schema
from .errors import (
    JsonSchemaError,
    ToolArgsError,
    ToolError,
    ToolNotFoundError,
    ToolOutputError,
)
from .execution import (
    ApprovalRequest,
    PostDecision,
    PreDecision,
    ToolCall,
    ToolExecution,
)
from .function import FunctionTool, tool
from .registry import RUN_CODE, ToolRegistry, Tools
from .subset import assert_object_schema, assert_supported, schema_violations
from .values import value_violations

__all__ = [
    "NOT_STARTED",
    "RUN_CODE",
    "ApprovalRequest",
    "FunctionTool",
    "JsonSchemaError",
    "PostDecision",
    "PreDecision",
    "Stage",
    "ToolArgsError",
    "ToolCall",
    "ToolDefinition",
    "ToolError",
    "ToolExecution",
    "ToolFailure",
    "ToolNotFoundError",
    "ToolOutput",
    "ToolOutputError",
    "ToolRegistry",
    "ToolResult",
    "ToolSuccess",
    "Tools",
    "assert_object_schema",
    "assert_supported",
    "parameter_schema",
    "schema_violations",
    "tool",
    "typed_tool",
    "value_schema",
    "value_violations",
]
