"""What official releases declare about their models, and no log records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dsh_protocol_data
from dsh_protocol.findings import UsageError
from dsh_protocol.schemas import Validator

Json = dict[str, Any]


def declared_route(format_version: int, provider: str, model: str) -> Json:
    """The `Route` that releases which write session format `format_version` declare for a model.

    A model that is not listed, and every model of a provider that their DeepSeek adapter does not
    serve, gets the defaults: it takes text alone and reads no updates inside the history.

    Raises:
        KeyError: no release writes this format, or its catalog is not known.
    """
    catalog = _catalog(format_version)
    listed = {entry["id"]: entry["route"] for entry in catalog["models"]}
    own = listed.get(model, {}) if provider in catalog["providers"] else {}
    return {**catalog["defaults"], **own}


def newest_format(wire: str) -> int:
    """The newest session format whose release speaks this wire.

    Raises:
        KeyError: no release does.
    """
    catalogs = dsh_protocol_data.load("routes")["catalogs"]
    formats: list[int] = [entry["format"] for entry in catalogs if entry["wire"] == wire]
    if not formats:
        raise KeyError(wire)
    return max(formats)


def model_name(format_version: int, model: str) -> str:
    """The name of a model for people; its id when no release lists it.

    Raises:
        KeyError: no catalog for this format is known.
    """
    listed = {entry["id"]: entry["name"] for entry in _catalog(format_version)["models"]}
    name: str = listed.get(model, model)
    return name


def logged_route(
    format_version: int,
    provider: str,
    model: str,
    context: Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Json:
    """The `Route` of a request, by its log: `context` is the data of the latest `request/context`.

    What the log says wins over what a release declares, and `overrides` (members of a `Route`) win
    over both; an override that is null removes the member, except `attachmentRoot`, which may be
    null.

    Raises:
        KeyError: no catalog for this format is known.
        UsageError: `wire/route`: an override is no member of a `Route`, or has another shape.
    """
    _check_overrides(overrides or {})
    route = declared_route(format_version, provider, model)
    if context is not None:
        for member in ("systemPromptUpdate", "contextWindow"):
            route.pop(member, None)
            if member in context:
                route[member] = context[member]
    for member, value in (overrides or {}).items():
        if _removes(member, value):
            route.pop(member, None)
        else:
            route[member] = value
    return route


def _check_overrides(overrides: Mapping[str, Any]) -> None:
    given = {name: value for name, value in overrides.items() if not _removes(name, value)}
    findings = Validator("wire/route").findings(given) if given else []
    if findings:
        raise UsageError(
            "wire/route",
            f"the route is malformed: {findings[0].message}",
            fix="The members of a route are described by the schema wire/route.",
            path=findings[0].path,
        )


def _removes(name: str, value: Any) -> bool:
    return value is None and name != "attachmentRoot"


def _catalog(format_version: int) -> Mapping[str, Any]:
    catalogs: list[Mapping[str, Any]] = dsh_protocol_data.load("routes")["catalogs"]
    for catalog in catalogs:
        if catalog["format"] == format_version:
            return catalog
    raise KeyError(format_version)
