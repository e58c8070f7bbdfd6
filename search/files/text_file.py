"""A source file of a language whose methods are not read: one unit, the file itself."""

import re
from collections.abc import Sequence
from typing import Final

from data_prep.languages.identifiers import split_identifier
from data_prep.languages.java.code_fields import LONGEST
from data_prep.records import JavaFile, Method, Pair
from search.files.file_words import LONGEST_WORD, file_words
from search.files.languages import Unit, Units

_SHOWN: Final = 40
"""Lines of a file that its unit shows."""
_IN_COMMENT: Final = re.compile(r"\s*(?:#|//|/?\*|$)")
_STATES_LICENCE: Final = re.compile(r"copyright|licen[cs]e|spdx", re.IGNORECASE)


def read_text(file: JavaFile) -> Units:
    """``file`` as one unit with the words of its name and of the names that it defines; nothing if it is empty."""
    text = file.data.decode("utf-8", "replace")
    lines = text.splitlines()
    if not text.strip():
        return Units([])
    name = file.path.rpartition("/")[2].split(".")[0]
    defined = dict.fromkeys(word for each in file_words(file.path, file.data).names for word in split_identifier(each))
    fields = {
        "name": split_identifier(name[:LONGEST_WORD])[:LONGEST],
        "tokens": tuple(word for word in defined if len(word) > 1)[:LONGEST],
        "api": (),
    }
    start = _after_licence(lines)
    source = "\n".join(lines[start : start + _SHOWN]).strip()
    method = Method(file.origin, file.path, 1, max(1, len(lines)), "", name, "file", source, "", fields)
    return Units([Unit(Pair(method, "", ()), asks=False)])


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
