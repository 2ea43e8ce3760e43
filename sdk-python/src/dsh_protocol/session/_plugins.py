"""Plugin records: ignorable events of a plugin's own, which every reader keeps and nobody else interprets (format 4)."""

from __future__ import annotations

import re

from dsh_protocol.dialect import Dialect
from dsh_protocol.findings import UsageError

_RECORD_TYPE = re.compile(r"plugin:[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*")


def require_record_type(dialect: Dialect, type: str) -> None:
    """Refuse what is no type of a plugin record.

    Raises:
        UsageError: `session/no-plugin-records` (format 3) or `session/plugin-record-type`.
    """
    if not dialect.has_plugin_records:
        raise UsageError(
            "session/no-plugin-records",
            f"format {dialect.version} has no plugin records",
            fix="Append an event of your own type with ignorable=True; a migration makes it a plugin record.",
        )
    if _RECORD_TYPE.fullmatch(type) is None:
        raise UsageError(
            "session/plugin-record-type",
            f"{type!r} is no type of a plugin record",
            fix='Write "plugin:" and lower-case segments with "/" between them, such as plugin:acme/note.',
        )
