"""Parsing and writing of JSON from untrusted files; all errors are UserErrors."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import lru_cache
from typing import Any, TypeVar

from data_prep.errors import UserError

Record = TypeVar("Record")


def parse_json(text: bytes | str) -> Any:
    """Parse a JSON text.

    Raises:
        UserError: it is not JSON, not UTF-8, or nested too deeply.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(str(error)) from error
    except RecursionError:
        raise UserError("its lists and objects stand in each other too deep") from None


def sorted_json(value: object) -> bytes:
    """``value`` as JSON with sorted keys: the same bytes for the same content, for a checksum.

    Raises:
        UserError: it is nested too deeply.
    """
    try:
        return json.dumps(value, sort_keys=True).encode()
    except RecursionError:
        raise UserError("its lists and objects stand in each other too deep") from None


def checked_words(content: object) -> list[str]:
    """Check that ``content`` from a file is a list of strings.

    Raises:
        UserError: it is not.
    """
    if not isinstance(content, list) or not {*map(type, content)} <= {str}:
        raise UserError("expected a list of words")
    return content


def checked_record(record: type[Record], content: object) -> Record:
    """Convert ``content`` from a file to a dataclass whose fields are all numbers, strings and booleans.

    Raises:
        UserError: a field is missing, unknown, or not of its type.
    """
    known: Any = record
    kinds, needed = _kinds(known)
    if not isinstance(content, dict) or not needed <= content.keys():
        raise UserError(f"expected {', '.join(kinds)}, got {content!r:.60}")
    for name, value in content.items():
        if type(value) is not kinds.get(name):
            raise UserError(f"{name!r:.40} cannot be {value!r:.40}")
    return record(**content)


@lru_cache
def _kinds(record: Any) -> tuple[Mapping[str, Any], frozenset[str]]:
    """The types of a dataclass's fields, and the names of its fields without a default."""
    needed = (each.name for each in fields(record) if each.default is each.default_factory is MISSING)
    return {field.name: field.type for field in fields(record)}, frozenset(needed)
