"""What a tool is: the part that the model sees, and the part that only this process knows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_protocol.findings import JsonError, RegistrationError
from dsh_protocol.rules import code_of, exact

from ._json import snapshot, thaw
from ._results import Block, ToolResult
from .dsl import parameter_schema, value_schema
from .errors import ToolArgsError
from .values import Schema, value_violations

if TYPE_CHECKING:
    from .execution import ToolExecution

Execute: TypeAlias = "Callable[[Any, ToolExecution], Awaitable[Any] | Any]"
Render: TypeAlias = Callable[[Any, Any], Sequence[Block]]
Content: TypeAlias = "Callable[[ToolExecution, ToolResult], Sequence[Block] | None]"


@dataclass(eq=False)
class ToolOutput:
    """What a tool returns.

    `schema` describes the value, in the enforced subset of JSON Schema; `render(arguments, value)` gives the content blocks
    that the model reads; `presentation_meta(arguments, value)` gives JSON for displays only.
    """

    schema: Schema
    render: Render
    presentation_meta: Callable[[Any, Any], Any] | None = None


@dataclass(eq=False)
class ToolDefinition:
    """A tool.

    `name`, `description`, `parameters` (a JSON Schema, passed on word for word) and `defer_loading` are what the model sees,
    and nothing else ever is. `execute(arguments, execution)` checks the arguments itself; `typed_tool` and `tool` make tools
    that need not.

    - `project_content(execution, result)` may replace the content before policies look at it, `finalize_content` at the very
      end, for every outcome; None keeps it.
    - `timeout_ms`: how long a call may take.
    - `is_concurrency_safe(arguments)`: True lets the call overlap with others of the same step.
    - `present_call` and `present_result` are for displays; nothing here calls them.
    """

    name: str
    description: str
    parameters: Schema
    output: ToolOutput
    execute: Execute
    project_content: Content | None = None
    finalize_content: Content | None = None
    timeout_ms: float | None = None
    is_concurrency_safe: Callable[[Any], bool] | None = None
    present_call: Callable[[Any], Any] | None = None
    present_result: Callable[[Any, ToolResult], Any] | None = None
    defer_loading: bool = False

    def model_schema(self) -> dict[str, Any]:
        """What the model sees: `name`, `description`, `parameters` and, when it is wanted, `deferLoading`.

        Raises:
            RegistrationError: `tools/parameters-lossless`, the parameters are no JSON.
        """
        try:
            parameters = snapshot(self.parameters)
        except JsonError as error:
            rule_id = "tools/parameters-lossless"
            message, fix = exact(rule_id, name=f'"{self.name}"')
            raise RegistrationError(
                code_of(rule_id), message, fix=fix, path="/parameters"
            ) from error
        schema = {
            "name": self.name,
            "description": self.description,
            "parameters": thaw(parameters),
        }
        return schema | ({"deferLoading": True} if self.defer_loading is True else {})


def typed_tool(definition: ToolDefinition) -> ToolDefinition:
    """A tool whose `parameters` and `output.schema` are written in the typed form, and whose arguments are checked.

    `parameters` is a map from property to node, `output.schema` one node (`parameter_schema`, `value_schema`). The body, the
    concurrency predicate and the presenters only get to see arguments that keep to the schema.

    Raises:
        JsonSchemaError: `tools/schema-author` or `tools/schema-subset`, with the place.
    """
    parameters = parameter_schema(definition.parameters)
    output = replace(definition.output, schema=value_schema(definition.output.schema))
    return checked(replace(definition, parameters=parameters, output=output), parameters)


def checked(definition: ToolDefinition, schema: Schema) -> ToolDefinition:
    """The tool with arguments that break `schema` (of the subset) turned away before anything of it runs."""
    inner = definition

    async def execute(arguments: Any, execution: ToolExecution) -> Any:
        violations = value_violations(schema, arguments, "")
        if violations:
            raise ToolArgsError(violations)
        result = inner.execute(arguments, execution)
        return await result if isinstance(result, Awaitable) else result

    def fits(arguments: Any) -> bool:
        return not value_violations(schema, arguments, "")

    safe, call, result = inner.is_concurrency_safe, inner.present_call, inner.present_result
    return replace(
        inner,
        execute=execute,
        is_concurrency_safe=safe and (lambda args: fits(args) and safe(args)),
        present_call=call and (lambda args: call(args) if fits(args) else None),
        present_result=result and (lambda args, res: result(args, res) if fits(args) else None),
    )
