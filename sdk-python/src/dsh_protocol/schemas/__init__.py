"""Validators for the named schemas of the protocol.

A schema says what is intended; released readers leave much of it unchecked. What a schema refuses
is therefore a finding about a place (keyword and JSON Pointer), and what follows from it is the
caller's business.
"""

from __future__ import annotations

from ._bulk import MINUS_ZERO
from ._catalog import ENTRY_POINTS, schema, schema_names
from ._finding import SchemaFinding, without_repeats
from ._structs import struct_type
from ._validator import Validator

__all__ = [
    "ENTRY_POINTS",
    "MINUS_ZERO",
    "SchemaFinding",
    "Validator",
    "schema",
    "schema_names",
    "struct_type",
    "without_repeats",
]
