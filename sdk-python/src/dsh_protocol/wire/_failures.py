"""How a model call fails: what the log says of it, and which code a provider's words amount to.

The order of the tests, the wordings and the messages are those of the official adapters
(spec/wire/texts.yaml); the codes decide what is tried again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from dsh_protocol import jsonvalue
from dsh_protocol.findings import JsonError, ProtocolError, WireError

from ._images import ImageBudgetError
from ._javascript import is_truthy, js_string
from ._texts import failure

Json = dict[str, Any]
Headers = Mapping[str, str]
"""Response headers by lower-case name."""


class ModelCallError(WireError):
    """A model call failed; `failure_of` is what a log says of it (`LlmFailure`).

    `status` is the HTTP status when the endpoint refused, `provider_retry_after_ms` how long it
    asked to wait, `request_id` its name for the request.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        fix: str = "",
        status: int | None = None,
        provider_retry_after_ms: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(code, message, fix=fix)
        self.status = status
        self.provider_retry_after_ms = provider_retry_after_ms
        self.request_id = request_id


def failed(failure_id: str, **values: object) -> ModelCallError:
    """The failure with this id of spec/wire/texts.yaml, ready to be raised."""
    error = failure(failure_id, path="", **values)
    return ModelCallError(error.code, error.message, fix=error.fix)


def failure_of(error: BaseException) -> Json:
    """What a log says of an error: an `LlmFailure`, its members in the order of the release.

    An error that is none of this package's has the code `UNKNOWN`.
    """
    if not isinstance(error, ProtocolError):
        return {"message": str(error) or type(error).__name__, "code": "UNKNOWN"}
    said: Json = {"message": error.message, "code": error.code}
    if isinstance(error, ModelCallError):
        facts = {
            "status": error.status,
            "providerRetryAfterMs": error.provider_retry_after_ms,
            "requestId": error.request_id,
        }
        said |= {name: value for name, value in facts.items() if value is not None}
    if isinstance(error, ImageBudgetError):
        said["offloadImages"] = error.offload_images
    return said


def failed_finish(error: BaseException) -> Json:
    """The chunk that ends the stream of a failed call."""
    return {"type": "finish", "reason": {"kind": "error", "failure": failure_of(error)}}


def http_failure(
    wire: str, status: int, headers: Headers, body: str, *, now_ms: int, base_url: str
) -> ModelCallError:
    """The failure that a response with an error status means.

    `body` is its text as far as it was read, `now_ms` the present time, which a date in
    `retry-after` is counted from, `base_url` the endpoint.
    """
    raw = _read(body)
    headers = {name: value.strip(" \t\r\n") for name, value in headers.items()}
    if wire == "deepseek-chat":
        return _chat_failure(status, headers, raw, now_ms, base_url)
    return messages_failure(raw, status, headers, now_ms)


def messages_failure(
    raw: Any, status: int | None = None, headers: Headers | None = None, now_ms: int = 0
) -> ModelCallError:
    """The failure of an error body, or of an `error` event (no status), of `deepseek-messages`."""
    error = _member(raw, "error")
    kind, code = _text(_member(error, "type")), _text(_member(error, "code"))
    message = _member(error, "message")
    if not isinstance(message, str):
        shown = "stream error" if status is None else status
        message = failed("messages/status", status=shown).message
    if not message:
        # The official adapter cannot hold a failure without words; what is left is its transport.
        return failed("messages/transport")
    given = headers or {}
    return ModelCallError(
        _messages_code(status, kind, f"{kind} {code} {message}"),
        message,
        status=status,
        provider_retry_after_ms=_retry_after(given, _DECIMAL, now_ms),
        request_id=_request_id(given, ("request-id", "x-request-id", "x-deepseek-request-id")),
    )


def _chat_failure(
    status: int, headers: Headers, raw: Any, now_ms: int, base_url: str
) -> ModelCallError:
    error = _member(raw, "error")
    code, kind, message = (_member(error, name) for name in ("code", "type", "message"))
    if not is_truthy(message):
        message = failed("chat/status", status=status).message
    if not isinstance(message, str):
        # The official adapter cannot hold a failure that is no text; what is left is its transport.
        return failed("chat/transport", base=base_url)
    said = [js_string(part) for part in (code, kind, _member(error, "message")) if is_truthy(part)]
    return ModelCallError(
        _chat_code(status, " ".join(said)),
        message,
        status=status,
        provider_retry_after_ms=_retry_after(headers, _WHOLE, now_ms),
        request_id=_request_id(headers, ("x-request-id", "x-deepseek-request-id")),
    )


def _messages_code(status: int | None, kind: str, detail: str) -> str:
    if status in (401, 403) or kind in ("authentication_error", "permission_error"):
        return "AUTH"
    if is_quota_wording(detail) or status == 402:
        return "QUOTA"
    if status == 429 or kind == "rate_limit_error":
        return "RATE_LIMIT"
    if is_context_wording(detail):
        return "CONTEXT_WINDOW_EXCEEDED"
    if status in (400, 413) or kind == "invalid_request_error":
        return "INVALID_REQUEST"
    server = status is None or status >= 500 or kind in ("api_error", "overloaded_error")
    return "SERVER" if server else f"HTTP_{status}"


def _chat_code(status: int, detail: str) -> str:
    if status in (401, 403):
        return "AUTH"
    if status == 413:
        return "INVALID_REQUEST"
    if is_quota_wording(detail):
        return "QUOTA"
    if status == 429:
        return "RATE_LIMIT"
    if status == 400:
        return "CONTEXT_WINDOW_EXCEEDED" if is_context_wording(detail) else "INVALID_REQUEST"
    return "SERVER" if status >= 500 else f"HTTP_{status}"


# Words end as in JavaScript, where only ASCII letters, digits and the underscore are parts of one.
_SPACE = r"[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_GAP = _SPACE[:-1] + "_-]"
_NEAR = r"[^\n\r\u2028\u2029]{0,40}"


def _wording(*patterns: str) -> Callable[[str], bool]:
    filled = (
        pattern.replace("_+", f"{_GAP}+").replace("~", f"{_SPACE}+").replace("…", _NEAR)
        for pattern in patterns
    )
    compiled = [re.compile(text, re.ASCII | re.IGNORECASE) for text in filled]
    return lambda detail: any(pattern.search(detail) for pattern in compiled)


is_quota_wording = _wording(
    r"\binsufficient_+(?:quota|balance|credits?)\b",
    r"\b(?:quota|usage_+limit)_+(?:exceeded|exhausted|reached)\b",
    r"\bexceed(?:ed|s)?_+(?:(?:your|the)_+)?(?:current_+)?quota\b",
    r"\b(?:balance|credits?)_+(?:exhausted|depleted)\b",
    r"\bout_+of_+(?:credits?|budget)\b",
)
"""Whether a provider's words say that the account has nothing left (`QUOTA`)."""

_MODEL_CONTEXT = r"(?:model(?:'s)?~)?context"
is_context_wording = _wording(
    rf"(?:^|[^a-z0-9])context{_GAP}(?:length|window){_GAP}"
    rf"(?:exceed(?:ed|s)?|overflow(?:ed)?|limit{_GAP}exceeded)(?:\Z|[^a-z0-9])",
    r"\b(?:maximum|max)(?:~(?:allowed|supported))?~context~(?:length|window)\b",
    r"\b(?:request|prompt|input|messages?)~(?:is~|are~)?too~(?:large|long)~for~(?:(?:this|the)~)?"
    rf"{_MODEL_CONTEXT}(?:~window)?\b",
    r"\b(?:input|prompt|request)~(?:is~)?too~(?:long|large)~for~(?:this|the)~model\b",
    r"\b(?:input|prompt|request|messages?)\b…\b(?:exceed(?:s|ed)?|overflows?|is~larger~than)\b…"
    rf"\b(?:the~)?{_MODEL_CONTEXT}(?:~(?:length|window))?\b",
)
"""Whether a provider's words say that the request does not fit into the model's context."""

_WHOLE = re.compile(r"[0-9]+")
_DECIMAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def _retry_after(headers: Headers, number: re.Pattern[str], now_ms: int) -> float | None:
    """The wait that a `retry-after` header asks for, in ms; null for none, or one in the past."""
    given = headers.get("retry-after")
    if given is None:
        return None
    wait = float(given) * 1e3 if number.fullmatch(given) else _date_ms(given) - now_ms
    if not math.isfinite(wait) or wait <= 0:
        return None
    return int(wait) if wait == int(wait) else wait


def _date_ms(text: str) -> float:
    """An HTTP date (or an ISO date) in ms since 1970, NaN for anything else."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            moment = read(text)
        except (ValueError, OverflowError):
            continue
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp() * 1e3
    return math.nan


def _request_id(headers: Headers, names: tuple[str, ...]) -> str | None:
    return next((headers[name] for name in names if name in headers), None) or None


def _read(body: str) -> Any:
    try:
        return jsonvalue.loads(body)
    except JsonError:
        return None


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
