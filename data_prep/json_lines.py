"""Objects of a gzip-compressed JSON Lines file, each with its line number; what is wrong is told with the line."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from data_prep.archives import MAX_RATIO

_LONGEST_LINE: Final = 16 << 20  # bytes
_RATIO_FROM: Final = 64 << 20  # bytes; below, a bomb is none


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number, from 1, and object of each line.

    Raises:
        ValueError: the file is damaged or unpacks to far too much, or a line is no JSON object.
    """
    number = 0
    largest = max(_RATIO_FROM, MAX_RATIO * path.stat().st_size)
    try:
        with gzip.open(path) as lines:
            while line := lines.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE or lines.tell() > largest:
                    raise ValueError(f"{path}:{number} is refused: such a file does not unpack to that much")
                yield number, _object(line, f"{path}:{number}")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is damaged after line {number} ({error}): get it again") from error


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # no UTF-8, no JSON, or nested without end
        raise ValueError(f"{where} is no JSON: {error}") from error
    if not isinstance(row, dict):
        raise ValueError(f"{where} is no JSON object, but {line[:40]!r}")
    return row
