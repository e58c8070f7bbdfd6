"""The comment by which a programmer asks for code: ``# search: retry with backoff``. Light to import."""

import re
from collections.abc import Mapping
from typing import Final

from data_prep.errors import UserError

_MARKS: Final[Mapping[str, str]] = {"python": "#", "java": "//", "javascript": "//", "typescript": "//", "go": "//"}
"""Language -> what begins a line comment."""
_TRIGGERS: Final = {
    language: re.compile(rf"[ \t]*{mark}[ \t]*search[ \t]*:[ \t]*(\S.*)", re.IGNORECASE)
    for language, mark in _MARKS.items()
}


def query_of(line: str, language: str) -> str:
    """The query of a line that is a comment whose text begins with ``search:``; "" for any other line.

    Case and spaces do not matter. A comment after code is no such line, nor is one without a query.

    Args:
        line: as it is in the file, with or without its end.
        language: one of those that are indexed.

    Raises:
        UserError: there is no such language.
    """
    if language not in _TRIGGERS:
        raise UserError(f"expected a language among {', '.join(sorted(_TRIGGERS))}, got {language!r:.40}")
    match = _TRIGGERS[language].fullmatch(line.rstrip())
    return match[1] if match else ""


def example(language: str) -> str:
    """Such a comment."""
    return f"{_MARKS[language]} search: retry with backoff"
