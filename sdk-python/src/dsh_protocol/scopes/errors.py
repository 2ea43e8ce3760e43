"""The error of a registration that breaks a rule."""

from __future__ import annotations

from typing import Any

from dsh_protocol.findings import RegistrationError
from dsh_protocol.rules import code_of, refuse


def registration_error(
    rule_id: str, *, path: str = "", first: str = "", **params: Any
) -> RegistrationError:
    """The error; `params` fill the message of the rule, `first` says who had the name before."""
    finding = refuse(rule_id, path=path, **params)
    return RegistrationError(
        code_of(rule_id), finding.message, fix=finding.fix, path=path, first=first
    )
