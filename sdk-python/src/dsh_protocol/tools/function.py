"""Tools made of typed Python functions: pydantic reads the types, the docstring says the rest."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Generic, ParamSpec, TypeVar, cast, get_type_hints, overload

import anyio.to_thread
from pydantic import (
    BaseModel,
    PydanticSchemaGenerationError,
    PydanticUserError,
    TypeAdapter,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError

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
_MUTABLE = (list, dict, set, bytearray, BaseModel)


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

    A plain function runs in a thread, so that it does not hold up the event loop. Each call gets defaults of its own.

    Raises:
        UsageError: `tools/function-parameter`, a parameter has no name that a model could use (`*args`, `**kwargs`, `/`);
            `tools/function-type`, there is no schema for a type; `tools/no-function`, it is none, or one that yields.
    """
    if function is None:
        return partial(_made, **options)
    return _made(function)


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    adapter: TypeAdapter[Any]
    make_default: Callable[[], Any] | None
    """Null for a parameter that a caller has to give. Each call gets a value of its own, which it may change."""

    def schema_default(self) -> Any:
        """The default as JSON, or `_ABSENT` where there is none that JSON has."""
        if self.make_default is None:
            return _ABSENT
        try:
            default = self.adapter.dump_python(self.make_default(), mode="json", warnings="none")
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
    _require_function(function)
    with _naming(function, "its annotations"):
        hints = get_type_hints(function, include_extras=True)
    text, notes = read_docstring(function.__doc__)
    parameters, execution = _parameters(function, hints)
    schema = _argument_schema(parameters, notes)
    with _naming(function, "what it returns"):
        returns: TypeAdapter[Any] = TypeAdapter(hints.get("return", Any))
        output = ToolOutput(_output_schema(returns), _rendered if render is None else render)
    made = FunctionTool(
        name=function.__name__ if name is None else name,
        description=text if description is None else description,
        parameters=schema,
        output=output,
        execute=_body(function, parameters, execution, returns),
        timeout_ms=timeout_ms,
        is_concurrency_safe=(lambda _: True) if concurrency_safe else None,
        defer_loading=defer_loading,
        function=function,
    )
    loose = loosen(schema, schema.get("$defs", {}))
    return cast("FunctionTool[..., Any]", checked(made, loose))


def _require_function(function: object) -> None:
    """Do nothing when this is a function that returns something.

    Raises:
        UsageError: `tools/no-function`.
    """
    if not inspect.isroutine(function):
        raise UsageError(
            "tools/no-function",
            f"{function!r} is no function",
            fix="Make a tool of a function or a bound method; write one that calls the object.",
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise UsageError(
            "tools/no-function",
            f"{function.__name__} yields, and a tool returns one value",
            fix="Return a list, or join what it yields.",
        )


@contextmanager
def _naming(function: Callable[..., Any], what: str) -> Iterator[None]:
    """Errors about types say where the type stands.

    Raises:
        UsageError: `tools/function-type`.
    """
    try:
        yield
    except (PydanticUserError, PydanticSchemaGenerationError, NameError) as error:
        reason = str(error).partition("\n")[0]
        raise UsageError(
            "tools/function-type",
            f"{function.__name__}: {what} cannot be turned into a JSON Schema: {reason}",
            fix="Use types that JSON has, pydantic models, or a type with a schema of its own.",
        ) from error


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
            with _naming(function, f"the parameter {name!r}"):
                found.append(_parameter(name, hint, parameter.default))
    return found, execution


def _parameter(name: str, hint: Any, default: Any) -> _Parameter:
    if isinstance(default, FieldInfo):
        hint, default = Annotated[hint, default], inspect.Parameter.empty
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    # Asked for here so that an error can name the parameter.
    adapter.json_schema(schema_generator=_WithoutTitles)
    if default is not inspect.Parameter.empty:
        return _Parameter(name, adapter, partial(_own, default))
    has_default = adapter.get_default_value() is not None
    return _Parameter(name, adapter, partial(_field_default, adapter) if has_default else None)


def _own(default: Any) -> Any:
    """The default for one call. What could be changed is copied; any other object stays itself, for those who ask with `is`."""
    return deepcopy(default) if isinstance(default, _MUTABLE) else default


def _field_default(adapter: TypeAdapter[Any]) -> Any:
    found = adapter.get_default_value()
    return None if found is None else _own(found.value)


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
    required = [p.name for p in parameters if p.make_default is None]
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
            (value,) = await anyio.to_thread.run_sync(partial(_called, function, given))
            if inspect.isawaitable(value):
                value = await value
        return _as_json(value, returns, execution.name)

    return execute


def _called(function: Callable[..., Any], given: Mapping[str, Any]) -> tuple[Any]:
    """What a plain function gives, in its thread. A parser of arguments that gives up ends the call, not the program.

    In a tuple, because trio refuses a bare coroutine here.
    """
    try:
        return (function(**given),)
    except SystemExit as error:
        raise RuntimeError(f"the tool wanted to end the program: {error}") from error


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
        p.name: p.make_default()
        for p in parameters
        if p.name not in given and p.make_default is not None
    }


def _as_json(value: Any, returns: TypeAdapter[Any], tool: str) -> Any:
    try:
        return returns.dump_python(returns.validate_python(value), mode="json", by_alias=True)
    except ValidationError as error:
        raise ToolOutputError(tool, _violations(error, "value")) from error
    except (PydanticSerializationError, ValueError) as error:
        raise ToolOutputError(tool, [f"value cannot be written as JSON: {error}"]) from error


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
