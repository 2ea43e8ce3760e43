"""Files of the corpus: text, JSON and schemas, each of which may be missing or broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match

from .errors import CorpusError

Json = dict[str, Any]


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        CorpusError: `corpus/malformed`: it is not there, or not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise CorpusError("corpus/malformed", f"{path.name}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CorpusError("corpus/malformed", f"{path.name}: {error}") from None


def read_json(path: Path) -> Any:
    """The value in a JSON file.

    Raises:
        CorpusError: `corpus/malformed`: it is not there, or no JSON.
    """
    text = read_text(path)
    try:
        return json.loads(text)
    except ValueError as error:
        raise CorpusError("corpus/malformed", f"{path.name}: no JSON: {error}") from None
    except RecursionError:
        raise CorpusError("corpus/malformed", f"{path.name}: nests too deeply") from None


def read_schema(path: Path) -> Json:
    """The JSON Schema in a file.

    Raises:
        CorpusError: `corpus/malformed`: it is not there, or no schema.
    """
    schema = read_json(path)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise CorpusError(
            "corpus/malformed", f"{path.name}: no schema: {error.message[:200]}"
        ) from None
    if not isinstance(schema, dict):
        raise CorpusError("corpus/malformed", f"{path.name}: no schema: it describes nothing")
    return schema


def require_shape(path: Path, value: Any, schema: Json) -> None:
    """Make sure that what a file holds has the shape that a schema describes.

    Raises:
        CorpusError: `corpus/malformed`: it has not; the message says where.
    """
    if _is_valid(value, schema):
        return
    error = best_match(Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        shown = f"{path.name} {error.json_path}: {error.message[:200]}"
        raise CorpusError("corpus/malformed", shown)


def _is_valid(value: Any, schema: Json) -> bool:
    """Whether the fast validator says yes. It takes no lone surrogates; the other one has the last word."""
    try:
        return jsonschema_rs.validator_for(schema).is_valid(value)
    except ValueError:
        return False
