"""Conversion of frozen dataclasses from and to JSON objects, with type checks of every field."""

import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from data_prep.errors import UserError
from data_prep.files.json_text import parse_json
from data_prep.files.reading import read_whole

Record = TypeVar("Record")
_LARGEST = 10**300
"""Integers up to this size are accepted as floats."""


def to_json(value: object) -> Any:
    """Convert ``value``, a dataclass of dataclasses, mappings, strings and numbers, to plain JSON types."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(each) for key, each in value.items()}
    return [to_json(each) for each in value] if isinstance(value, list | tuple) else value


def from_json(record: type[Record], content: object, where: str) -> Record:
    """Convert ``content``, as parsed by :mod:`json`, to a ``record``; unknown fields are ignored.

    Raises:
        UserError: a field without a default is missing, or a field has another type or is not finite; ``where`` names
        the file in the message.
    """
    return _read(record, content, where)


def load_record(record: type[Record], path: Path, what: str) -> Record:
    """Load a ``record`` from a JSON file; ``what`` names it in messages, like "the result of a run".

    Raises:
        UserError: the file is missing or invalid; the message is one line.
    """
    return from_json(record, load_json(path, what), str(path))


def load_json(path: Path, what: str) -> Any:
    """The content of a JSON file; ``what`` names it in messages.

    Raises:
        UserError: the file is missing or no JSON.
    """
    try:
        return parse_json(read_whole(path))
    except (OSError, UserError) as error:
        raise UserError(f"expected {what} in {path}, but it cannot be read: {error}") from error


def _read(kind: Any, content: object, where: str) -> Any:
    origin = get_origin(kind)
    if kind is Any or kind is object:
        return content
    if origin in (Union, types.UnionType):
        (inner,) = (each for each in get_args(kind) if each is not type(None))
        return None if content is None else _read(inner, content, where)
    if is_dataclass(kind):
        return _read_fields(kind, _expect(Mapping, content, where), where)
    if origin is Sequence:
        (inner,) = get_args(kind)
        items = _expect(list, content, where)
        if inner in (int, str) and {*map(type, items)} <= {inner}:  # fast path for thousands of ranks
            return items
        return [_read(inner, each, where) for each in items]
    if origin is not None:
        inner = get_args(kind)[1]
        return {key: _read(inner, each, f"{where}: {key}") for key, each in _expect(Mapping, content, where).items()}
    return _expect(kind, content, where)


def _read_fields(kind: Any, content: Mapping[str, object], where: str) -> Any:
    hints = _hints(kind)
    given = [field for field in fields(kind) if field.name in content]
    needed = (field for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING)
    missing = [field.name for field in needed if field not in given]
    if missing:
        raise UserError(f"{where}: field {missing[0]} is missing; was it written by another version?")
    values = {f.name: _read(hints[f.name], content[f.name], f"{where}: {f.name}") for f in given}
    try:
        return kind(**values)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error


_hints = lru_cache(get_type_hints)


def _expect(kind: Any, content: object, where: str) -> Any:
    names = {
        Mapping: "an object",
        list: "a list",
        str: "a text",
        int: "a whole number",
        float: "a number",
        bool: "true or false",
    }
    if kind is float and isinstance(content, int) and not isinstance(content, bool) and abs(content) < _LARGEST:
        content = float(content)
    if not isinstance(content, kind) or (kind is not bool and isinstance(content, bool)):
        raise UserError(f"{where}: expected {names[kind]}, not {content!r:.80}")
    if isinstance(content, float) and not math.isfinite(content):
        raise UserError(f"{where}: expected a finite number, not {content}")
    return content
