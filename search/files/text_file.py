"""A source file as a unit of its own, beside those of its functions and types."""

import re
from collections.abc import Sequence
from typing import Final

from data_prep.languages.fields import LONGEST
from data_prep.languages.identifiers import LONGEST_WORD, split_identifier
from data_prep.records import Method, Pair, SourceFile
from search.files.file_words import FileWords, file_words
from search.files.languages import WHOLE_ALONE, Unit, Units

_SHOWN: Final = 40
"""Lines of a file that its unit shows."""
_IN_COMMENT: Final = re.compile(r"\s*(?:#|//|/?\*|$)")
_STATES_LICENCE: Final = re.compile(r"copyright|licen[cs]e|spdx", re.IGNORECASE)


def whole_file(file: SourceFile, data: bytes, words: FileWords) -> list[Unit]:
    """A file as one unit with the words of its name and of the names that it defines; nothing if it is empty.

    Args:
        file: its origin and path.
        data: its content.
        words: those of its content.
    """
    text = data.decode("utf-8", "replace")
    lines = text.splitlines()
    if not text.strip():
        return []
    name = file.path.rpartition("/")[2].split(".")[0]
    defined = dict.fromkeys(word for each in words.defined for word in split_identifier(each))
    fields = {
        "name": split_identifier(name[:LONGEST_WORD])[:LONGEST],
        "tokens": tuple(word for word in defined if len(word) > 1)[:LONGEST],
        "api": (),
    }
    start = _after_licence(lines)
    source = "\n".join(lines[start : start + _SHOWN]).strip()
    method = Method(file.origin, file.path, 1, max(1, len(lines)), "", name, "file", source, "", fields)
    return [Unit(Pair(method, "", ()), asks=False)]


def unparsed(file: SourceFile, reason: str) -> Units:
    """A file that is found as a whole alone, for a ``reason``."""
    words = file_words(file.data)
    return Units(whole_file(file, file.data, words), f"{reason}: {WHOLE_ALONE}", words)


def _after_licence(lines: Sequence[str]) -> int:
    """Where the file begins behind the comment that states its licence, up to its blank line; 0 if it has none."""
    start = stated = 0
    for place, line in enumerate(lines):
        if not _IN_COMMENT.match(line):
            break
        stated |= bool(_STATES_LICENCE.search(line))
        if not line.strip():
            start, stated = (place + 1, 0) if stated else (start, 0)
    return place if stated else start
