"""Reading JSON Lines, gzip-compressed or plain, with line numbers; errors name the line."""

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

from data_prep.errors import UserError
from data_prep.files.json_text import parse_json
from data_prep.files.reading import open_regular
from data_prep.sources.archives import MAX_RATIO

_LONGEST_LINE: Final = 64 << 20  # bytes
_RATIO_FROM: Final = 64 << 20  # bytes; smaller outputs are never bombs
_BUFFER: Final = 1 << 16
_GZIP: Final = b"\x1f\x8b"  # JSON never begins with it


def numbered_lines(name: str, file: io.BufferedIOBase | IO[bytes], packed: int) -> Iterator[tuple[int, bytes]]:
    """Number, from 1, and bytes of each line of a gzip stream of ``packed`` bytes; errors call it ``name``.

    Raises:
        UserError: the stream is damaged or its decompressed size is suspicious.
    """
    number, unpacked, most = 0, 0, max(_RATIO_FROM, MAX_RATIO * packed)
    try:
        with io.BufferedReader(gzip.GzipFile(fileobj=file), _BUFFER) as lines:  # GzipFile's own readline is slow
            while line := lines.readline(_LONGEST_LINE):
                number += 1
                unpacked += len(line)
                if len(line) == _LONGEST_LINE or unpacked > most:
                    raise UserError(f"{name}:{number} is refused: such a file does not unpack to that much")
                yield number, line
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as error:
        raise UserError(f"{name} is damaged after line {number} ({error}): get it again") from error


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number, from 1, and object of each line of a file, which may be gzip-compressed, by its name or first bytes.

    Raises:
        UserError: the file is damaged or decompresses to far too much, or a line is too long or not a JSON object.
        OSError: it cannot be read, or is not a regular file.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        packed = path.suffix == ".gz" or file.peek(len(_GZIP)).startswith(_GZIP)
        lines = numbered_lines(str(path), file, size) if packed else _plain_lines(str(path), file)
        for number, line in lines:
            yield number, _object(line, f"{path}:{number}")


def _plain_lines(name: str, file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    number = 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if len(line) == _LONGEST_LINE:
            raise UserError(f"{name}:{number} is refused: no line has {_LONGEST_LINE:,} bytes or more")
        yield number, line


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        row = parse_json(line)
    except UserError as error:
        raise UserError(f"{where} is no JSON: {error}") from error
    if not isinstance(row, dict):
        raise UserError(f"{where} is no JSON object, but {line[:40]!r}")
    return row
