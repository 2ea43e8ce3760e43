"""Tools made of typed Python functions: pydantic reads the types, the docstring says the rest."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Generic, ParamSpec, TypeVar, cast, get_type_hints, overload

import anyio.to_thread
from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticUndefined

from dsh_protocol.findings import UsageError
from dsh_protocol.jsonvalue import dumps

from ._docstring import read_docstring
from ._json import is_lossless
from ._loosen import loosen
from ._results import Block
from .definitions import Render, ToolDefinition, ToolOutput, checked
from .errors import ToolArgsError, ToolOutputError
from .execution import ToolExecution
from .values import Schema

P = ParamSpec("P")
R = TypeVar("R")

_ABSENT = object()


@dataclass(eq=False, kw_only=True)
class FunctionTool(ToolDefinition, Generic[P, R]):
    """A tool made by `tool`; calling it calls the function that it was made of."""

    function: Callable[P, R]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself, without any of the checks."""
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    render: Render | None = None,
    timeout_ms: float | None = None,
    concurrency_safe: bool = False,
    defer_loading: bool = False,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    **options: Any,
) -> Any:
    """Make a tool of a function with type annotations, plain or `async`.

    The model sees the function's name, its docstring up to the first section, and a schema that pydantic makes of the
    parameters; the section `Args` of the docstring describes them, and so does `Annotated[..., Field(description=...)]`. A
    parameter annotated as `ToolExecution` gets the call itself and is no part of the schema. What the function returns is
    checked against its annotation and turned into JSON.

    - `name`, `description`: instead of those of the function.
    - `render(arguments, value)`: the content blocks; without it a text, or the JSON of any other value.
    - `timeout_ms`, `defer_loading`: as in `ToolDefinition`.
    - `concurrency_safe`: calls may overlap with others of the same step.

    A plain function runs in a thread, so that it does not hold up the event loop.

    Raises:
        UsageError: `tools/function-parameter`, a parameter has no name that a model could use (`*args`, `**kwargs`, `/`).
    """
    if function is None:
        return partial(_made, **options)
    return _made(function)


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    adapter: TypeAdapter[Any]
    default: Any
    """`_ABSENT` for a parameter that a caller has to give."""

    def schema_default(self) -> Any:
        """The default as JSON, or `_ABSENT` where there is none that JSON has."""
        if self.default is _ABSENT:
            return _ABSENT
        try:
            default = self.adapter.dump_python(self.default, mode="json", warnings="none")
        except Exception:
            return _ABSENT
        return default if is_lossless(default) else _ABSENT


class _WithoutTitles(GenerateJsonSchema):
    """Schemas without the title that pydantic makes of every field's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def _made(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    render: Render | None = None,
    timeout_ms: float | None = None,
    concurrency_safe: bool = False,
    defer_loading: bool = False,
) -> FunctionTool[..., Any]:
    hints = get_type_hints(function, include_extras=True)
    text, notes = read_docstring(function.__doc__)
    parameters, execution = _parameters(function, hints)
    schema = _argument_schema(parameters, notes)
    returns: TypeAdapter[Any] = TypeAdapter(hints.get("return", Any))
    made = FunctionTool(
        name=function.__name__ if name is None else name,
        description=text if description is None else description,
        parameters=schema,
        output=ToolOutput(_output_schema(returns), _rendered if render is None else render),
        execute=_body(function, parameters, execution, returns),
        timeout_ms=timeout_ms,
        is_concurrency_safe=(lambda _: True) if concurrency_safe else None,
        defer_loading=defer_loading,
        function=function,
    )
    loose = loosen(schema, schema.get("$defs", {}))
    return cast("FunctionTool[..., Any]", checked(made, loose))


def _parameters(
    function: Callable[..., Any], hints: Mapping[str, Any]
) -> tuple[list[_Parameter], str | None]:
    """The parameters that the model gives, and the name of the one that takes the call itself."""
    found: list[_Parameter] = []
    execution: str | None = None
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UsageError(
                "tools/function-parameter",
                f"{function.__name__}: the parameter {parameter} cannot be given by name",
                fix="Give the function named parameters only; a model sends one JSON object.",
            )
        hint = hints.get(name, Any)
        if hint is ToolExecution:
            execution = name
        else:
            found.append(_parameter(name, hint, parameter.default))
    return found, execution


def _parameter(name: str, hint: Any, default: Any) -> _Parameter:
    if isinstance(default, FieldInfo):
        given = default.get_default(call_default_factory=True, validated_data={})
        adapter: TypeAdapter[Any] = TypeAdapter(Annotated[hint, default])
        return _Parameter(name, adapter, _ABSENT if given is PydanticUndefined else given)
    absent = default is inspect.Parameter.empty
    return _Parameter(name, TypeAdapter(hint), _ABSENT if absent else default)


def _argument_schema(parameters: list[_Parameter], notes: Mapping[str, str]) -> Schema:
    """The JSON Schema of the arguments, in the form of `parameter_schema`, with `$defs` where types are shared."""
    by_name, definitions = TypeAdapter.json_schemas(
        [(p.name, "validation", p.adapter) for p in parameters], schema_generator=_WithoutTitles
    )
    properties: Schema = {}
    for parameter in parameters:
        schema = dict(by_name[parameter.name, "validation"])
        if parameter.name in notes:
            schema.setdefault("description", notes[parameter.name])
        default = parameter.schema_default()
        if default is not _ABSENT:
            schema["default"] = default
        properties[parameter.name] = schema
    required = [p.name for p in parameters if p.default is _ABSENT]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        **({"$defs": definitions["$defs"]} if "$defs" in definitions else {}),
    }


def _output_schema(returns: TypeAdapter[Any]) -> Schema:
    schema = returns.json_schema(mode="serialization", schema_generator=_WithoutTitles)
    return loosen(schema, schema.get("$defs", {}))


def _body(
    function: Callable[..., Any],
    parameters: list[_Parameter],
    execution_name: str | None,
    returns: TypeAdapter[Any],
) -> Callable[[Any, ToolExecution], Awaitable[Any]]:
    is_async = inspect.iscoroutinefunction(function)

    async def execute(arguments: Any, execution: ToolExecution) -> Any:
        given = _validated(arguments, parameters)
        if execution_name is not None:
            given[execution_name] = execution
        if is_async:
            value = await function(**given)
        else:
            value = await anyio.to_thread.run_sync(partial(function, **given))
        return _as_json(value, returns, execution.name)

    return execute


def _validated(arguments: Mapping[str, Any], parameters: list[_Parameter]) -> dict[str, Any]:
    """The arguments as the function wants them.

    Raises:
        ToolArgsError: some are not what their types say.
    """
    given: dict[str, Any] = {}
    violations: list[str] = []
    for parameter in parameters:
        if parameter.name not in arguments:
            continue
        try:
            given[parameter.name] = parameter.adapter.validate_python(arguments[parameter.name])
        except ValidationError as error:
            violations += _violations(error, parameter.name)
    if violations:
        raise ToolArgsError(violations)
    return given | {
        p.name: p.default for p in parameters if p.name not in given and p.default is not _ABSENT
    }


def _as_json(value: Any, returns: TypeAdapter[Any], tool: str) -> Any:
    try:
        return returns.dump_python(returns.validate_python(value), mode="json", by_alias=True)
    except ValidationError as error:
        raise ToolOutputError(tool, _violations(error, "value")) from error


def _violations(error: ValidationError, root: str) -> list[str]:
    """Each thing that pydantic refuses, in the form of the other violations."""
    found = []
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        place = "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in each["loc"]
        )
        found.append(f'"{root}{place}": {each["msg"]}')
    return found


def _rendered(_: Any, value: Any) -> list[Block]:
    return [{"type": "text", "text": value if isinstance(value, str) else dumps(value)}]
