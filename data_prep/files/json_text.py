"""JSON and JSON Lines of untrusted files, parsed and written, also as frozen dataclasses; all errors are UserErrors.

Lines may be gzip-compressed; their errors name the line.
"""

import gzip
import io
import json
import math
import os
import types
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

from data_prep.errors import UserError, shortened
from data_prep.files.access import MAX_RATIO, RATIO_FROM, open_regular, read_whole, reason
from data_prep.files.text_rows import BLANK, LeftOut, repeated, utf8_lines, without_broken

Record = TypeVar("Record")
_LARGEST: Final = 10**300
"""Integers up to this size are accepted as floats."""
_LONGEST_LINE: Final = 64 << 20  # bytes
_BUFFER: Final = 1 << 16
_GZIP: Final = b"\x1f\x8b"  # JSON never begins with it
_NOTHING: Final = b"\0\xef\xbb\xbf \t\r\n\v\f"


def parse_json(text: bytes | str, *, strict: bool = False) -> Any:
    """Parse a JSON text.

    Args:
        text: of one value.
        strict: whether an object with a key twice is refused; else the last one counts.

    Raises:
        UserError: it is not JSON, not UTF-8, or nested too deeply.
    """
    try:
        return json.loads(text, object_pairs_hook=_once if strict else None)
    except ValueError as error:
        raise UserError(str(error)) from error
    except RecursionError:
        raise UserError("its lists and objects stand in each other too deep") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"it has {repeated(key for key, _ in pairs)!r:.40} twice")
    return found


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


def numbered_lines(name: str, file: io.BufferedIOBase | IO[bytes], packed: int) -> Iterator[tuple[int, bytes]]:
    """Number, from 1, and UTF-8 of each line of a gzip stream of ``packed`` bytes; errors call it ``name``.

    Raises:
        UserError: the stream is damaged or its decompressed size is suspicious.
    """
    import zipfile  # which takes long, and nothing else here needs

    number, unpacked, most = 0, 0, max(RATIO_FROM, MAX_RATIO * packed)
    try:
        with io.BufferedReader(gzip.GzipFile(fileobj=file), _BUFFER) as lines:  # GzipFile's own readline is slow
            for number, line in enumerate(utf8_lines(lines, _LONGEST_LINE), start=1):  # type: ignore[arg-type]
                unpacked += len(line)
                if len(line) >= _LONGEST_LINE or unpacked > most:
                    raise UserError(f"{name}:{number} is refused: such a file does not unpack to that much")
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise UserError(f"{name} is damaged after line {number} ({error}): get it again") from error


def json_lines(path: Path, left_out: LeftOut | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number, from 1, and object of each line of a file, which may be gzip-compressed, by its name or first bytes.

    Args:
        path: of the file.
        left_out: as of :func:`json_objects`.

    Raises:
        UserError: the file is damaged or decompresses to far too much, a line is too long, or as :func:`json_objects`.
        OSError: it cannot be read, or is not a regular file.
    """
    with open_regular(path) as file:
        yield from json_objects(str(path), file_lines(path, file), left_out)


def file_lines(path: Path, file: io.BufferedReader) -> Iterator[tuple[int, bytes]]:
    """Number, from 1, and UTF-8 of each line of an open file, plain or gzip-compressed, by its name or first bytes.

    Raises:
        UserError: as :func:`json_lines`.
    """
    if path.suffix == ".gz" or file.peek(len(_GZIP)).startswith(_GZIP):
        return numbered_lines(str(path), file, os.fstat(file.fileno()).st_size)
    return _plain_lines(str(path), file)


def json_array(path: Path, left_out: LeftOut | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number, from 1, and object of each element of a JSON array.

    Raises:
        UserError: the file is none, or no element is an object.
        OSError: it cannot be read, or is not a regular file.
    """
    try:
        rows = parse_json(read_whole(path), strict=True)
    except UserError as error:
        raise UserError(f"{path} is no JSON: {error}") from error
    if not isinstance(rows, list):
        raise UserError(f"{path} is no JSON array, but {rows!r:.40}")
    numbered = enumerate((row if isinstance(row, dict) else f"no JSON object: {row!r:.40}" for row in rows), 1)
    yield from without_broken(str(path), numbered, left_out)


def json_objects(
    name: str, lines: Iterable[tuple[int, bytes]], left_out: LeftOut | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each line; blank lines are passed over, as are those of NULs that a crash leaves.

    Args:
        name: the file, for messages.
        lines: with their numbers.
        left_out: is told of blank lines and of those that are no object; None: the first of the latter is an error.

    Raises:
        UserError: no line is an object, though some are not blank.
    """
    return without_broken(name, ((number, _object(line)) for number, line in lines), left_out)


def _plain_lines(name: str, file: io.BufferedReader) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(utf8_lines(file, _LONGEST_LINE), start=1):
        if len(line) >= _LONGEST_LINE:
            raise UserError(f"{name}:{number} is refused: no line has {_LONGEST_LINE:,} bytes or more")
        yield number, line


def _object(line: bytes) -> dict[str, Any] | str:
    """The object, or why there is none."""
    if not line.strip(_NOTHING):
        return BLANK
    try:
        row = parse_json(line.decode("utf-8-sig"), strict=True)
    except UnicodeDecodeError as error:
        return f"no JSON: it is no UTF-8 at byte {error.start + 1}: save the file as UTF-8"
    except ValueError as error:
        return f"no JSON: {error}"
    return row if isinstance(row, dict) else f"no JSON object: {shortened(line.decode('utf-8-sig'), 40)}"


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
        raise UserError(f"expected {what} in {path}, but it cannot be read: {reason(error)}") from error


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
