"""How a call becomes a result: policies, guards, the body inside its wrappers, the output contract, and policies again.

Four steps, because a loop runs the first ones of several calls at once and settles the results in the model's order:
`prepare`, `dispatch`, `finalize` (or `finish` where no policy is to look at the result). Nothing here raises for what a tool
or a listener does; the failure is the result.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeAlias

import anyio
from msgspec import UNSET, UnsetType

from dsh_protocol.abort import cancel_on, is_being_cancelled
from dsh_protocol.findings import JsonError
from dsh_protocol.scopes import Events

from ._json import snapshot
from ._results import (
    ToolFailure,
    ToolResult,
    ToolSuccess,
    aborted,
    blocked,
    failure,
    settled,
    thrown,
)
from .definitions import ToolDefinition
from .errors import ToolNotFoundError, ToolOutputError, message_of
from .execution import (
    ApprovalOutcome,
    ApprovalRequest,
    Ask,
    PostDecision,
    PreDecision,
    ToolCall,
    ToolExecution,
    fused,
)
from .values import value_violations

_LOG = logging.getLogger("dsh_protocol.tools")
_BAD_ARGUMENTS = "tool execution arguments must be losslessly JSON-serializable"

Approver = Callable[[ApprovalRequest], Awaitable[ApprovalOutcome]]
Guard = Callable[[ToolExecution], str | None]
_Answer: TypeAlias = ApprovalOutcome | Literal["nobody"] | None
"""What came of asking: `nobody` without an agent whose user could be asked, None without an approver."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a call stands: to `dispatch`, or with a result that policies have yet to see (`post`) or not (`final`)."""

    kind: Literal["dispatch", "post", "final"]
    execution: ToolExecution
    result: ToolResult | None = None


class View(Protocol):
    """What a pipeline has to know about the tools there are."""

    approver: Approver | None

    def get(self, name: str, scope: object | None = None) -> ToolDefinition | None:
        """The tool of this name that a scope sees."""

    def guards_of(self, scope: object | None) -> Sequence[Guard]:
        """The guards of a scope, the global ones first."""


class Pipeline:
    """Runs calls of the tools of one registry."""

    __slots__ = ("_events", "_view")

    def __init__(self, view: View, events: Events) -> None:
        self._view = view
        self._events = events

    async def execute(self, call: ToolCall) -> ToolResult:
        """All steps of one call."""
        stage = await self.prepare(call)
        if stage.kind == "dispatch":
            stage = await self.dispatch(stage.execution)
        assert stage.result is not None
        if stage.kind == "post":
            return await self.finalize(stage.execution, stage.result)
        return self.finish(stage.execution, stage.result)

    async def prepare(self, call: ToolCall) -> Stage:
        """Take the arguments down, ask the policies, then the guards."""
        execution = ToolExecution(call)
        tool = self._view.get(call.name, call.agent)
        if tool is not None:
            execution._finalize = tool.finalize_content
            execution._project = tool.project_content
        try:
            execution.arguments = snapshot(call.arguments)
        except JsonError:
            return Stage("final", execution, failure(_BAD_ARGUMENTS))
        if call.signal.aborted:
            return Stage("final", execution, aborted(started=False))
        try:
            denied = await self._denied(execution)
        except Exception as error:
            return Stage("final", execution, thrown(error))
        if denied is not None:
            return Stage("post", execution, denied)
        return Stage("dispatch", execution)

    async def dispatch(self, execution: ToolExecution) -> Stage:
        """Run the wrappers and, inside them, the body."""
        try:
            returned: ToolResult = await self._events.around(
                "tools/execute", (execution,), lambda: self._body(execution), execution.agent
            )
            result = self._normalized(execution, returned)
        except Exception as error:
            return Stage("final", execution, thrown(error))
        if execution._contexts:
            contexts = [*execution._contexts, *result.additional_contexts]
            result = _own(execution, replace(result, additional_contexts=contexts))
        return Stage("post", execution, _unless_cancelled(execution, result))

    async def finalize(self, execution: ToolExecution, result: ToolResult) -> ToolResult:
        """Let the tool project its content, ask the policies about the result, then `finish`."""
        try:
            project, execution._project = execution._project, None
            content = None if project is None else project(execution, result)
            if content is not None:
                result = _own(execution, settled(replace(result, content=content)))
            result = await self._judged(execution, result)
        except Exception as error:
            return self.finish(execution, thrown(error))
        return self.finish(execution, _unless_cancelled(execution, result))

    def finish(self, execution: ToolExecution, result: ToolResult) -> ToolResult:
        """Let the tool have the last word about the content, and tell the observers."""
        shown = _settled_or_failed(lambda: result)
        final = _settled_or_failed(lambda: _final(execution, shown))
        self._notify(execution, final)
        return final

    # ---- Before the body -------------------------------------------------------------------------

    async def _denied(self, execution: ToolExecution) -> ToolFailure | None:
        decision: PreDecision = await self._events.around(
            "tools/pre-execute", (execution,), _allow, execution.agent
        )
        _require_kind("tools/pre-execute", decision, ("allow", "deny", "ask", "cancel"))
        if decision["kind"] == "ask":
            outcome = await self._asked(execution, decision)
            if _is_cancelled(execution) and outcome == "cancelled":
                return aborted(started=False)
            decision = _decision_of(outcome, execution, decision)
        if decision["kind"] == "cancel":
            return aborted(started=False)
        if decision["kind"] == "deny":
            return failure(decision["reason"], decision.get("info"))
        reason = self._guarded(execution)
        if reason is not None:
            return failure(reason)
        return aborted(started=False) if _is_cancelled(execution) else None

    async def _asked(self, execution: ToolExecution, ask: Ask) -> _Answer:
        approver = self._view.approver
        if approver is None:
            return None
        if execution.agent is None:
            return "nobody"
        return await approver(
            ApprovalRequest(
                agent=execution.agent,
                tool_name=execution.name,
                call_id=execution.call_id,
                signal=execution.signal,
                reason=ask.get("reason"),
                display_reason=ask.get("displayReason"),
            )
        )

    def _guarded(self, execution: ToolExecution) -> str | None:
        reasons = (guard(execution) for guard in self._view.guards_of(execution.agent))
        return next((reason for reason in reasons if reason is not None), None)

    # ---- The body --------------------------------------------------------------------------------

    async def _body(self, execution: ToolExecution) -> ToolResult:
        outer = execution.signal
        with fused(execution._caller_signal, outer) as signal:
            if signal.aborted:
                return aborted(started=False)
            execution.signal = signal
            try:
                return await self._run(execution)
            except Exception as error:
                return thrown(_only(error))
            finally:
                execution.signal = outer

    async def _run(self, execution: ToolExecution) -> ToolResult:
        tool = self._view.get(execution.name, execution.agent)
        if tool is None:
            raise ToolNotFoundError(execution.name)
        execution._started = True
        signal = execution.signal
        value: Any = UNSET
        with cancel_on(signal):
            value = await _returned(tool, execution)
        if value is UNSET:
            return aborted(started=True)
        result = self._success(execution, tool, value)
        return aborted(started=True, prior=result) if signal.aborted else result

    def _success(
        self, execution: ToolExecution, tool: ToolDefinition, candidate: Any
    ) -> ToolResult:
        """The result of a value that keeps to the tool's output contract.

        Raises:
            ToolOutputError: it does not, or it cannot be shown.
        """
        try:
            value = snapshot(candidate)
        except JsonError as error:
            raise ToolOutputError(tool.name, ["value is not lossless JSON"]) from error
        violations = value_violations(tool.output.schema, value, "value")
        if violations:
            raise ToolOutputError(tool.name, violations)
        content = _projected(tool, "render", execution, value, tool.output.render)
        meta: Any | UnsetType = UNSET
        if tool.output.presentation_meta is not None:
            meta = _projected(
                tool, "presentationMeta", execution, value, tool.output.presentation_meta
            )
        result = ToolSuccess(value, content, meta, concludes_turn=execution._concludes)
        return _own(execution, settled(result))

    def _normalized(self, execution: ToolExecution, result: ToolResult) -> ToolResult:
        """A result that a wrapper made itself, taken through the tool's output contract."""
        if any(known is result for known in execution._own):
            return result
        if isinstance(result, ToolFailure):
            return _own(execution, replace(result))
        if not isinstance(result, ToolSuccess):
            raise TypeError("a tools/execute listener returns a ToolSuccess or a ToolFailure")
        made = self._success(execution, self._resolved(execution), result.value)
        return _own(execution, replace(made, additional_contexts=result.additional_contexts))

    def _resolved(self, execution: ToolExecution) -> ToolDefinition:
        tool = self._view.get(execution.name, execution.agent)
        if tool is None:
            raise ToolNotFoundError(execution.name)
        return tool

    # ---- After the body --------------------------------------------------------------------------

    async def _judged(self, execution: ToolExecution, result: ToolResult) -> ToolResult:
        decision: PostDecision = await self._events.around(
            "tools/post-execute", (execution, result), _accept, execution.agent
        )
        _require_kind("tools/post-execute", decision, ("accept", "block"))
        contexts = decision.get("additionalContexts", [])
        if decision["kind"] == "block":
            return _own(execution, blocked(decision["feedback"], contexts))
        if "content" in decision and "value" in decision:
            raise TypeError(
                "tools/post-execute accept decision cannot replace both value and content"
            )
        contexts = [*result.additional_contexts, *contexts]
        if "value" in decision:
            if isinstance(result, ToolFailure):
                raise TypeError("tools/post-execute cannot replace the value of a failed result")
            result = self._success(execution, self._resolved(execution), decision["value"])
        elif "content" in decision:
            result = replace(result, content=decision["content"])
        return _own(execution, replace(result, additional_contexts=contexts))

    def _notify(self, execution: ToolExecution, result: ToolResult) -> None:
        for observer in self._events.heard("tools/result", execution.agent):
            try:
                _require_done(observer(execution, result))
            except Exception as error:
                _LOG.warning(
                    "an observer of tools/result failed for tool %r (%s): %s",
                    execution.name,
                    execution.call_id,
                    message_of(error),
                )


async def _returned(tool: ToolDefinition, execution: ToolExecution) -> Any:
    """What the body gives.

    Raises:
        RuntimeError: a task was cancelled that the body waited for. To pass that on would end the task of the caller.
    """
    try:
        returned = tool.execute(execution.arguments, execution)
        return await returned if isinstance(returned, Awaitable) else returned
    except anyio.get_cancelled_exc_class() as error:
        if is_being_cancelled():
            raise
        raise RuntimeError("the tool waited for work that was cancelled") from error


def _require_kind(event: str, decision: object, kinds: Sequence[str]) -> None:
    kind = decision.get("kind") if isinstance(decision, Mapping) else None
    if kind not in kinds:
        raise TypeError(f"a listener of {event} gave no decision of kind {', '.join(kinds)}")


def _require_done(returned: object) -> None:
    if inspect.iscoroutine(returned):
        returned.close()
        raise TypeError("an observer of tools/result is a plain function: nobody awaits it")


def _allow() -> PreDecision:
    return {"kind": "allow"}


def _accept() -> PostDecision:
    return {"kind": "accept"}


def _decision_of(outcome: _Answer, execution: ToolExecution, ask: Ask) -> PreDecision:
    tool = f'tool "{execution.name}"'
    if outcome == "allowed-once":
        return {"kind": "allow"}
    if outcome is None:
        reason = ask.get("reason", f"{tool} requires approval (not yet supported)")
    elif outcome == "nobody":
        reason = f"{tool} requires approval, but the call has no agent to route it through"
    elif outcome == "rejected":
        reason = f"the user rejected {tool}"
    elif outcome == "cancelled":
        reason = f"approval for {tool} was cancelled"
    else:
        reason = f"{tool} requires approval, but no approval channel is available"
    return {"kind": "deny", "reason": reason}


def _projected(
    tool: ToolDefinition,
    projector: str,
    execution: ToolExecution,
    value: Any,
    project: Callable[[Any, Any], Any],
) -> Any:
    try:
        shown = project(execution.arguments, value)
    except Exception as error:
        raise ToolOutputError(
            tool.name, [f"output.{projector} failed: {message_of(error)}"]
        ) from error
    try:
        taken = snapshot(shown)
    except JsonError as error:
        raise ToolOutputError(
            tool.name, [f"output.{projector} returned non-lossless JSON"]
        ) from error
    if projector == "render" and not _are_blocks(shown):
        # The released registry lets it pass, and the log of the loop breaks.
        raise ToolOutputError(tool.name, ["output.render returned no list of content blocks"])
    return taken


def _are_blocks(shown: object) -> bool:
    return isinstance(shown, list | tuple) and all(isinstance(each, Mapping) for each in shown)


def _final(execution: ToolExecution, result: ToolResult) -> ToolResult:
    finalize = execution._finalize
    content = None if finalize is None else finalize(execution, result)
    return result if content is None else replace(result, content=content)


def _settled_or_failed(make: Callable[[], ToolResult]) -> ToolResult:
    try:
        return settled(make())
    except Exception as error:
        return settled(thrown(error))


def _unless_cancelled(execution: ToolExecution, result: ToolResult) -> ToolResult:
    if isinstance(result, ToolFailure) or not _is_cancelled(execution):
        return result
    return aborted(started=execution._started, prior=result)


def _is_cancelled(execution: ToolExecution) -> bool:
    return execution._caller_signal.aborted


def _own(execution: ToolExecution, result: ToolResult) -> ToolResult:
    """Remember that this result has been through the output contract, for this call."""
    execution._own.append(result)
    return result


def _only(error: Exception) -> Exception:
    """The error inside groups of one, which task groups put around it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
