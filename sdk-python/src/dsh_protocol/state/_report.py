"""Where the rules of one event put what they find."""

from __future__ import annotations

from typing import Any

from dsh_protocol.findings import Finding
from dsh_protocol.jsonvalue import pointer
from dsh_protocol.rules import is_active, refuse, rule


class Report:
    """The findings of one event, in the order in which its rules were looked at.

    A rule that is switched off, or is no part of the log's format, leaves no finding; so no caller asks for the format.
    """

    __slots__ = ("_line", "_seq", "_version", "findings")

    def __init__(self, version: int, seq: int | None, line: int | None) -> None:
        self._version = version
        self._seq = seq
        self._line = line
        self.findings: list[Finding] = []

    def add(
        self, rule_id: str, *place: str | int, because: int | None = None, **params: Any
    ) -> None:
        """Note that a rule is broken at `place` (member names and indexes from the event).

        `because` names the refused event that this finding follows from; `params` fill the rule's message.
        """
        if not self.holds(rule_id) or not is_active(rule_id):
            return
        path = pointer(*place)
        self.findings.append(
            refuse(rule_id, seq=self._seq, line=self._line, path=path, because=because, **params)
        )

    def holds(self, rule_id: str) -> bool:
        """Whether the rule is part of the log's format."""
        return rule(rule_id).holds_in(self._version)

    @property
    def refused(self) -> bool:
        """Whether anything found here keeps the event out of the log."""
        return any(finding.severity == "error" for finding in self.findings)


class Probe(Report):
    """Tells whether there is anything to report, and nothing else: for who looks at many events and rarely finds anything."""

    __slots__ = ("hit",)

    def __init__(self, version: int) -> None:
        super().__init__(version, None, None)
        self.hit = False

    def add(
        self, rule_id: str, *_place: str | int, because: int | None = None, **_params: Any
    ) -> None:
        """Note that a rule is broken."""
        del because
        if self.holds(rule_id) and is_active(rule_id):
            self.hit = True
